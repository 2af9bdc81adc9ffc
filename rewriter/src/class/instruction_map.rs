//! One byte for each byte of a code array: instruction start, length, and properties.

use crate::class::jumps::FoundJump;
use crate::index::Bci;
use jvms::opcode::{
    self, ATHROW, GOTO_W, IFEQ, IFNONNULL, IFNULL, IRETURN, JSR, JSR_W, LOOKUPSWITCH, RETURN,
    TABLESWITCH,
};

/// The instructions of one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InstructionMap<'i> {
    /// One byte for each bci, see [`begins`].
    pub(crate) marks: &'i [u8],
    /// The jumps, all into the code.
    pub(crate) jumps: &'i [FoundJump],
}

/// An instruction starts here. The other bits are valid only with this one.
const START: u8 = 0x80;
/// The bits of its length; 0 if more than the opcode determines it.
const LENGTH: u8 = 0x07;
/// A jump: a branch, `goto`, `jsr` or switch.
pub(super) const LEADS: u8 = 0x08;
/// An exit of the method: a return instruction or `athrow`.
const EXIT: u8 = 0x10;

/// Returns the byte for an instruction with this opcode.
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

/// Looks up the bytes as opcodes, also at positions that start no instruction.
///
/// These lookups are independent of each other. The walk, each of whose steps waits for the one before, then waits for
/// one load only.
#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 entries, indexed with a byte"
)]
pub(super) fn look_up(code: &[u8]) -> impl ExactSizeIterator<Item = u8> + '_ {
    code.iter().map(|opcode| MARKS[usize::from(*opcode)])
}

/// Marks the start of an instruction and returns its length, if the opcode determines it.
#[inline(always)]
pub(super) fn step(mark: &mut u8) -> Option<usize> {
    let length = *mark & LENGTH;
    *mark |= START;
    (length != 0).then_some(usize::from(length))
}

/// Checks whether an instruction starts at `at`.
#[inline]
pub(super) fn is_start(marks: &[u8], at: usize) -> bool {
    marks.get(at).is_some_and(|mark| mark & START != 0)
}

/// Checks whether an instruction starts at `bci` of a code array with these marks.
#[inline]
pub(crate) fn begins(marks: &[u8], bci: Bci) -> bool {
    is_start(marks, usize::from(bci))
}

/// Returns the bci of the last instruction.
pub(crate) fn last_start(marks: &[u8]) -> Option<usize> {
    marks.iter().rposition(|mark| mark & START != 0)
}

/// Returns the instructions that leave the method, in order.
pub(super) fn exits(marks: &[u8]) -> impl Iterator<Item = Bci> + '_ {
    Marked::new(marks, EXIT).map(|at| Bci(at as u16))
}

/// Iterates over the instructions whose marks have a bit, in order. It examines eight bytes at a time, because few have
/// the bit.
pub(super) struct Marked<'m> {
    /// The unexamined rest, and its position.
    rest: &'m [u8],
    behind: usize,
    /// For the eight bytes before it: the highest bit of each match.
    found: u64,
    /// Distance of the bit from the highest one.
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
            self.behind += 8;
            let marks = u64::from_le_bytes(eight);
            self.found = marks & marks << self.shift & u64::from_le_bytes([START; 8]);
        }
        let back = 8 - (self.found.trailing_zeros() >> 3) as usize;
        self.found &= self.found.wrapping_sub(1);
        Some(self.behind - back)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvms::opcode::{Form, NOP, form, is_return};

    #[test]
    fn marks_match_opcodes() {
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
    fn only_instruction_starts_are_found() {
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
