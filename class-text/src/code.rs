//! Prints a method: heading, instructions with their operands, and tables.

use std::fmt::{self, Write};

use jvms::access_flags::Declaration;
use jvms::descriptor::BaseType;
use rewriter::{Attribute, ClassFile, Code, Instruction, Method, PoolIndex, Switch, Text};

use crate::constant::Entry;
use crate::flags::Flags;
use crate::frames;
use crate::name::Name;
use crate::row::{Row, Rows, row};
use jvms::opcode;
use jvms::opcode::Form;

/// Writes a method with all its parts.
pub(super) fn method(method: &Method<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    rows(heading(method))?;
    rows(row!(
        "    flags: {}",
        Flags(Declaration::Method, method.access_flags())
    ))?;
    match method.code() {
        Ok(Some(code)) => self::code(method.class(), &code, rows)?,
        Ok(None) => {}
        Err(error) => rows(row!("    code: ({error})"))?,
    }
    let rest = method.attributes().filter(|found| found.name != "Code");
    attributes("    ", method.class(), rest, rows)
}

/// Returns name and descriptor.
pub(super) fn heading(method: &Method<'_, '_>) -> Row {
    let (name, descriptor) = (method.name(), method.descriptor());
    row!("  method {}{}", Name(name), Text(descriptor))
}

/// Writes attributes by name and length, and the text or class of those with only one.
pub(super) fn attributes<'a>(
    indent: &str,
    class: &ClassFile<'a>,
    attributes: impl Iterator<Item = Attribute<'a>>,
    rows: Rows<'_>,
) -> fmt::Result {
    for found in attributes {
        let mut row = row!("{indent}{}: ", Text(found.name));
        match found.utf8(class.pool()) {
            Some(text) if found.name == "SourceFile" || found.name == "Signature" => {
                write!(row, "{}", Text(text))?;
            }
            _ => write!(row, "{} bytes", found.bytes.len())?,
        }
        rows(row)?;
    }
    Ok(())
}

fn code(class: &ClassFile<'_>, code: &Code<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    let length = code.bytes().len();
    let (stack, locals) = (code.max_stack(), code.max_locals());
    let mut head = row!("    code: stack={stack}, locals={locals}, length=");
    head.quiet(&length.to_string());
    rows(head)?;
    for instruction in code.instructions() {
        match instruction {
            Ok(found) => self::instruction(class, &found, rows)?,
            Err(error) => {
                rows(row!("      ({error})"))?;
                break;
            }
        }
    }
    exceptions(class, code, rows)?;
    tables(class, code, rows)
}

fn instruction(class: &ClassFile<'_>, found: &Instruction<'_>, rows: Rows<'_>) -> fmt::Result {
    let mut row = Row::instruction(found.bci);
    row.write(found.mnemonic());
    if found.wide {
        row.write("_w");
    }
    if let Some(switch) = found.switch() {
        return self::switch(row, &switch, rows);
    }
    let comment = operands(found, &mut row);
    if let Some(index) = comment {
        row.column(46);
        write!(row, "// {}", Entry(class, index))?;
    }
    rows(row)
}

/// Writes the operands; returns the pool entry to explain.
fn operands(found: &Instruction<'_>, row: &mut Row) -> Option<PoolIndex> {
    let form = opcode::form(found.opcode);
    if !matches!(form, Form::None | Form::Const(_) | Form::Slot(_)) {
        row.column(26);
    }
    match form {
        Form::Branch | Form::BranchWide => row.target(found.branch_target()),
        Form::Local => row.write(&found.local().unwrap_or(0).to_string()),
        Form::Byte | Form::Short => row.write(&found.immediate().unwrap_or(0).to_string()),
        Form::Iinc => {
            let (local, delta) = (found.local(), found.immediate());
            row.write(&format!("{}, {}", local.unwrap_or(0), delta.unwrap_or(0)));
        }
        Form::NewArray => row.write(element_type(found.immediate().unwrap_or(0))),
        Form::Interface | Form::Dynamic | Form::MultiNewArray => {
            let count = found.bytes().get(3).copied().unwrap_or(0);
            row.write(&format!("#{}, {count}", found.pool_index()?));
        }
        _ => row.write(&format!("#{}", found.pool_index()?)),
    }
    found.pool_index()
}

/// Returns the operand of `newarray` as text.
fn element_type(operand: i32) -> &'static str {
    let base = u8::try_from(operand).ok().and_then(BaseType::of_array);
    base.map_or("(unknown type)", BaseType::keyword)
}

fn switch(mut head: Row, switch: &Switch<'_>, rows: Rows<'_>) -> fmt::Result {
    head.column(26);
    write!(head, "{{ // {} cases", switch.len())?;
    rows(head)?;
    for (key, target) in switch.cases() {
        let mut row = row!("{key:>24}: ");
        row.target(target);
        rows(row)?;
    }
    let mut row = row!("{:>24}: ", "default");
    row.target(switch.default_target());
    rows(row)?;
    rows(row!("            }}"))
}

fn exceptions(class: &ClassFile<'_>, code: &Code<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    let table = code.exception_table();
    if table.len() > 0 {
        rows(row!("      Exception table: {} entries", table.len()))?;
    }
    for entry in table {
        let mut row = row!("        from ");
        row.place(u32::from(entry.start.0));
        row.write(" to ");
        row.place(u32::from(entry.end));
        row.write(" goto ");
        row.place(u32::from(entry.handler.0));
        row.write(" on ");
        if entry.catch_type.0 == 0 {
            row.write("any");
        } else {
            write!(row, "{}", Entry(class, entry.catch_type))?;
        }
        rows(row)?;
    }
    Ok(())
}

/// Writes the attributes of the code, the usual ones row by row.
fn tables(class: &ClassFile<'_>, code: &Code<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    lines(code, rows)?;
    variables(code, rows)?;
    for found in code.attributes() {
        match found.name.to_str() {
            Some("LineNumberTable" | "LocalVariableTable" | "LocalVariableTypeTable") => {}
            Some("StackMapTable") => frames::write(class, &found, rows)?,
            _ => rows(row!(
                "      {}: {} bytes",
                Text(found.name),
                found.bytes.len()
            ))?,
        }
    }
    Ok(())
}

fn lines(code: &Code<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    let mut head = Some(row!("      LineNumberTable:"));
    for line in code.lines() {
        if let Some(head) = head.take() {
            rows(head)?;
        }
        let mut row = row!("        line {}: ", line.number);
        row.place(u32::from(line.bci.0));
        rows(row)?;
    }
    Ok(())
}

fn variables(code: &Code<'_, '_>, rows: Rows<'_>) -> fmt::Result {
    let named = code
        .local_variables()
        .map(|found| ("LocalVariableTable", found));
    let typed = code
        .local_variable_types()
        .map(|found| ("LocalVariableTypeTable", found));
    let mut before = "";
    for (table, found) in named.chain(typed) {
        if table != before {
            rows(row!("      {table}:"))?;
            before = table;
        }
        let mut row = row!("        from ");
        row.place(u32::from(found.start.0));
        row.write(" to ");
        row.place(u32::from(found.start.0) + u32::from(found.length));
        let (name, descriptor) = (Name(found.name), Text(found.descriptor));
        write!(row, " slot {}: {name} {descriptor}", found.index.0)?;
        rows(row)?;
    }
    Ok(())
}
