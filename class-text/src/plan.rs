//! Prints a class with remarks at their locations.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::bounded::Bounded;
use crate::row::Row;
use crate::{code, header};
use rewriter::{
    Action, ClassEdit, ClassFile, EditPlan, InsertionPoint, Location, Method, MethodIndex,
};

/// The content of a remark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RemarkContent<'t> {
    /// An inserted action.
    Edit(Action),
    /// Inserted or changed code as text; further lines follow below.
    Insert(&'t str),
    /// A line to be displayed.
    Note(&'t str),
}

/// A remark at a location of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remark<'t> {
    /// The location.
    pub point: InsertionPoint,
    /// The name of the plugin.
    pub by: &'t str,
    /// The content.
    pub content: RemarkContent<'t>,
}

/// The position of a remark: before or after the instruction at a bci.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Position {
    Before(u16),
    Behind(u16),
}

type Positions<'r> = BTreeMap<(MethodIndex, Position), Vec<&'r Remark<'r>>>;

fn position(location: Location) -> Position {
    match location {
        Location::Entry => Position::Before(0),
        Location::Before(bci) | Location::At(bci) => Position::Before(bci.0),
        Location::FallThrough(bci) | Location::Jump { source: bci, .. } => Position::Behind(bci.0),
        // `Unwind`, and others at no instruction.
        _ => Position::Behind(u16::MAX),
    }
}

/// Writes an edit of the class; the lines of a body follow below.
fn class_edit(by: &str, edit: &ClassEdit, out: &mut dyn Write) -> fmt::Result {
    for (index, line) in edit.to_string().lines().enumerate() {
        out.write_str("  + ")?;
        if index == 0 {
            escaped(by, out)?;
            out.write_str(": ")?;
        }
        escaped(line, out)?;
        out.write_str("\n")?;
    }
    Ok(())
}

