//! Compares tables with bcis between output and original (JVMS 4.7.3, 4.7.12 to 4.7.14, 4.7.20).

use crate::arithmetic::u2;
use crate::class::{
    Attribute, CodeTable, Instructions, contains, contains_jointly, skip_after_target,
};
use crate::cursor::{Cursor, u16_at};
use crate::limits::MAX_EXTENDED_RANGES;
use crate::self_check::unsplice::{FoundTrampoline, Unsplice};
use crate::self_check::unwinding::ExpectedRow;
use crate::splice::Positions;
use jvms::opcode;

/// Compares exception tables. The output must have the original rows with moved bcis, then rows for trampolines, then
/// those for `Unwind`. `code` is the original code.
pub(super) fn same_handlers(
    (old, new): (&[[u8; 8]], &[[u8; 8]]),
    code: &[u8],
    unwinding: &[ExpectedRow],
    unspliced: &Unsplice,
) -> bool {
    let Some((moved, added)) = new.split_at_checked(old.len()) else {
        return false;
    };
    let around = added.len().checked_sub(unwinding.len());
    let Some((around, added)) = around.and_then(|count| added.split_at_checked(count)) else {
        return false;
    };
    let same = |(row, new): (&[u8; 8], &[u8; 8])| {
        let [_, _, e0, e1, h0, h1, old_kind @ ..] = *row;
        let [t0, t1, f0, f1, i0, i1, new_kind @ ..] = *new;
        let found = [[t0, t1], [f0, f1], [i0, i1]].map(|at| Some(number(at)));
        let expected = [
            begin_of_range((old, code), row, unspliced),
            unspliced.end(number([e0, e1])),
            unspliced.label(number([h0, h1])),
        ];
        found == expected && old_kind == new_kind
    };
    let covers = |((from, to, handler), row): (&ExpectedRow, &[u8; 8])| {
        let [s0, s1, e0, e1, h0, h1, 0, 0] = *row else {
            return false;
        };
        *from == number([s0, s1]) && *to == number([e0, e1]) && *handler == number([h0, h1])
    };
    old.iter().zip(moved).all(same)
        && same_around_trampolines(old, around, unspliced)
        && unwinding.iter().zip(added).all(covers)
}

/// Returns the required start of this row's range. It starts before the code inserted on fall-through if the same
/// handler covers the preceding code, or if the row covers a `monitorenter`.
fn begin_of_range(
    (rows, code): (&[[u8; 8]], &[u8]),
    row: &[u8; 8],
    unspliced: &Unsplice,
) -> Option<u32> {
    let [s0, s1, ..] = *row;
    let bci = number([s0, s1]);
    let (start, label) = (unspliced.start(bci), unspliced.label(bci));
    let Some(before) = bci.checked_sub(1).filter(|_| start != label) else {
        return label;
    };
    let joined = rows.len() <= MAX_EXTENDED_RANGES && contains_jointly(rows, row, before);
    match joined || takes_a_monitor(code, before) {
        true => start,
        false => label,
    }
}

/// Checks for a `monitorenter` at `bci`, which need not be the start of an instruction.
fn takes_a_monitor(code: &[u8], bci: u32) -> bool {
    let found = || Instructions::new(code, 0).map_while(Result::ok);
    code.get(bci as usize) == Some(&opcode::MONITORENTER)
        && found().any(|found| u32::from(found.bci.0) == bci)
}

/// Checks that `around` has the rows for trampolines. For each original row, these are the trampolines of jumps that
/// begin and end in its range; adjacent trampolines share one row.
fn same_around_trampolines(rows: &[[u8; 8]], around: &[[u8; 8]], unspliced: &Unsplice) -> bool {
    let mut left = around.iter();
    let rows = if rows.len() > MAX_EXTENDED_RANGES {
        &[][..]
    } else {
        rows
    };
    for row in rows {
        let [.., h0, h1, t0, t1] = *row;
        let covers = |found: &&FoundTrampoline| {
            found.edge.is_some_and(|(source, target)| {
                contains(row, target) && contains_jointly(rows, row, source)
            })
        };
        let mut covered = unspliced.trampolines().iter().filter(covers).peekable();
        while let Some(first) = covered.next() {
            let mut end = first.end;
            while let Some(next) = covered.next_if(|next| next.position == end) {
                end = next.end;
            }
            let expected = [
                Some(first.position),
                Some(end),
                unspliced.label(number([h0, h1])),
            ];
            let found = left.next().is_some_and(|found| {
                let [s0, s1, e0, e1, i0, i1, kind @ ..] = *found;
                let found = [[s0, s1], [e0, e1], [i0, i1]].map(|at| Some(number(at)));
                found == expected && kind == [t0, t1]
            });
            if !found {
                return false;
            }
        }
    }
    left.next().is_none()
}

