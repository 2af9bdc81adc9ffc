//! A byte for each byte of a code array: whether an instruction begins there, how long it
//! is, and what it does.

use crate::arithmetic::Exact;
use crate::index::Bci;
use jvms::opcode::{
    self, ATHROW, GOTO_W, IFEQ, IFNONNULL, IFNULL, IRETURN, JSR, JSR_W, LOOKUPSWITCH, RETURN,
    TABLESWITCH,
};

/// An instruction begins here. What else a mark says holds only there.
const START: u8 = 0x80;
/// The bits of its length; 0 where that depends on more than its opcode.
const LENGTH: u8 = 0x07;
/// It leads elsewhere: a branch, `goto`, `jsr` or switch.
pub(super) const LEADS: u8 = 0x08;
/// It leaves the method: `return` and its like, and `athrow`.
const EXIT: u8 = 0x10;

/// The mark of an instruction with this opcode.
const fn mark_of(opcode: u8) -> u8 {
    let does = match opcode {
        IFEQ..=JSR | TABLESWITCH | LOOKUPSWITCH | IFNULL | IFNONNULL | GOTO_W | JSR_W => LEADS,
        IRETURN..=RETURN | ATHROW => EXIT,
        _ => 0,
    };
    does | opcode::length(opcode)
}

#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 entries, indexed with a byte"
)]
static MARKS: [u8; 256] = {
    let mut marks = [0; 256];
    let mut opcode = 0;
    while opcode < marks.len() {
        marks[opcode] = mark_of(opcode as u8);
        opcode += 1;
    }
    marks
};

/// The marks of these bytes as opcodes, wherever instructions begin.
///
/// They are looked up independently of each other, so that the walk, each of whose steps
/// waits for the one before, waits for one load only.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 entries, indexed with a byte"
)]
pub(super) fn look_up(code: &[u8]) -> impl ExactSizeIterator<Item = u8> + '_ {
    code.iter().map(|opcode| MARKS[usize::from(*opcode)])
}

/// Marks that an instruction begins; its length, if its opcode says it.
#[inline(always)]
pub(super) fn step(mark: &mut u8) -> Option<usize> {
    let length = *mark & LENGTH;
    *mark |= START;
    (length != 0).then_some(usize::from(length))
}

/// Whether an instruction begins at `at`.
#[inline]
pub(super) fn is_start(marks: &[u8], at: usize) -> bool {
    marks.get(at).is_some_and(|mark| mark & START != 0)
}

/// Whether an instruction begins at `bci` of a code array with these marks.
#[inline]
pub(crate) fn begins(marks: &[u8], bci: Bci) -> bool {
    is_start(marks, usize::from(bci))
}

/// The bci of the last instruction.
pub(crate) fn last_start(marks: &[u8]) -> Option<usize> {
    marks.iter().rposition(|mark| mark & START != 0)
}

/// Where the instructions begin that leave the method, in order.
pub(super) fn exits(marks: &[u8]) -> impl Iterator<Item = Bci> + '_ {
    Marked::new(marks, EXIT).map(|at| Bci(at as u16))
}

/// Where the instructions begin whose marks have a bit, in order: it looks at eight bytes
/// at a time, as few have.
pub(super) struct Marked<'m> {
    /// What was not looked at, and where that begins.
    rest: &'m [u8],
    behind: usize,
    /// Of the eight bytes in front of it: the highest bit of each that was found.
    found: u64,
    /// How far the bit is from the highest one.
    shift: u32,
}

impl<'m> Marked<'m> {
    pub(super) fn new(marks: &'m [u8], bit: u8) -> Self {
        Marked {
            rest: marks,
            behind: 0,
            found: 0,
            shift: bit.leading_zeros(),
        }
    }
}

impl Iterator for Marked<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            let eight = match self.rest.split_first_chunk::<8>() {
                Some((eight, rest)) => {
                    self.rest = rest;
                    *eight
                }
                None if self.rest.is_empty() => return None,
                None => {
                    let mut eight = [0; 8];
                    let last = eight.iter_mut().zip(std::mem::take(&mut self.rest));
                    last.for_each(|(to, from)| *to = *from);
                    eight
                }
            };
            self.behind = self.behind.plus(8);
            let marks = u64::from_le_bytes(eight);
            self.found = marks & marks << self.shift & u64::from_le_bytes([START; 8]);
        }
        let back = 8.minus((self.found.trailing_zeros() >> 3) as usize);
        self.found &= self.found.wrapping_sub(1);
        Some(self.behind.minus(back))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvms::opcode::{Form, NOP, form, is_return};

    #[test]
    fn marks_say_what_opcodes_are() {
        for opcode in 0..=u8::MAX {
            let mark = MARKS[usize::from(opcode)];
            let jump = matches!(
                form(opcode),
                Form::Branch | Form::BranchWide | Form::TableSwitch | Form::LookupSwitch
            );
            assert_eq!(mark & LEADS != 0, jump, "{opcode}");
            assert_eq!(
                mark & EXIT != 0,
                is_return(opcode) || opcode == ATHROW,
                "{opcode}"
            );
            assert_eq!(mark & LENGTH, opcode::length(opcode), "{opcode}");
            assert_eq!(mark & START, 0, "{opcode}");
        }
    }

    #[test]
    fn only_what_begins_is_found() {
        for length in 0..40 {
            let code: Vec<u8> = [NOP, RETURN, RETURN]
                .into_iter()
                .cycle()
                .take(length)
                .collect();
            let mut marks: Vec<u8> = look_up(&code).collect();
            for mark in marks.iter_mut().step_by(2) {
                let _length = step(mark);
            }
            let expected = (0..length).filter(|at| at % 2 == 0 && at % 3 != 0);
            assert!(
                exits(&marks).eq(expected.map(|at| Bci(at as u16))),
                "{length}"
            );
        }
    }
}
