//! A class with remarks in their places.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

use crate::class::{ClassFile, Method};
use crate::edits::ClassEdit;
use crate::index::MethodIndex;
use crate::plan::{Action, Place, Site};
use crate::print::names::escape;
use crate::print::row::Row;
use crate::print::{code, header};

/// What is remarked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum What<'t> {
    /// Something that is inserted.
    Edit(Action),
    /// Something that is inserted or changed, in words; further lines stand below.
    Insert(&'t str),
    /// A line for people.
    Note(&'t str),
}

/// Something to be said at a place of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Remark<'t> {
    /// Where.
    pub site: Site,
    /// Who says so: the name of a plugin.
    pub by: &'t str,
    /// What.
    pub what: What<'t>,
}

/// Where remarks stand: before or behind the instruction at a bci.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Before(u16),
    Behind(u16),
}

type Spots<'r> = BTreeMap<(MethodIndex, Spot), Vec<&'r Remark<'r>>>;

fn spot(place: Place) -> Spot {
    match place {
        Place::Entry => Spot::Before(0),
        Place::Unwind => Spot::Behind(u16::MAX),
        Place::Before(bci) | Place::At(bci) => Spot::Before(bci.0),
        Place::FallThrough(bci) | Place::Jump { source: bci, .. } => Spot::Behind(bci.0),
    }
}

/// Writes an edit of the class itself; the lines of a body stand below it.
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

/// Writes the class with remarks; without any it is the class alone.
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
    let mut spots = Spots::new();
    for remark in remarks {
        let place = (remark.site.method, spot(remark.site.place));
        spots.entry(place).or_default().push(remark);
    }
    let mut line = |row: Row| writeln!(out, "{}", row.text);
    header::head(class, &mut line)?;
    header::fields(class, &mut line)?;
    for method in class.methods() {
        annotated_method(&method, &mut spots, left_out, out)?;
    }
    header::bootstrap_methods(class, &mut |row| writeln!(out, "{}", row.text))?;
    spots.values().try_for_each(|stray| say(stray, out))
}

fn annotated_method(
    method: &Method<'_, '_>,
    spots: &mut Spots<'_>,
    left_out: &[(MethodIndex, String)],
    out: &mut dyn Write,
) -> fmt::Result {
    let index = method.index();
    let mut behind = None;
    let mut heading = true;
    code::method(method, &mut |row| {
        // The rows of a switch belong to it: what stands behind it waits for the brace.
        let inside = row.bci.is_none() && row.text.starts_with("            ");
        if let Some(bci) = behind.take_if(|_| !inside) {
            say_at(spots, (index, Spot::Behind(bci)), out)?;
        }
        if let Some(bci) = row.bci {
            say_at(spots, (index, Spot::Before(bci)), out)?;
            behind = Some(bci);
        }
        writeln!(out, "{}", row.text)?;
        if std::mem::take(&mut heading) {
            reasons(index, left_out, out)?;
        }
        Ok(())
    })?;
    if let Some(bci) = behind {
        say_at(spots, (index, Spot::Behind(bci)), out)?;
    }
    // What stands at no instruction of this method.
    let stray: Vec<_> = spots
        .extract_if(.., |(found, _), _| *found == index)
        .collect();
    stray.iter().try_for_each(|(_, remarks)| say(remarks, out))
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

fn say_at(spots: &mut Spots<'_>, at: (MethodIndex, Spot), out: &mut dyn Write) -> fmt::Result {
    match spots.remove(&at) {
        Some(remarks) => say(&remarks, out),
        None => Ok(()),
    }
}

/// In the order in which their code runs; of one place in the order given.
fn say(remarks: &[&Remark<'_>], out: &mut dyn Write) -> fmt::Result {
    let mut ordered = remarks.to_vec();
    ordered.sort_by_key(|remark| match remark.site.place {
        Place::Entry | Place::FallThrough(_) => 0,
        Place::Before(_) => 1,
        Place::At(_) => 3,
        Place::Jump { .. } | Place::Unwind => 2,
    });
    for remark in ordered {
        let sign = match remark.what {
            What::Edit(_) | What::Insert(_) => '+',
            What::Note(_) => '#',
        };
        write!(out, "          {sign} ")?;
        escaped(remark.by, out)?;
        let (first, more) = match remark.what {
            What::Edit(action) => {
                write!(out, ": {action}")?;
                ("", "")
            }
            What::Insert(text) => {
                out.write_str(": ")?;
                text.split_once('\n').unwrap_or((text, ""))
            }
            What::Note(text) => {
                out.write_str(": ")?;
                (text, "")
            }
        };
        escaped(first, out)?;
        writeln!(out, " ({})", remark.site.place)?;
        for line in more.lines() {
            out.write_str("          + ")?;
            escaped(line, out)?;
            out.write_str("\n")?;
        }
    }
    Ok(())
}

fn escaped(text: &str, out: &mut dyn Write) -> fmt::Result {
    text.chars().try_for_each(|c| escape(c, out))
}
