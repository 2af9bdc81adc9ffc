//! Instructions (JVMS 6.5), decoded one at a time.

use crate::cursor::{i16_at, i32_at, u16_at};
use crate::error::ReadError;
use crate::index::{Bci, PoolIndex};
pub(crate) use jvms::instruction::length_at as decode;
pub(crate) use jvms::instruction::{branch_offset, leads_to, switch_layout};
use jvms::opcode;
use jvms::opcode::Form;

/// An instruction. After `wide` the opcode is that of the widened instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction<'a> {
    /// Its index in the code array.
    pub bci: Bci,
    /// Its opcode; for `wide iload` that of `iload`.
    pub opcode: u8,
    /// True after a `wide` prefix.
    pub wide: bool,
    bytes: &'a [u8],
}

impl<'a> Instruction<'a> {
    /// Returns all its bytes, `wide` and padding included.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of its bytes.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.bytes.len() as u32
    }

    /// Returns its mnemonic (JVMS 6.5).
    #[must_use]
    pub fn mnemonic(&self) -> &'static str {
        opcode::mnemonic(self.opcode).unwrap_or("?")
    }

    /// Returns the bci after it; may be the length of the code.
    #[must_use]
    pub fn next(&self) -> u32 {
        u32::from(self.bci.0) + self.length()
    }

    /// Returns the target of a branch, `goto` or `jsr`. `None` for other instructions, and for a target outside any
    /// code array.
    #[must_use]
    #[inline]
    pub fn branch_target(&self) -> Option<Bci> {
        absolute(self.bci, branch_offset(self.bytes, 0)?)
    }

    /// Returns the targets of `tableswitch` and `lookupswitch`.
    #[must_use]
    #[inline]
    pub fn switch(&self) -> Option<Switch<'a>> {
        opcode::is_switch(self.opcode).then(|| Switch::new(self))?
    }

    /// Returns the targets of a branch or switch, without those outside any code array.
    pub fn targets(&self) -> impl Iterator<Item = Bci> + use<'a> {
        let switch = self.switch().into_iter();
        let cases = switch.flat_map(|switch| switch.targets());
        cases.chain(self.branch_target())
    }

    /// Checks whether control may continue elsewhere than at the next instruction.
    pub(crate) fn may_jump(&self) -> bool {
        !opcode::falls_through(self.opcode) || opcode::is_branch(self.opcode)
    }

    /// Returns the local variable in its operand or opcode.
    #[must_use]
    #[inline]
    pub fn local(&self) -> Option<u16> {
        match opcode::form(self.opcode) {
            Form::Slot(slot) => Some(u16::from(slot)),
            Form::Local | Form::Iinc if self.wide => u16_at(self.bytes, 2),
            Form::Local | Form::Iinc => self.bytes.get(1).map(|slot| u16::from(*slot)),
            _ => None,
        }
    }

    /// Returns the constant pool index in its operand.
    #[must_use]
    #[inline]
    pub fn pool_index(&self) -> Option<PoolIndex> {
        match opcode::form(self.opcode) {
            Form::Pool1 => self.bytes.get(1).map(|index| PoolIndex(u16::from(*index))),
            Form::Pool2
            | Form::Field
            | Form::Method
            | Form::Interface
            | Form::Dynamic
            | Form::MultiNewArray => u16_at(self.bytes, 1).map(PoolIndex),
            _ => None,
        }
    }

    /// Returns its `int`: of `bipush`, `sipush`, `iconst_…`, the delta of `iinc`, the type of `newarray`, the
    /// dimensions of `multianewarray`.
    #[must_use]
    #[inline]
    pub fn immediate(&self) -> Option<i32> {
        match opcode::form(self.opcode) {
            Form::Const(value) => Some(i32::from(value)),
            Form::Byte => self.bytes.get(1).map(|byte| i32::from(*byte as i8)),
            Form::Short => i16_at(self.bytes, 1).map(i32::from),
            Form::Iinc if self.wide => i16_at(self.bytes, 4).map(i32::from),
            Form::Iinc => self.bytes.get(2).map(|byte| i32::from(*byte as i8)),
            Form::NewArray => self.bytes.get(1).map(|kind| i32::from(*kind)),
            Form::MultiNewArray => self.bytes.get(3).map(|count| i32::from(*count)),
            _ => None,
        }
    }

    /// Returns the operand as one number for tools: target bci, number of switch targets, pool index, local variable or
    /// immediate, in this order. 0 without an operand.
    #[must_use]
    #[inline]
    pub fn operand(&self) -> i32 {
        let found = match opcode::form(self.opcode) {
            Form::Unassigned | Form::None | Form::Wide => None,
            Form::Branch | Form::BranchWide => self.branch_target().map(|at| i32::from(at.0)),
            Form::TableSwitch | Form::LookupSwitch => self.target_count(),
            Form::Slot(_) | Form::Local | Form::Iinc => self.local().map(i32::from),
            Form::Const(_) | Form::Byte | Form::Short | Form::NewArray => self.immediate(),
            _ => self.pool_index().map(|index| i32::from(index.0)),
        };
        found.unwrap_or(0)
    }

    /// Returns the number of targets of a switch.
    #[inline(never)]
    fn target_count(&self) -> Option<i32> {
        Some(self.targets().count() as i32)
    }
}

