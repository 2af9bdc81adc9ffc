//! Classes, plans and differences as text, in the manner of `javap -v -p`.
//!
//! The same input gives the same text in every run, so it can be kept and
//! compared. The functions are pure, take any bytes that [`ClassFile::read`]
//! takes, say where something cannot be read, and go on behind it. What they
//! write is bounded: one text of the class at [`MAX_TEXT`] bytes, all of it at
//! [`MAX_OUTPUT`].
//!
//! Control characters and those that change the direction of writing are
//! escaped, so that a class cannot play tricks on a terminal.

mod bounded;
mod code;
mod constant;
mod difference;
mod frames;
mod header;
mod names;
mod plan;
mod row;

use std::fmt;

pub use plan::{Remark, What};

pub(crate) use names::Text;

use crate::class::ClassFile;
use crate::edits::ClassEdit;
use crate::plan::EditPlan;
use bounded::Bounded;

/// Longest text of the class that is written whole, in bytes.
pub const MAX_TEXT: usize = 1_000;
/// Most bytes that one call writes before it says that it is cut off.
pub const MAX_OUTPUT: usize = 64 << 20;

/// Writes a whole class: header, fields, methods with their code, bootstrap
/// methods, and other attributes by name.
///
/// # Errors
/// Only those of `out`.
pub fn class(class: &ClassFile<'_>, out: &mut dyn fmt::Write) -> fmt::Result {
    Bounded::write(out, |out| plan::annotated(class, &[], &[], &[], out))
}

/// Writes a whole class with what is going to be done to it: class edits in
/// front, with the name of who makes them, and each remark where its code goes,
/// marked with `+` for edits and `#` for notes.
///
/// Edits on edges stand behind the instruction that they leave. `left_out` says
/// which methods are not going to be changed after all, and why.
///
/// # Errors
/// Only those of `out`.
pub fn plan(
    class: &ClassFile<'_>,
    class_edits: &[(&str, &ClassEdit)],
    remarks: &[Remark<'_>],
    left_out: &[(crate::MethodIndex, String)],
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    Bounded::write(out, |out| {
        plan::annotated(class, class_edits, remarks, left_out, out)
    })
}

/// Writes a whole class with everything that `plan` does to it: class edits in
/// front, one line each, and the others in their places as [`plan()`] does.
/// `by` says whose plan it is.
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
    let words: Vec<String> = edits.clone().map(|edit| plan.words(edit.action)).collect();
    let remarks: Vec<Remark<'_>> = edits
        .zip(&words)
        .map(|(edit, words)| Remark {
            site: edit.site,
            by,
            what: What::Insert(words),
        })
        .collect();
    let class_edits: Vec<_> = plan.class_edits().iter().map(|edit| (by, edit)).collect();
    self::plan(class, &class_edits, &remarks, &[], out)
}

/// Writes in what two versions of a class differ, as a unified difference of
/// their header and of each method that is not the same; nothing if they agree.
///
/// Lines are matched by what they say, with bcis compared by what stands there:
/// code that has only moved is no difference.
///
/// # Errors
/// Only those of `out`.
pub fn difference(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    Bounded::write(out, |out| difference::write(before, after, out))
}
