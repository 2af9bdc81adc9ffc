//! Lengths of instructions, branch offsets, and the layout of switches (JVMS 6.5).

use crate::opcode::{self, Form};

/// Maximum number of switch cases that fit into a code array.
const MAX_CASES: u32 = 16_384;

/// Returns the length of the instruction at `at`, all operands included. `None` if it is truncated or unassigned.
#[must_use]
#[inline]
pub fn length_at(code: &[u8], at: usize) -> Option<usize> {
    let opcode = *code.get(at)?;
    let length = usize::from(opcode::length(opcode));
    if length == 0 {
        return variable_length(code, at, opcode);
    }
    fitting(code, at, length)
}

#[inline(never)]
fn variable_length(code: &[u8], at: usize, opcode: u8) -> Option<usize> {
    let length = match opcode {
        opcode::TABLESWITCH | opcode::LOOKUPSWITCH => {
            switch_layout(code, at)?.end.checked_sub(at)?
        }
        opcode::WIDE => match opcode::form(*code.get(at.checked_add(1)?)?) {
            Form::Local => 4,
            Form::Iinc => 6,
            _ => return None,
        },
        _ => return None,
    };
    fitting(code, at, length)
}

#[inline]
fn fitting(code: &[u8], at: usize, length: usize) -> Option<usize> {
    (at.checked_add(length)? <= code.len()).then_some(length)
}

/// Returns the branch offset of the conditional branch, `goto` or `jsr` at `at`, or `None` for other instructions.
#[must_use]
#[inline]
pub fn branch_offset(code: &[u8], at: usize) -> Option<i32> {
    let [opcode, operands @ ..] = code.get(at..)? else {
        return None;
    };
    match opcode::form(*opcode) {
        Form::Branch => Some(i32::from(i16::from_be_bytes(*operands.first_chunk()?))),
        Form::BranchWide => Some(i32::from_be_bytes(*operands.first_chunk()?)),
        _ => None,
    }
}

/// Checks whether the branch or switch at `at` has this target.
#[must_use]
pub fn leads_to(code: &[u8], at: usize, target: u16) -> bool {
    let wanted = i64::from(target).checked_sub_unsigned(at as u64);
    let is_wanted = |offset: i32| Some(i64::from(offset)) == wanted;
    let offset = |at: usize| Some(i32::from_be_bytes(*code.get(at..)?.first_chunk()?));
    match code.get(at) {
        Some(opcode) if opcode::is_switch(*opcode) => {
            switch_layout(code, at).is_some_and(|layout| {
                layout
                    .distances()
                    .any(|at| offset(at).is_some_and(is_wanted))
            })
        }
        _ => branch_offset(code, at).is_some_and(is_wanted),
    }
}

/// Offsets of the parts of a `tableswitch` or `lookupswitch` in the code array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwitchLayout {
    /// The offset of the default, after the padding.
    pub default: usize,
    /// The first entry.
    pub entries: usize,
    /// Bytes of an entry: 4 (offset) or 8 (key and offset).
    pub stride: usize,
    /// The end of the last entry.
    pub end: usize,
}

impl SwitchLayout {
    /// Returns the positions of the branch offsets: the default, then the cases in order.
    pub fn distances(&self) -> impl Iterator<Item = usize> + Clone + use<> {
        let first = self.entries.saturating_add(self.stride).saturating_sub(4);
        std::iter::once(self.default).chain((first..self.end).step_by(self.stride))
    }
}

/// Returns the layout of the switch at `at`; `None` if it is truncated.
#[must_use]
pub fn switch_layout(code: &[u8], at: usize) -> Option<SwitchLayout> {
    // The padding ends at the first multiple of four after the opcode.
    let default = (at | 3).checked_add(1)?;
    let item = |number: usize| {
        let at = default.checked_add(number.checked_mul(4)?)?;
        Some(i32::from_be_bytes(*code.get(at..)?.first_chunk()?))
    };
    let first = item(1)?;
    let (entries, stride, count) = if *code.get(at)? == opcode::TABLESWITCH {
        let count = i64::from(item(2)?)
            .checked_sub(i64::from(first))?
            .checked_add(1)?;
        let count = u32::try_from(count).ok().filter(|count| *count > 0)?;
        (default.checked_add(12)?, 4, count)
    } else {
        (default.checked_add(8)?, 8, u32::try_from(first).ok()?)
    };
    if count > MAX_CASES {
        return None;
    }
    let end = entries.checked_add((count as usize).checked_mul(stride)?)?;
    (end <= code.len()).then_some(SwitchLayout {
        default,
        entries,
        stride,
        end,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::opcode::{
        GOTO, GOTO_W, IFEQ, IINC, ILOAD, LOOKUPSWITCH, NOP, RETURN, TABLESWITCH, WIDE,
    };

    #[test]
    fn truncated_instructions_have_no_length() {
        assert_eq!(length_at(&[GOTO, 0, 3], 0), Some(3));
        assert_eq!(length_at(&[GOTO, 0], 0), None);
        assert_eq!(length_at(&[WIDE, ILOAD, 1, 0], 0), Some(4));
        assert_eq!(length_at(&[WIDE, IINC, 1, 0, 0, 1], 0), Some(6));
        assert_eq!(length_at(&[WIDE, NOP, 1, 0], 0), None);
        assert_eq!(length_at(&[202], 0), None);
        assert_eq!(length_at(&[RETURN], 1), None);
    }

    #[test]
    fn branches_lead_to_their_targets() {
        let code = [NOP, IFEQ, 0xff, 0xff, GOTO_W, 0, 0, 0, 5, RETURN];
        assert_eq!(branch_offset(&code, 0), None);
        assert_eq!(branch_offset(&code, 1), Some(-1));
        assert_eq!(branch_offset(&code, 4), Some(5));
        assert_eq!(branch_offset(&code[..8], 4), None);
        assert!(leads_to(&code, 1, 0) && leads_to(&code, 4, 9));
        assert!(!leads_to(&code, 1, 1) && !leads_to(&code, 0, 0) && !leads_to(&code, 10, 0));
    }

    #[test]
    fn switch_starts_after_its_padding() {
        let mut table = vec![NOP, TABLESWITCH, 0, 0];
        for item in [11, 5, 6, 22, 33] {
            table.extend(i32::to_be_bytes(item));
        }
        let layout = switch_layout(&table, 1).expect("a switch");
        assert_eq!((layout.default, layout.end), (4, 24));
        assert!(layout.distances().eq([4, 16, 20]));
        assert!(
            [12, 23, 34]
                .iter()
                .all(|target| leads_to(&table, 1, *target))
        );
        assert!(!leads_to(&table, 1, 11));
        assert_eq!(switch_layout(&table[..23], 1), None);

        let mut lookup = vec![LOOKUPSWITCH, 0, 0, 0];
        for item in [11, 1, 7, 22] {
            lookup.extend(i32::to_be_bytes(item));
        }
        let layout = switch_layout(&lookup, 0).expect("a switch");
        assert!(layout.distances().eq([4, 16]));
        assert_eq!(length_at(&lookup, 0), Some(20));
        lookup[8..12].copy_from_slice(&(-1_i32).to_be_bytes());
        assert_eq!(switch_layout(&lookup, 0), None);
    }
}
