//! Prints the difference between two versions of a class.
//!
//! The alignment is our own. General ones (Myers', patience) pair an instruction of the method with an equal one in the
//! middle of inserted code. Half of a probe then appears as new, and so does the next instruction. This one requires
//! several equal lines, and searches for them where code may have been inserted.

use std::collections::HashMap;
use std::fmt::{self, Write};

use crate::bounded::Bounded;
use crate::row::{Row, Rows};
use crate::{code, header};
use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, Method};

/// Context lines around a change.
const CONTEXT: usize = 3;
/// Search steps for the next agreement: number of equal lines, and distance.
const LOOKING: [(usize, usize); 4] = [(3, 12), (2, 12), (1, 40), (3, 512)];

/// Writes the difference.
pub(super) fn write(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    out: &mut dyn Write,
) -> fmt::Result {
    let outside = |class: &ClassFile<'_>| {
        collect(&mut |rows: Rows<'_>| {
            header::head(class, rows)?;
            header::fields(class, rows)?;
            header::bootstrap_methods(class, rows)
        })
    };
    section("class", &outside(before), &outside(after), out)?;
    let mut old: HashMap<_, Method<'_, '_>> = before
        .methods()
        .map(|method| (identity(&method), method))
        .collect();
    for new in after.methods() {
        match old.remove(&identity(&new)) {
            Some(old) => changed_method(&old, &new, out)?,
            None => section(&name(&new), &[], &method_rows(&new), out)?,
        }
    }
    for gone in before.methods() {
        if old.contains_key(&identity(&gone)) {
            section(&name(&gone), &method_rows(&gone), &[], out)?;
        }
    }
    Ok(())
}

fn identity<'a>(method: &Method<'_, 'a>) -> (Utf8<'a>, Utf8<'a>) {
    (method.name(), method.descriptor())
}

fn name(method: &Method<'_, '_>) -> String {
    code::heading(method).text.trim_start().to_owned()
}

fn changed_method(old: &Method<'_, '_>, new: &Method<'_, '_>, out: &mut dyn Write) -> fmt::Result {
    section(&name(new), &method_rows(old), &method_rows(new), out)
}

