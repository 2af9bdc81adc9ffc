//! Local and anonymous classes that a compiler has numbered anew.

use crate::class::ClassFile;
use crate::content::{code, own_names};
use crate::fitting::fitted::{Fitted, Pair};

/// A class as far as it shows that it is the same under another number.
struct Shape {
    name: String,
    old: String,
    new: String,
}

/// Finds classes of a patch that are what another class of the patch is in the program: their objects would become
/// those of the other.
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
                "it is what {name} is in the program: local and anonymous classes were numbered anew"
            ));
        }
    }
}

/// The shape of a local or anonymous class that is loaded.
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

/// The code of all methods, without the name of the class.
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
