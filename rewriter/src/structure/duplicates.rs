//! Detects duplicates in a class.

use std::collections::HashSet;

use crate::class::ClassFile;
use crate::edits::StructureError;

/// Checks that fields, methods and interfaces are distinct (JVMS 4.1, 4.5, 4.6): new names can make two of them equal.
pub(crate) fn check_duplicates(class: &ClassFile<'_>) -> Result<(), StructureError> {
    let twice = |what: String| StructureError::Twice { what };
    let mut seen = HashSet::new();
    for field in class.fields() {
        let (name, descriptor) = (field.name(), field.descriptor());
        if !seen.insert((name.as_bytes(), descriptor.as_bytes())) {
            return Err(twice(format!("field {name}:{descriptor}")));
        }
    }
    seen.clear();
    for method in class.methods() {
        let (name, descriptor) = (method.name(), method.descriptor());
        if !seen.insert((name.as_bytes(), descriptor.as_bytes())) {
            return Err(twice(format!("method {name}{descriptor}")));
        }
    }
    seen.clear();
    let mut interfaces = class.interfaces();
    let again = interfaces.find(|name| !seen.insert((name.as_bytes(), b"")));
    again.map_or(Ok(()), |name| Err(twice(format!("interface {name}"))))
}