fn number(bytes: [u8; 2]) -> u32 {
    u32::from(u16::from_be_bytes(bytes))
}

/// Compares an attribute of the output's code with the original, with moved bcis. Not for `StackMapTable`.
pub(super) fn same_table(
    kind: CodeTable,
    old: &Attribute<'_>,
    new: &[u8],
    unspliced: &Unsplice,
) -> bool {
    let mut tables = Tables {
        old: old.bytes,
        new,
        unspliced,
        compared: 0,
    };
    if old.bytes.len() != new.len() {
        return false;
    }
    let compared = match kind {
        CodeTable::Lines => tables.rows(|old, new| same_line(old, new, unspliced)),
        CodeTable::Variables => tables.rows(|old, new| same_variable(old, new, unspliced)),
        CodeTable::CharacterRanges => {
            tables.rows::<14>(|old, new| same_characters(old, new, unspliced))
        }
        CodeTable::TypeAnnotations => tables.annotations(),
        CodeTable::CldcFrames => tables.cldc_frames(),
        CodeTable::Frames | CodeTable::Unknown => None,
    };
    compared
        .and_then(|()| tables.same_up_to(new.len()))
        .is_some()
}

/// Returns the required start of a line or range at `bci`. At bci 0 it includes the code inserted at entry.
#[inline]
fn begin(bci: u32, unspliced: &Unsplice) -> Option<u32> {
    match bci {
        0 => Some(0),
        _ => unspliced.label(bci),
    }
}

/// Compares a line entry: bci, and line number. In this and the following functions, bcis outside the code stay
/// unchanged.
#[inline]
fn same_line(old: &[u8; 4], new: &[u8; 4], unspliced: &Unsplice) -> bool {
    let old = u32::from_be_bytes(*old);
    let (bci, of) = (old >> 16, old & 0xFFFF);
    u32::from_be_bytes(*new) == begin(bci, unspliced).unwrap_or(bci) << 16 | of
}

/// Compares a variable: start and length, and the rest.
#[inline]
fn same_variable(old: &[u8; 10], new: &[u8; 10], unspliced: &Unsplice) -> bool {
    let ([s0, s1, l0, l1, of @ ..], [t0, t1, m0, m1, new_of @ ..]) = (*old, *new);
    same_range([s0, s1, l0, l1], [t0, t1, m0, m1], unspliced) && of == new_of
}

/// Compares start and length.
#[inline]
fn same_range(old: [u8; 4], new: [u8; 4], unspliced: &Unsplice) -> bool {
    let range = u32::from_be_bytes(old);
    let (start, length) = (range >> 16, range & 0xFFFF);
    let expected = match begin(start, unspliced).zip(unspliced.end(start + length)) {
        Some((begin, end)) => begin << 16 | end.saturating_sub(begin),
        None => range,
    };
    u32::from_be_bytes(new) == expected
}

/// Compares first and last bci, and the rest (`javac -Xjcov`).
fn same_characters<const N: usize>(old: &[u8; N], new: &[u8; N], unspliced: &Unsplice) -> bool {
    let ([f0, f1, l0, l1, of @ ..], [g0, g1, m0, m1, new_of @ ..]) = (&old[..], &new[..]) else {
        return false;
    };
    let (first, last) = (number([*f0, *f1]), number([*l0, *l1]));
    let moved = begin(first, unspliced).zip(unspliced.end(last + 1));
    let expected = moved.map_or((first, last), |(begin, end)| {
        (begin, u32::from(u2(end) - 1))
    });
    (number([*g0, *g1]), number([*m0, *m1])) == expected && of == new_of
}

