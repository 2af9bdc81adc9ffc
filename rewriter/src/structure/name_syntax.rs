//! Checks names in class edits (JVMS 4.2, 4.3).

use crate::edits::{Annotation, ElementValue, StructureError};
use crate::limits::MAX_ELEMENT_DEPTH;
use jvms::descriptor::FieldType;
use jvms::modified_utf8;
use jvms::names::{CLINIT, INIT, is_called_by_name, is_unqualified};

/// Maximum bytes of a name shown in an error.
const SHOWN: usize = 80;

pub(super) fn bad(expected: &'static str, found: &str) -> StructureError {
    let found = found.chars().take(SHOWN).collect();
    StructureError::BadName { expected, found }
}

/// Checks the names in an annotation, as reflection reads them (JVMS 4.7.16).
pub(super) fn annotation_names(found: &Annotation, depth: u32) -> Result<(), StructureError> {
    class_descriptor(&found.descriptor)?;
    found.elements.iter().try_for_each(|(name, value)| {
        if !is_called_by_name(&modified_utf8::encode(name)) {
            return Err(bad("name of an annotation's element", name));
        }
        element_names(value, depth)
    })
}

fn element_names(value: &ElementValue, depth: u32) -> Result<(), StructureError> {
    if depth >= MAX_ELEMENT_DEPTH {
        return Err(StructureError::TooDeep);
    }
    let deeper = depth.saturating_add(1);
    match value {
        ElementValue::Enum {
            descriptor,
            constant,
        } => {
            class_descriptor(descriptor)?;
            if !is_unqualified(&modified_utf8::encode(constant)) {
                return Err(bad("name of an enum's constant", constant));
            }
            Ok(())
        }
        ElementValue::Class(descriptor) => {
            let fits =
                descriptor == "V" || FieldType::checked(&modified_utf8::encode(descriptor)).is_ok();
            let expected = "return descriptor, La/B; or V";
            fits.then_some(()).ok_or_else(|| bad(expected, descriptor))
        }
        ElementValue::Annotation(found) => annotation_names(found, deeper),
        ElementValue::Array(values) => values
            .iter()
            .try_for_each(|value| element_names(value, deeper)),
        _ => Ok(()),
    }
}

fn class_descriptor(text: &str) -> Result<(), StructureError> {
    match FieldType::checked(&modified_utf8::encode(text)) {
        Ok(FieldType::Class(_)) => Ok(()),
        _ => Err(bad("class descriptor, La/B;", text)),
    }
}

/// Checks the name of a method; one with a special meaning needs the matching flags and descriptor.
pub(super) fn method_name(
    bytes: &[u8],
    name: &str,
    descriptor: &str,
) -> Result<(), StructureError> {
    match name {
        INIT => void(name, descriptor),
        CLINIT if descriptor == "()V" => Ok(()),
        _ if is_called_by_name(bytes) => Ok(()),
        _ => Err(bad("method name", name)),
    }
}

fn void(name: &str, descriptor: &str) -> Result<(), StructureError> {
    if descriptor.ends_with(")V") {
        return Ok(());
    }
    Err(bad(
        "descriptor of a constructor, (…)V",
        &format!("{name}{descriptor}"),
    ))
}
