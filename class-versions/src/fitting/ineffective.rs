//! Changes of a class file without effect in a loaded class.

use std::collections::HashMap;

use crate::content::constant_value;
use crate::fitting::numbered::Contents;
use crate::fitting::switch_maps;
use jvms::access_flags::ACC_STATIC;
use rewriter::{ClassFile, Method};

/// Returns messages about the parts of a new class file that have no effect in the loaded class, or a different one
/// than in the source. `is_confused` is true if [`Fitted::confused`](super::Fitted::confused) names the class that has
/// the number of this one.
#[must_use]
pub fn ineffective(
    old: &ClassFile<'_>,
    new: &ClassFile<'_>,
    initialized: bool,
    is_confused: bool,
) -> Vec<String> {
    let mut found = constants(old, new);
    if initialized {
        found.extend(initializer(old, new));
    }
    if let (Some(was), Some(is)) = (old.enclosing(), new.enclosing())
        && was != is
        && !is_confused
    {
        found.push("another class has this number now: local and anonymous classes were renumbered, and objects of this one would become the other".to_owned());
    }
    found
}

/// Reports a changed initializer, because the initializer of a class runs once.
fn initializer(old: &ClassFile<'_>, new: &ClassFile<'_>) -> Option<String> {
    let code = |class: &ClassFile<'_>| {
        let mut methods = class.methods();
        let found = methods.find(is_initializer)?;
        Some(Contents::of(class).content(&found))
    };
    let (was, is) = (code(old)?, code(new)?);
    if was == is {
        return None;
    }
    let maps = switch_maps::changed_fields(old, new);
    Some(match maps.is_empty() {
        true => {
            "the static initialiser differs and does not run again: static fields keep their values"
                .to_owned()
        }
        false => format!(
            "the numbers in {} differ and stay as they are: switches would take wrong branches",
            maps.join(", ")
        ),
    })
}

fn is_initializer(method: &Method<'_, '_>) -> bool {
    method.name() == "<clinit>"
}

/// Reports changed constants. Each class that uses a constant has a copy in its code, and the field is set at class
/// loading.
fn constants(old: &ClassFile<'_>, new: &ClassFile<'_>) -> Vec<String> {
    let now: HashMap<_, _> = new
        .fields()
        .map(|field| {
            (
                (field.name(), field.descriptor()),
                constant_value(new, &field),
            )
        })
        .collect();
    let changed = |field: rewriter::Field<'_, '_>| {
        let is = now.get(&(field.name(), field.descriptor()))?;
        let was = constant_value(old, &field);
        // HotSpot drops the value of an instance field.
        let is_unknown = was.is_none() && field.access_flags() & ACC_STATIC == 0;
        let name = field.name();
        let shown =
            |value: &Option<String>| value.clone().unwrap_or_else(|| "no constant".to_owned());
        (was != *is && !is_unknown).then(|| {
            format!(
                "the constant {name} changed from {} to {}: the field keeps its value, and other classes have the former one in their code",
                shown(&was),
                shown(is)
            )
        })
    };
    old.fields().filter_map(changed).collect()
}
