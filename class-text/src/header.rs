//! Prints the parts of a class before and after its methods.

use std::fmt::{self, Write};

use jvms::access_flags::Declaration;
use rewriter::{Attribute, ClassFile, Text};

use crate::code::attributes;
use crate::constant::Entry;
use crate::flags::Flags;
use crate::name::Name;
use crate::row::{Rows, row};

/// Writes name, version, flags, and the attributes of the class.
pub(super) fn head(class: &ClassFile<'_>, rows: Rows<'_>) -> fmt::Result {
    let mut name = row!("class {}", Name(class.this_class()));
    if let Some(parent) = class.super_class() {
        write!(name, " extends {}", Name(parent))?;
    }
    for (index, interface) in class.interfaces().enumerate() {
        let word = if index == 0 { " implements " } else { ", " };
        write!(name, "{word}{}", Name(interface))?;
    }
    rows(name)?;
    rows(row!("  version: {}", Version(class)))?;
    rows(row!(
        "  flags: {}",
        Flags(Declaration::Class, class.access_flags())
    ))?;
    rows(row!("  constant pool: {} entries", class.pool().count()))?;
    let rest = class
        .attributes()
        .filter(|found| found.name != "BootstrapMethods");
    attributes("  ", class, rest, rows)
}

struct Version<'c, 'a>(&'c ClassFile<'a>);

impl fmt::Display for Version<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = (self.0.major_version(), self.0.minor_version());
        write!(f, "{major}.{minor}")?;
        match major.checked_sub(44) {
            Some(release @ 5..) => write!(f, " (Java {release})"),
            Some(release @ 1..) => write!(f, " (Java 1.{release})"),
            _ => Ok(()),
        }
    }
}

/// Writes the fields, each with its attributes.
pub(super) fn fields(class: &ClassFile<'_>, rows: Rows<'_>) -> fmt::Result {
    for field in class.fields() {
        let (name, descriptor) = (Name(field.name()), Text(field.descriptor()));
        rows(row!("  field {name}: {descriptor}"))?;
        rows(row!(
            "    flags: {}",
            Flags(Declaration::Field, field.access_flags())
        ))?;
        for found in field.attributes() {
            field_attribute(class, found, rows)?;
        }
    }
    Ok(())
}

fn field_attribute<'a>(class: &ClassFile<'a>, found: Attribute<'a>, rows: Rows<'_>) -> fmt::Result {
    match found.index() {
        Some(index) if found.name == "ConstantValue" => {
            rows(row!("    ConstantValue: {}", Entry(class, index)))
        }
        _ => attributes("    ", class, std::iter::once(found), rows),
    }
}

/// Writes the table of bootstrap methods with their arguments.
pub(super) fn bootstrap_methods(class: &ClassFile<'_>, rows: Rows<'_>) -> fmt::Result {
    for (index, found) in class.bootstrap_methods().enumerate() {
        if index == 0 {
            rows(row!("  BootstrapMethods:"))?;
        }
        rows(row!("    {index}: {}", Entry(class, found.method_handle)))?;
        for argument in found.arguments() {
            rows(row!("      {}", Entry(class, argument)))?;
        }
    }
    Ok(())
}