/// Both tables of one attribute, which have equal length.
struct Tables<'t> {
    old: &'t [u8],
    new: &'t [u8],
    unspliced: &'t Unsplice,
    /// Number of bytes compared so far.
    compared: usize,
}

impl Tables<'_> {
    /// Compares the bytes from the end of the last comparison up to `at`.
    fn same_up_to(&mut self, at: usize) -> Option<()> {
        let range = self.compared..at;
        let same = self.old.get(range.clone())? == self.new.get(range)?;
        self.compared = at;
        same.then_some(())
    }

    /// Checks for this number in the new table at `at`.
    fn is(&mut self, at: usize, expected: u32) -> Option<()> {
        self.same_up_to(at)?;
        self.compared = at + 2;
        (u32::from(u16_at(self.new, at)?) == expected).then_some(())
    }

    fn old_at(&self, at: usize) -> Option<u32> {
        u16_at(self.old, at).map(u32::from)
    }

    /// Compares each of the rows that the old table counts and has.
    fn rows<const N: usize>(&mut self, same: impl Fn(&[u8; N], &[u8; N]) -> bool) -> Option<()> {
        let count = self.old_at(0)? as usize;
        let count = count.min(self.old.get(2..)?.as_chunks::<N>().0.len());
        self.same_up_to(2)?;
        self.compared = count * N + 2;
        let range = 2..self.compared;
        let old = self.old.get(range.clone())?.as_chunks().0;
        let new = self.new.get(range)?.as_chunks().0;
        let mut pairs = old.iter().zip(new);
        pairs.all(|(old, new)| same(old, new)).then_some(())
    }

    /// Compares start and length.
    fn range(&mut self, at: usize) -> Option<()> {
        self.same_up_to(at)?;
        let row = |table: &[u8]| table.get(at..)?.first_chunk::<4>().copied();
        let (old, new) = (row(self.old)?, row(self.new)?);
        self.compared = at + 4;
        same_range(old, new, self.unspliced).then_some(())
    }

    fn instruction(&mut self, at: usize) -> Option<()> {
        match self.unspliced.instruction(self.old_at(at)?) {
            Some(position) => self.is(at, position),
            None => Some(()),
        }
    }

    /// Compares the frames of CLDC (its specification, appendix 1).
    fn cldc_frames(&mut self) -> Option<()> {
        let mut cursor = Cursor::new(self.old, 0);
        for _ in 0..cursor.u2("StackMap").ok()? {
            let at = cursor.position();
            let label = self
                .unspliced
                .label(u32::from(cursor.u2("StackMap").ok()?))?;
            self.is(at, label)?;
            for _ in 0..2 {
                for _ in 0..cursor.u2("StackMap").ok()? {
                    self.cldc_type(&mut cursor)?;
                }
            }
        }
        Some(())
    }

    fn cldc_type(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        match cursor.u1("StackMap").ok()? {
            0..=6 => Some(()),
            7 => cursor.u2("StackMap").ok().map(drop),
            8 => {
                let at = cursor.position();
                cursor.u2("StackMap").ok()?;
                self.instruction(at)
            }
            _ => None,
        }
    }

    fn annotations(&mut self) -> Option<()> {
        let mut cursor = Cursor::new(self.old, 0);
        for _ in 0..cursor.u2("type annotations").ok()? {
            self.annotated(&mut cursor)?;
            skip_after_target(&mut cursor).ok()?;
        }
        Some(())
    }

    /// Compares the target of a type annotation (JVMS tables 4.7.20-A and B).
    fn annotated(&mut self, cursor: &mut Cursor<'_>) -> Option<()> {
        let target = "target_info";
        let kind = cursor.u1(target).ok()?;
        let at = cursor.position();
        let length = match kind {
            0x00 | 0x01 | 0x16 => 1,
            0x10..=0x12 | 0x17 | 0x42 => 2,
            0x13..=0x15 => 0,
            0x40 | 0x41 => {
                let ranges = self.old_at(at)? as usize;
                for range in 0..ranges {
                    self.range(at + 2 + range * 6)?;
                }
                ranges * 6 + 2
            }
            0x43..=0x4B => {
                self.instruction(at)?;
                if kind < 0x47 { 2 } else { 3 }
            }
            _ => return None,
        };
        cursor.take(length, target).ok().map(drop)
    }
}