fn absolute(source: Bci, distance: i32) -> Option<Bci> {
    let target = i64::from(source.0) + i64::from(distance);
    u16::try_from(target).ok().map(Bci)
}

/// A `tableswitch` or `lookupswitch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch<'a> {
    bci: Bci,
    default: i32,
    low: i32,
    /// Branch offsets, or pairs of key and offset.
    entries: &'a [u8],
    pairs: bool,
}

impl<'a> Switch<'a> {
    fn new(instruction: &Instruction<'a>) -> Option<Self> {
        let pairs = match instruction.opcode {
            opcode::TABLESWITCH => false,
            opcode::LOOKUPSWITCH => true,
            _ => return None,
        };
        // The padding ends at a multiple of four in the code array.
        let at = usize::from(instruction.bci.0);
        let body = instruction.bytes.get((at | 3) + 1 - at..)?;
        let header = if pairs { 8 } else { 12 };
        Some(Switch {
            bci: instruction.bci,
            default: i32_at(body, 0)?,
            low: i32_at(body, 4)?,
            entries: body.get(header..)?,
            pairs,
        })
    }

    /// Returns the target if no key matches. `None` for a target outside any code array.
    #[must_use]
    pub fn default_target(&self) -> Option<Bci> {
        absolute(self.bci, self.default)
    }

    /// Returns keys and targets in the order of the instruction.
    #[must_use]
    pub fn cases(&self) -> SwitchCases<'a> {
        SwitchCases {
            switch: *self,
            at: 0,
        }
    }

    /// Returns the number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() >> if self.pairs { 3 } else { 2 }
    }

    /// Checks whether the switch has only its default.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the default target, then those of the cases; targets outside any code array are left out.
    pub fn targets(&self) -> impl Iterator<Item = Bci> + use<'a> {
        let cases = self.cases().filter_map(|(_, target)| target);
        self.default_target().into_iter().chain(cases)
    }
}

/// Keys and targets of a [`Switch`].
#[derive(Debug, Clone)]
pub struct SwitchCases<'a> {
    switch: Switch<'a>,
    at: usize,
}

impl Iterator for SwitchCases<'_> {
    type Item = (i32, Option<Bci>);

    fn next(&mut self) -> Option<Self::Item> {
        let index = self.at;
        let Switch {
            entries,
            pairs,
            low,
            bci,
            ..
        } = self.switch;
        let (key, distance) = if pairs {
            let at = index * 8;
            (i32_at(entries, at)?, i32_at(entries, at + 4)?)
        } else {
            (low + index as i32, i32_at(entries, index * 4)?)
        };
        self.at = index + 1;
        Some((key, absolute(bci, distance)))
    }
}

/// The instructions of a code array. The first one that cannot be decoded is an error and the last item.
#[derive(Debug, Clone)]
pub struct Instructions<'a> {
    code: &'a [u8],
    at: usize,
    offset: u32,
}

impl<'a> Instructions<'a> {
    pub(crate) fn new(code: &'a [u8], offset: u32) -> Self {
        Instructions {
            code,
            at: 0,
            offset,
        }
    }

    /// Iterates over the instructions from `bci` on, which must be the start of one.
    pub(crate) fn from(code: &'a [u8], at: usize, offset: u32) -> Self {
        Instructions { code, at, offset }
    }
}

impl<'a> Iterator for Instructions<'a> {
    type Item = Result<Instruction<'a>, ReadError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let at = self.at;
        let first = *self.code.get(at)?;
        let Some(instruction) = at_bci(self.code, at, first) else {
            self.at = usize::MAX;
            return Some(Err(undecodable(first, at, self.offset)));
        };
        self.at = at + instruction.bytes.len();
        Some(Ok(instruction))
    }
}

impl<'a> Instructions<'a> {
    /// Passes every instruction to `visit`. This avoids the `Result` that the iterator builds in memory for each item.
    #[inline]
    pub(crate) fn visit(self, mut visit: impl FnMut(Instruction<'a>)) -> Result<(), ReadError> {
        let mut at = self.at;
        while let Some(first) = self.code.get(at) {
            let Some(instruction) = at_bci(self.code, at, *first) else {
                return Err(undecodable(*first, at, self.offset));
            };
            at += instruction.bytes.len();
            visit(instruction);
        }
        Ok(())
    }
}

/// Decodes the instruction at `at`, whose first byte is `first`.
#[inline(always)]
fn at_bci(code: &[u8], at: usize, first: u8) -> Option<Instruction<'_>> {
    let length = decode(code, at)?;
    let bytes = code.get(at..at + length)?;
    let wide = first == opcode::WIDE;
    let opcode = if wide { *bytes.get(1)? } else { first };
    Some(Instruction {
        bci: Bci(at as u16),
        opcode,
        wide,
        bytes,
    })
}

#[cold]
pub(crate) fn undecodable(opcode: u8, at: usize, offset: u32) -> ReadError {
    let bci = at as u32;
    let offset = offset + bci;
    match opcode::form(opcode) {
        Form::Unassigned => ReadError::UnknownOpcode {
            bci,
            offset,
            opcode,
        },
        _ => ReadError::BadInstruction { bci, offset },
    }
}
