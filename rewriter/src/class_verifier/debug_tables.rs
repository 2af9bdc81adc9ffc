//! Checks the tables of lines and local variables of a method's code (JVMS 4.7.12 to 4.7.14).

use std::collections::HashSet;

use crate::class::{Attribute, Code};
use crate::cursor::{has_rows, u16_at};
use crate::index::PoolIndex;
use crate::pool::ConstantPool;
use jvms::descriptor::{BaseType, FieldType};
use jvms::names::is_unqualified;

/// The names of both tables of local variables: the one with descriptors, and the one with generic types.
pub(super) const DEBUG_TABLES: [&str; 2] = ["LocalVariableTable", "LocalVariableTypeTable"];

/// A row of a table of local variables.
struct Variable<'p> {
    /// Start, length, name and slot, which identify a variable.
    key: [u16; 4],
    name: Option<&'p [u8]>,
    /// Its descriptor, or its generic type.
    typed: Option<&'p [u8]>,
}

/// Checks lines and local variables: within the code, no variable twice, and generic types only of existing variables;
/// `starts` marks instruction starts.
pub(super) fn check_debug_tables(
    pool: &ConstantPool<'_>,
    code: &Code<'_, '_>,
    starts: &[bool],
) -> Result<(), &'static str> {
    for found in code.attributes() {
        if found.name == "LineNumberTable" && !has_lines(&found, code.bytes().len()) {
            return Err("lines of its instructions");
        }
        let of_variables = DEBUG_TABLES.iter().any(|name| found.name == *name);
        if of_variables && !has_rows(found.bytes, 10) {
            return Err("a table of its local variables");
        }
    }
    let [own, generic] = DEBUG_TABLES.map(|name| {
        let tables = code.attributes().filter(move |found| found.name == name);
        tables.flat_map(|found| rows(&found, 10).filter_map(|row| variable(pool, row)))
    });
    let mut variables = HashSet::new();
    for found in own {
        let typed = found.typed.and_then(|it| FieldType::checked(it).ok());
        let wide = matches!(
            typed,
            Some(FieldType::Base(BaseType::Long | BaseType::Double))
        );
        if typed.is_none() || !found.is_named() {
            return Err("names and descriptors of its local variables");
        }
        let ranges = found.is_range_of(starts);
        if !ranges || !found.has_slots(code, wide) || !variables.insert(found.key) {
            return Err("local variables within its code, each once");
        }
    }
    let mut generics = HashSet::new();
    for found in generic {
        let known = found.is_named() && found.typed.is_some() && variables.contains(&found.key);
        if !known || !found.has_slots(code, false) || !generics.insert(found.key) {
            return Err("types of its local variables, each once");
        }
    }
    Ok(())
}

impl Variable<'_> {
    fn is_named(&self) -> bool {
        self.name.is_some_and(is_unqualified)
    }

    /// Checks that the variable begins and ends at instructions, or at the end of the code.
    fn is_range_of(&self, starts: &[bool]) -> bool {
        let [start, length, ..] = self.key.map(usize::from);
        let begins = |at: usize| starts.get(at).copied().unwrap_or(false);
        let end = start + length;
        begins(start) && (end == starts.len() || begins(end))
    }

    /// Checks that the variable is within the local variables; a long or double takes two.
    fn has_slots(&self, code: &Code<'_, '_>, wide: bool) -> bool {
        let [.., slot] = self.key.map(usize::from);
        slot + usize::from(wide) < usize::from(code.max_locals())
    }
}

fn variable<'p>(pool: &ConstantPool<'p>, row: &[u8]) -> Option<Variable<'p>> {
    let item = |at| u16_at(row, at);
    let text = |at| pool.utf8(PoolIndex(item(at)?)).map(|text| text.as_bytes());
    Some(Variable {
        key: [item(0)?, item(2)?, item(4)?, item(8)?],
        name: text(4),
        typed: text(6),
    })
}

fn has_lines(found: &Attribute<'_>, length: usize) -> bool {
    let mut starts = rows(found, 4).map(|row| u16_at(row, 0));
    has_rows(found.bytes, 4)
        && starts.all(|start| start.is_some_and(|start| usize::from(start) < length))
}

fn rows<'a>(found: &Attribute<'a>, size: usize) -> impl Iterator<Item = &'a [u8]> + use<'a> {
    found.bytes.get(2..).unwrap_or_default().chunks_exact(size)
}
