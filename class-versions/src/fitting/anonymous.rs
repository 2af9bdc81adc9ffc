//! Local and anonymous classes that a compiler has renumbered.

use crate::content::{code, own_names};
use crate::fitting::fitted::{Fitted, Pair};
use rewriter::ClassFile;

/// The properties that identify a class under another number.
struct Shape {
    name: String,
    old: String,
    new: String,
}

/// Finds classes of a patch whose number belongs to another class of the patch in the program. Existing objects would
/// change their class.
pub(super) fn find(pairs: &[Pair<'_>], fitted: &mut [Fitted]) {
    let shapes: Vec<Option<Shape>> = pairs
        .iter()
        .zip(fitted.iter())
        .map(|(pair, fitted)| shape(pair, &fitted.bytes))
        .collect();
    for (shape, fitted) in shapes.iter().zip(fitted) {
        let Some(shape) = shape.as_ref().filter(|shape| shape.old != shape.new) else {
            continue;
        };
        let mut others = shapes.iter().flatten();
        let other = others.find(|other| other.name != shape.name && other.old == shape.new);
        if let Some(other) = other {
            let name = jvms::names::binary(&other.name);
            fitted.confused.push(format!(
                "it is the {name} of the program: local and anonymous classes were renumbered, and objects of this one would become the other"
            ));
        }
    }
}

/// Returns the shape of a loaded local or anonymous class.
fn shape(pair: &Pair<'_>, bytes: &[u8]) -> Option<Shape> {
    let old = ClassFile::read(pair.old?).ok()?;
    let new = ClassFile::read(bytes).ok()?;
    new.enclosing()?;
    Some(Shape {
        name: new.this_class().to_str_lossless().into_owned(),
        old: text(&old),
        new: text(&new),
    })
}

/// Returns the code of all methods, without the name of the class.
fn text(class: &ClassFile<'_>) -> String {
    let own = class.this_class().to_str_lossless();
    let mut methods: Vec<String> = class
        .methods()
        .map(|method| {
            let (name, descriptor) = (method.name(), method.descriptor());
            let text = format!("{name:?}{descriptor:?}\n{}", code(&method, &own_names));
            text.replace(&*own, "this class")
        })
        .collect();
    methods.sort_unstable();
    methods.concat()
}