fn method_rows(method: &Method<'_, '_>) -> Vec<Row> {
    collect(&mut |rows: Rows<'_>| code::method(method, rows))
}

fn collect(write: &mut dyn FnMut(Rows<'_>) -> fmt::Result) -> Vec<Row> {
    let mut all = Vec::new();
    let _ = write(&mut |row| {
        all.push(row);
        Ok(())
    }); // a vector takes everything
    all
}

/// One line of the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Same(usize, usize),
    Gone(usize),
    New(usize),
}

/// Writes the hunks of one part of the class.
fn section(title: &str, before: &[Row], after: &[Row], out: &mut dyn Write) -> fmt::Result {
    let steps = check_places(align(before, after), before, after);
    let changed: Vec<usize> = (0_usize..)
        .zip(&steps)
        .filter(|(_, step)| !matches!(step, Step::Same(..)))
        .map(|(at, _)| at)
        .collect();
    let near = |a: &usize, b: &usize| b.saturating_sub(*a) <= CONTEXT * 2;
    for hunk in changed.chunk_by(near) {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else {
            continue;
        };
        let start = first.saturating_sub(CONTEXT);
        let end = last
            .saturating_add(CONTEXT)
            .saturating_add(1)
            .min(steps.len());
        writeln!(out, "@@ {title} @@")?;
        for step in steps.get(start..end).unwrap_or_default() {
            let (sign, row) = match *step {
                Step::Same(_, at) => (' ', after.get(at)),
                Step::New(at) => ('+', after.get(at)),
                Step::Gone(at) => ('-', before.get(at)),
            };
            writeln!(out, "{sign}{}", row.map_or("", |row| row.text.as_str()))?;
        }
    }
    Ok(())
}

/// Pairs equal lines, ignoring bcis. Linear: at a change it looks ahead a bounded number of lines.
fn align(before: &[Row], after: &[Row]) -> Vec<Step> {
    let mut steps = Vec::with_capacity(before.len().max(after.len()));
    let (mut i, mut j) = (0_usize, 0_usize);
    while i < before.len() || j < after.len() {
        let (gone, new) = if same(before, i, after, j) {
            (0, 0)
        } else {
            resume(
                before.get(i..).unwrap_or_default(),
                after.get(j..).unwrap_or_default(),
            )
        };
        steps.extend((i..i.saturating_add(gone)).map(Step::Gone));
        steps.extend((j..j.saturating_add(new)).map(Step::New));
        i = i.saturating_add(gone);
        j = j.saturating_add(new);
        if same(before, i, after, j) {
            steps.push(Step::Same(i, j));
            i = i.saturating_add(1);
            j = j.saturating_add(1);
        }
    }
    steps
}

fn same(before: &[Row], i: usize, after: &[Row], j: usize) -> bool {
    matches!((before.get(i), after.get(j)), (Some(a), Some(b)) if a.key == b.key)
}

/// Returns the number of lines to skip on either side until both agree again. Near lines come first, because fewer of
/// them must agree.
fn resume(before: &[Row], after: &[Row]) -> (usize, usize) {
    let agree = |i: usize, j: usize, lines: usize| {
        (i < before.len() || j < after.len())
            && (0..lines).all(|k| {
                let (i, j) = (i.saturating_add(k), j.saturating_add(k));
                same(before, i, after, j) || (i >= before.len() && j >= after.len())
            })
    };
    let one_sided = |(lines, ahead): &(usize, usize)| {
        let inserted = || (1..=*ahead).find(|j| agree(0, *j, *lines)).map(|j| (0, j));
        let removed = || (1..=*ahead).find(|i| agree(*i, 0, *lines)).map(|i| (i, 0));
        inserted().or_else(removed)
    };
    let both = || {
        let near = 1..=32_usize;
        near.clone()
            .flat_map(|i| near.clone().map(move |j| (i, j)))
            .filter(|(i, j)| agree(*i, *j, 3))
            .min_by_key(|(i, j)| i.saturating_add(*j))
    };
    if agree(1, 1, 2) {
        return (1, 1);
    }
    LOOKING
        .iter()
        .find_map(one_sided)
        .or_else(both)
        .unwrap_or((before.len().min(1), after.len().min(1)))
}

/// Separates paired lines whose bcis do not correspond.
fn check_places(steps: Vec<Step>, before: &[Row], after: &[Row]) -> Vec<Step> {
    let map = Correspondence::new(&steps, before, after);
    let mut checked = Vec::with_capacity(steps.len());
    for step in steps {
        match step {
            Step::Same(i, j) if !map.agrees(before.get(i), after.get(j)) => {
                checked.extend([Step::Gone(i), Step::New(j)]);
            }
            step => checked.push(step),
        }
    }
    checked
}

/// The new bcis that may correspond to old ones.
#[derive(Default)]
struct Correspondence {
    /// Old bci to the first and last new bci; inserted code before an instruction belongs to it.
    moved: HashMap<u32, (u32, u32)>,
}

impl Correspondence {
    fn new(steps: &[Step], before: &[Row], after: &[Row]) -> Self {
        let mut moved = HashMap::new();
        let mut inserted = None;
        let bci = |rows: &[Row], at: usize| rows.get(at)?.bci.map(u32::from);
        for step in steps {
            match *step {
                Step::New(at) => inserted = inserted.or(bci(after, at)),
                Step::Gone(_) => {}
                Step::Same(i, j) => {
                    if let (Some(old), Some(new)) = (bci(before, i), bci(after, j)) {
                        moved.insert(old, (inserted.take().unwrap_or(new), new));
                    }
                }
            }
        }
        Correspondence { moved }
    }

    fn agrees(&self, before: Option<&Row>, after: Option<&Row>) -> bool {
        let (Some(before), Some(after)) = (before, after) else {
            return false;
        };
        before.places.len() == after.places.len()
            && before.places.iter().zip(&after.places).all(|(old, new)| {
                match self.moved.get(old) {
                    Some((first, last)) => first <= new && new <= last,
                    // The end of the code, or a bci inside an instruction.
                    None => new >= old,
                }
            })
    }
}

/// Writes a unified difference of the headers of two class versions, and of each method that differs. Equal classes
/// produce no output.
///
/// Lines are matched by text, and bcis by the instruction there. So moved code is no difference.
///
/// # Errors
/// Only those of `out`.
pub fn difference(
    before: &ClassFile<'_>,
    after: &ClassFile<'_>,
    out: &mut dyn fmt::Write,
) -> fmt::Result {
    Bounded::write(out, |out| write(before, after, out))
}