/// Writes the class with remarks.
pub(super) fn annotated(
    class: &ClassFile<'_>,
    class_edits: &[(&str, &ClassEdit)],
    remarks: &[Remark<'_>],
    left_out: &[(MethodIndex, String)],
    out: &mut dyn Write,
) -> fmt::Result {
    for (by, edit) in class_edits {
        class_edit(by, edit, out)?;
    }
    let mut positions = Positions::new();
    for remark in remarks {
        let location = (remark.point.method, position(remark.point.location));
        positions.entry(location).or_default().push(remark);
    }
    let mut line = |row: Row| writeln!(out, "{}", row.text);
    header::head(class, &mut line)?;
    header::fields(class, &mut line)?;
    for method in class.methods() {
        annotated_method(&method, &mut positions, left_out, out)?;
    }
    header::bootstrap_methods(class, &mut |row| writeln!(out, "{}", row.text))?;
    positions
        .values()
        .try_for_each(|stray| write_remarks(stray, out))
}

fn annotated_method(
    method: &Method<'_, '_>,
    positions: &mut Positions<'_>,
    left_out: &[(MethodIndex, String)],
    out: &mut dyn Write,
) -> fmt::Result {
    let index = method.index();
    let mut behind = None;
    let mut heading = true;
    code::method(method, &mut |row| {
        // The rows of a switch belong to it, so remarks after it follow the brace.
        let inside = row.bci.is_none() && row.text.starts_with("            ");
        if let Some(bci) = behind.take_if(|_| !inside) {
            say_at(positions, (index, Position::Behind(bci)), out)?;
        }
        if let Some(bci) = row.bci {
            say_at(positions, (index, Position::Before(bci)), out)?;
            behind = Some(bci);
        }
        writeln!(out, "{}", row.text)?;
        if std::mem::take(&mut heading) {
            reasons(index, left_out, out)?;
        }
        Ok(())
    })?;
    if let Some(bci) = behind {
        say_at(positions, (index, Position::Behind(bci)), out)?;
    }
    // Remarks at no instruction of this method.
    let stray: Vec<_> = positions
        .extract_if(.., |(found, _), _| *found == index)
        .collect();
    stray
        .iter()
        .try_for_each(|(_, remarks)| write_remarks(remarks, out))
}

fn reasons(
    index: MethodIndex,
    left_out: &[(MethodIndex, String)],
    out: &mut dyn Write,
) -> fmt::Result {
    let of_method = left_out.iter().filter(|(found, _)| *found == index);
    for (_, reason) in of_method {
        out.write_str("    ! left unchanged: ")?;
        escaped(reason, out)?;
        out.write_str("\n")?;
    }
    Ok(())
}

fn say_at(
    positions: &mut Positions<'_>,
    at: (MethodIndex, Position),
    out: &mut dyn Write,
) -> fmt::Result {
    match positions.remove(&at) {
        Some(remarks) => write_remarks(&remarks, out),
        None => Ok(()),
    }
}

/// Writes remarks in the order in which their code runs; those at one location in their given order.
fn write_remarks(remarks: &[&Remark<'_>], out: &mut dyn Write) -> fmt::Result {
    let mut ordered = remarks.to_vec();
    ordered.sort_by_key(|remark| match remark.point.location {
        Location::Entry | Location::FallThrough(_) => 0,
        Location::Before(_) => 1,
        Location::At(_) => 3,
        _ => 2,
    });
    for remark in ordered {
        let sign = match remark.content {
            RemarkContent::Edit(_) | RemarkContent::Insert(_) => '+',
            RemarkContent::Note(_) => '#',
        };
        write!(out, "          {sign} ")?;
        escaped(remark.by, out)?;
        let (first, more) = match remark.content {
            RemarkContent::Edit(action) => {
                write!(out, ": {action}")?;
                ("", "")
            }
            RemarkContent::Insert(text) => {
                out.write_str(": ")?;
                text.split_once('\n').unwrap_or((text, ""))
            }
            RemarkContent::Note(text) => {
                out.write_str(": ")?;
                (text, "")
            }
        };
        escaped(first, out)?;
        writeln!(out, " ({})", remark.point.location)?;
        for line in more.lines() {
            out.write_str("          + ")?;
            escaped(line, out)?;
            out.write_str("\n")?;
        }
    }
    Ok(())
}

fn escaped(text: &str, out: &mut dyn Write) -> fmt::Result {
    text.chars().try_for_each(|c| escape::quoted(c, out))
}

/// Writes a whole class: header, fields, methods with their code, bootstrap methods, and other attributes by name.
///
/// # Errors
/// Only those of `out`.
pub fn class(class: &ClassFile<'_>, out: &mut dyn fmt::Write) -> fmt::Result {
    Bounded::write(out, |out| annotated(class, &[], &[], &[], out))
}

/// Writes a whole class with its planned edits. Class edits come first, with the name of their plugin. Each remark
/// appears at the location of its code, marked with `+` for edits and `#` for notes.
///
/// Edits on edges follow the instruction that the edge leaves. `left_out` lists the methods that will stay unchanged,
/// with the reason.
///
/// # Errors
/// Only those of `out`.
pub fn plan(
    class: &ClassFile<'_>,
    class_edits: &[(&str, &ClassEdit)],
    remarks: &[Remark<'_>],
    left_out: &[(MethodIndex, String)],
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    Bounded::write(out, |out| {
        annotated(class, class_edits, remarks, left_out, out)
    })
}

/// Writes a whole class with all edits of `plan`: class edits first, one line each, and the others at their locations
/// as in [`plan()`]. `by` is the name of the plugin.
///
/// # Errors
/// Only those of `out`.
pub fn edits(
    class: &ClassFile<'_>,
    by: &str,
    plan: &EditPlan,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    let edits = plan.edits().iter();
    let words: Vec<String> = edits
        .clone()
        .map(|edit| plan.describe(edit.action))
        .collect();
    let remarks: Vec<Remark<'_>> = edits
        .zip(&words)
        .map(|(edit, words)| Remark {
            point: edit.point,
            by,
            content: RemarkContent::Insert(words),
        })
        .collect();
    let class_edits: Vec<_> = plan.class_edits().iter().map(|edit| (by, edit)).collect();
    self::plan(class, &class_edits, &remarks, &[], out)
}
