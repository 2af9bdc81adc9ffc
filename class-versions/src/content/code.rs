//! The code of a method as text. Targets are instruction numbers, and constants appear by value.

use std::collections::HashMap;
use std::fmt::Write;

use crate::content::names::{Constants, Naming};
use jvms::opcode;
use rewriter::{Bci, Code, Instruction, Method};

/// Returns instructions and exception table, without debugging tables. Empty for a method without code.
///
/// Instructions that differ only in length, such as `ldc` and `ldc_w`, have the same text.
#[must_use]
pub fn code(method: &Method<'_, '_>, naming: Naming<'_>) -> String {
    let mut text = String::new();
    match method.code() {
        Ok(None) => {}
        Ok(Some(code)) => write(method, &code, naming, &mut text),
        Err(error) => text = format!("{error}: {:?}", method.bytes()),
    }
    text
}

fn write(method: &Method<'_, '_>, code: &Code<'_, '_>, naming: Naming<'_>, text: &mut String) {
    let places = Places::of(code);
    let constants = Constants {
        class: method.class(),
        naming,
    };
    for instruction in code.instructions() {
        // Writing to a string does not fail.
        let _ = match instruction {
            Ok(found) => writeln!(text, "{}", self::instruction(&found, &places, constants)),
            Err(error) => writeln!(text, "{error}: {:?}", code.bytes()),
        };
    }
    for row in code.exception_table() {
        let caught = match row.catch_type.0 {
            0 => "any".to_owned(),
            _ => constants.entry(row.catch_type),
        };
        let (start, end) = (places.of_bci(row.start), places.of_offset(row.end));
        let handler = places.of_bci(row.handler);
        let _ = writeln!(text, "try {start} {end} {handler} {caught}");
    }
}

fn instruction(found: &Instruction<'_>, places: &Places, constants: Constants<'_, '_>) -> String {
    let mut text = match found.opcode {
        opcode::LDC_W => "ldc",
        opcode::GOTO_W => "goto",
        _ => found.mnemonic(),
    }
    .to_owned();
    if let Some(switch) = found.switch() {
        for (key, target) in switch.cases() {
            let _ = write!(text, " {key}:{}", places.of_target(target));
        }
        let _ = write!(text, " {}", places.of_target(switch.default_target()));
        return text;
    }
    if let Some(index) = found.pool_index() {
        let _ = write!(text, " {}", constants.entry(index));
    }
    if found.branch_target().is_some() {
        let _ = write!(text, " {}", places.of_target(found.branch_target()));
    }
    if let Some(local) = found.local() {
        let _ = write!(text, " slot {local}");
    }
    if let Some(value) = found.immediate() {
        let _ = write!(text, " {value}");
    }
    text
}

/// Returns lines and variables; empty for a method without code.
pub(super) fn debug_tables(method: &Method<'_, '_>) -> String {
    let mut text = String::new();
    let Ok(Some(code)) = method.code() else {
        return text;
    };
    let places = Places::of(&code);
    for line in code.lines() {
        let _ = writeln!(text, "line {} {}", line.number, places.of_bci(line.bci));
    }
    let named = code.local_variables().map(|found| ("variable", found));
    let typed = code.local_variable_types().map(|found| ("type", found));
    let mut variables: Vec<String> = named
        .chain(typed)
        .map(|(kind, found)| {
            let end = found.start.0.saturating_add(found.length);
            let (start, end) = (places.of_bci(found.start), places.of_offset(end));
            let slot = found.index.0;
            let (name, descriptor) = (found.name, found.descriptor);
            format!("{kind} {start} {end} {slot} {name:?} {descriptor:?}\n")
        })
        .collect();
    variables.sort_unstable();
    text.extend(variables);
    text
}

/// Instruction numbers by bci.
struct Places(HashMap<u16, usize>);

impl Places {
    fn of(code: &Code<'_, '_>) -> Self {
        let instructions = code.instructions().map_while(Result::ok);
        let numbered = (0..).zip(instructions);
        Self(
            numbered
                .map(|(number, found)| (found.bci.0, number))
                .collect(),
        )
    }

    fn of_bci(&self, bci: Bci) -> String {
        self.of_offset(bci.0)
    }

    fn of_target(&self, bci: Option<Bci>) -> String {
        bci.map_or_else(|| "nowhere".to_owned(), |bci| self.of_bci(bci))
    }

    /// Returns the number at an offset; the end of the code follows the last instruction.
    fn of_offset(&self, offset: u16) -> String {
        let number = self.0.get(&offset).copied();
        number.unwrap_or(self.0.len()).to_string()
    }
}
