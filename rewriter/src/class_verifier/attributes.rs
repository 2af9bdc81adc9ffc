//! Checks the attributes that a JVM reads (JVMS 4.7).

use std::collections::HashSet;

use crate::class::{Attribute, Attributes, ClassFile};
use crate::class_verifier::debug_tables::DEBUG_TABLES;
use crate::class_verifier::error::{Checked, expect};
use crate::cursor::{has_rows, u16_at, u16s};
use crate::index::PoolIndex;
use crate::pool::ConstantPool;
use jvms::access_flags::{ACC_FINAL, Declaration};
use jvms::constant_tag::{DOUBLE, FLOAT, INTEGER, LONG, STRING};
use jvms::descriptor::FieldType;
use jvms::flag_rules::Flags;
use jvms::names::is_unqualified;

/// First version of class files with sealed classes (JVMS 4.7.31).
const SEALED_SINCE: u16 = 61;
/// Bytes of an attribute before its contents.
const ATTRIBUTE_HEADER: usize = 6;
/// Bytes of a record's component before its attributes.
const COMPONENT_HEADER: usize = 6;

/// Checks length and references of attributes; `of` names their owner.
pub(super) fn check_attributes(
    class: &ClassFile<'_>,
    all: Attributes<'_, '_>,
    of: &dyn Fn() -> String,
) -> Checked {
    let mut seen = HashSet::new();
    for found in all {
        let part = || format!("{} of {}", found.name, of());
        let name = found.name.as_bytes();
        expect(!name.is_empty(), part, "an attribute's name")?;
        let repeated =
            found.name == "LineNumberTable" || DEBUG_TABLES.iter().any(|it| found.name == *it);
        expect(
            repeated || seen.insert(name),
            part,
            "one attribute of its name",
        )?;
        let fits = has_contents(class, &found);
        expect(fits, part, "contents that follow JVMS 4.7")?;
    }
    Ok(())
}

/// Checks the contents of one attribute by its name.
fn has_contents(class: &ClassFile<'_>, found: &Attribute<'_>) -> bool {
    let (pool, bytes) = (class.pool(), found.bytes);
    let is_class = |index| pool.class_name(PoolIndex(index)).is_some();
    let is_text = |index| pool.utf8(PoolIndex(index)).is_some();
    let only =
        |holds: &dyn Fn(u16) -> bool| bytes.len() == 2 && u16_at(bytes, 0).is_some_and(holds);
    match found.name.as_bytes() {
        b"SourceFile" | b"Signature" => only(&is_text),
        b"NestHost" => only(&is_class) && class.attribute("NestMembers").is_none(),
        b"PermittedSubclasses" => {
            let sealed = class.major_version() >= SEALED_SINCE;
            has_rows(bytes, 2)
                && u16s(rows(bytes)).all(is_class)
                && !(sealed && class.access_flags() & ACC_FINAL != 0)
        }
        b"NestMembers" | b"Exceptions" => has_rows(bytes, 2) && u16s(rows(bytes)).all(is_class),
        b"InnerClasses" => has_rows(bytes, 8) && are_inner_classes(class, rows(bytes)),
        b"EnclosingMethod" => {
            let method = u16_at(bytes, 2);
            let is_method = |it| it == 0 || pool.name_and_type(PoolIndex(it)).is_some();
            bytes.len() == 4
                && u16_at(bytes, 0).is_some_and(is_class)
                && method.is_some_and(is_method)
        }
        b"MethodParameters" => are_parameters(pool, bytes),
        b"Synthetic" | b"Deprecated" => bytes.is_empty(),
        b"Record" => is_record(class, found.bytes.len()),
        _ => true,
    }
}

/// Returns the contents after the number of rows.
fn rows(bytes: &[u8]) -> &[u8] {
    bytes.get(2..).unwrap_or_default()
}

/// Checks the components of a record, whose attribute has `length` bytes (JVMS 4.7.30).
fn is_record(class: &ClassFile<'_>, length: usize) -> bool {
    let Some(components) = class.record_components() else {
        return false;
    };
    let bytes = components.iter().flat_map(|component| {
        let attributes = component.attributes.clone();
        attributes.map(|it| it.bytes.len() + ATTRIBUTE_HEADER)
    });
    let bytes: usize = bytes.sum();
    let part = || "a component of the record".to_owned();
    bytes + components.len() * COMPONENT_HEADER + 2 == length
        && components.iter().all(|component| {
            is_unqualified(component.name.as_bytes())
                && FieldType::checked(component.descriptor.as_bytes()).is_ok()
                && check_attributes(class, component.attributes.clone(), &part).is_ok()
        })
}

/// Checks the rows of `InnerClasses` (JVMS 4.7.6): no class twice or within itself, and flags that go together.
fn are_inner_classes(class: &ClassFile<'_>, rows: &[u8]) -> bool {
    let pool = class.pool();
    let is_class = |index| pool.class_name(PoolIndex(index)).is_some();
    let mut seen = HashSet::new();
    rows.chunks_exact(8).all(|row| {
        let [Some(inner), Some(outer), Some(name), Some(bits)] =
            [0, 2, 4, 6].map(|at| u16_at(row, at))
        else {
            return false;
        };
        let flags = Flags {
            declaration: Declaration::InnerClass,
            bits,
            major: class.major_version(),
            in_interface: false,
            name: b"",
        };
        is_class(inner)
            && (outer == 0 || is_class(outer))
            && (name == 0 || pool.utf8(PoolIndex(name)).is_some())
            && inner != outer
            && seen.insert(row)
            && flags.check().is_ok()
    })
}

/// Checks the rows of `MethodParameters` (JVMS 4.7.24): each has a name, or none.
fn are_parameters(pool: &ConstantPool<'_>, bytes: &[u8]) -> bool {
    let Some((count, rows)) = bytes.split_first() else {
        return false;
    };
    let is_name = |index| {
        let name = pool.utf8(PoolIndex(index));
        index == 0 || name.is_some_and(|name| is_unqualified(name.as_bytes()))
    };
    rows.len() == usize::from(*count) * 4
        && rows
            .chunks_exact(4)
            .all(|row| u16_at(row, 0).is_some_and(is_name))
}

/// Checks a `ConstantValue` (JVMS 4.7.2).
pub(super) fn is_constant_of(
    pool: &ConstantPool<'_>,
    value: &Attribute<'_>,
    descriptor: &[u8],
) -> bool {
    let tag = u16_at(value.bytes, 0).and_then(|index| pool.tag(PoolIndex(index)));
    let wanted = match descriptor {
        b"I" | b"S" | b"C" | b"B" | b"Z" => INTEGER,
        b"J" => LONG,
        b"F" => FLOAT,
        b"D" => DOUBLE,
        b"Ljava/lang/String;" => STRING,
        _ => return false,
    };
    value.bytes.len() == 2 && tag == Some(wanted)
}
