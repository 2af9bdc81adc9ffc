//! Encodes and decodes the values that `wit/plugin.wit` passes as plain numbers.

use edits::{InsertionPoint, Location, MethodIndex};

/// An instruction (JVMS 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// The bci in the original code array.
    pub bci: u16,
    /// The opcode; after `wide`, the modified one.
    pub opcode: u8,
    /// The local variable, immediate value, constant pool index, absolute target bci, or a switch's
    /// number of targets; 0 without an operand.
    pub operand: i32,
}

/// An entry of the `LineNumberTable` (JVMS 4.7.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// The first bci of the line.
    pub bci: u16,
    /// The line number.
    pub number: u16,
}

impl From<u64> for Instruction {
    fn from(number: u64) -> Self {
        Self {
            bci: number as u16,
            opcode: (number >> 16) as u8,
            operand: (number >> 32) as i32,
        }
    }
}

impl From<Instruction> for u64 {
    fn from(instruction: Instruction) -> Self {
        let operand = u64::from(instruction.operand.cast_unsigned());
        u64::from(instruction.bci) | u64::from(instruction.opcode) << 16 | operand << 32
    }
}

impl From<Line> for u64 {
    fn from(line: Line) -> Self {
        u64::from(line.bci) | u64::from(line.number) << 16
    }
}

impl From<u32> for Line {
    fn from(number: u32) -> Self {
        Self {
            bci: number as u16,
            number: (number >> 16) as u16,
        }
    }
}

/// An entry of the exception table (JVMS 4.7.3), without the type that it catches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Covered {
    /// The first covered bci.
    pub start: u16,
    /// The first bci behind the covered range.
    pub end: u16,
    /// The first bci of the handler.
    pub target: u16,
}

impl From<u64> for Covered {
    fn from(number: u64) -> Self {
        Self {
            start: number as u16,
            end: (number >> 16) as u16,
            target: (number >> 32) as u16,
        }
    }
}

/// The decoded code of one method, from a list of many.
#[derive(Debug, Clone, Copy)]
pub struct CodeView<'l> {
    index: u16,
    instructions: &'l [u64],
    lines: &'l [u64],
    switch_targets: &'l [u64],
    handlers: &'l [u64],
}

impl<'l> CodeView<'l> {
    /// Takes the next method from the list.
    pub(crate) fn next(list: &mut &'l [u64]) -> Option<Self> {
        let ([first, second], mut rest) = list.split_first_chunk()?;
        let mut take = |count: u64| {
            let (numbers, left) = rest.split_at_checked(count as usize)?;
            rest = left;
            Some(numbers)
        };
        let code = Self {
            index: *first as u16,
            instructions: take(first >> 16 & 0xffff)?,
            lines: take(first >> 32)?,
            switch_targets: take(second & 0xffff_ffff)?,
            handlers: take(second >> 32)?,
        };
        *list = rest;
        Some(code)
    }

    /// Index of the method.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// All instructions, in order.
    pub fn instructions(&self) -> impl ExactSizeIterator<Item = Instruction> + use<'l> {
        self.instructions.iter().copied().map(Instruction::from)
    }

    /// The entries of the `LineNumberTable`, in the order of the file.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = Line> + use<'l> {
        self.lines.iter().map(|number| Line::from(*number as u32))
    }

    /// The targets of all switches in order: for each one its default, then the cases, with
    /// repetitions. A switch's operand is its number of targets.
    pub fn switch_targets(&self) -> impl ExactSizeIterator<Item = u16> + use<'l> {
        self.switch_targets.iter().map(|target| *target as u16)
    }

    /// The exception table, in order.
    pub fn handlers(&self) -> impl ExactSizeIterator<Item = Covered> + use<'l> {
        self.handlers.iter().copied().map(Covered::from)
    }

    /// Returns a point in this method.
    #[must_use]
    pub fn point(&self, location: Location) -> InsertionPoint {
        let method = MethodIndex(self.index);
        InsertionPoint { method, location }
    }
}

/// The undecoded code of one method (JVMS 4.7.3), from a list of many.
#[derive(Debug, Clone, Copy)]
pub struct RawCode<'l> {
    index: u16,
    bytes: &'l [u8],
    line_rows: &'l [[u8; 4]],
    handler_rows: &'l [[u8; 8]],
}

impl<'l> RawCode<'l> {
    /// Takes the next method from the list.
    pub(crate) fn next(list: &mut &'l [u8]) -> Option<Self> {
        let ([i0, i1, h0, h1, c0, c1, c2, c3, lines @ ..], mut rest) =
            list.split_first_chunk::<12>()?;
        let mut take = |count: u32, size: usize| {
            let length = (count as usize).checked_mul(size)?;
            let (bytes, left) = rest.split_at_checked(length)?;
            rest = left;
            Some(bytes)
        };
        let code = Self {
            index: u16::from_be_bytes([*i0, *i1]),
            bytes: take(u32::from_be_bytes([*c0, *c1, *c2, *c3]), 1)?,
            line_rows: take(u32::from_be_bytes(*lines), 4)?.as_chunks().0,
            handler_rows: take(u32::from_be_bytes([0, 0, *h0, *h1]), 8)?.as_chunks().0,
        };
        *list = rest;
        Some(code)
    }

    /// Index of the method.
    #[must_use]
    pub fn index(&self) -> u16 {
        self.index
    }

    /// The code array.
    #[must_use]
    pub fn bytes(&self) -> &'l [u8] {
        self.bytes
    }

    /// The entries of all `LineNumberTable`s in the order of the file (JVMS 4.7.12): bci and line, big-endian.
    #[must_use]
    pub fn line_rows(&self) -> &'l [[u8; 4]] {
        self.line_rows
    }

    /// The entries of the exception table in order: start, end, handler, and the constant pool
    /// index of the caught type, big-endian.
    #[must_use]
    pub fn handler_rows(&self) -> &'l [[u8; 8]] {
        self.handler_rows
    }

    /// Returns a point in this method.
    #[must_use]
    pub fn point(&self, location: Location) -> InsertionPoint {
        let method = MethodIndex(self.index);
        InsertionPoint { method, location }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn list_of_raw_code_is_decoded_method_by_method() {
        let first = [0, 7, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1];
        let second = [0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let contents = [0x00, 0xb1, 0, 0, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0];
        let all = [&first[..], &contents, &second].concat();
        let mut list = &all[..];
        let code = RawCode::next(&mut list).expect("a method");
        assert_eq!((code.index(), code.bytes()), (7, &[0, 0xb1][..]));
        assert_eq!(code.line_rows(), [[0, 0, 0, 3]]);
        assert_eq!(code.handler_rows(), [[0, 0, 0, 1, 0, 1, 0, 0]]);
        let code = RawCode::next(&mut list).expect("another");
        assert_eq!((code.index(), code.bytes().len()), (8, 0));
        assert!(RawCode::next(&mut list).is_none());
        assert!(RawCode::next(&mut &all[..all.len() - 13]).is_none());
    }

    #[test]
    fn numbers_are_decoded_as_the_interface_specifies() {
        let instruction = Instruction {
            bci: 0xfffe,
            opcode: 0xc8,
            operand: -2,
        };
        assert_eq!(Instruction::from(0xffff_fffe_00c8_fffe_u64), instruction);
        assert_eq!(u64::from(instruction), 0xffff_fffe_00c8_fffe_u64);
        let line = Line {
            bci: 3,
            number: 0xffff,
        };
        assert_eq!(Line::from(0xffff_0003_u32), line);
        assert_eq!(u64::from(line), 0xffff_0003);
        let covered = Covered {
            start: 1,
            end: 0xffff,
            target: 2,
        };
        assert_eq!(Covered::from(0x0000_0002_ffff_0001), covered);
    }

    #[test]
    fn list_of_code_is_decoded_method_by_method() {
        let first = [7 | 2 << 16 | 1 << 32, 2 | 1 << 32];
        let contents = [0x00aa_0000 | 2 << 32, 0x00b1_0001, 3 << 16, 5, 6, 9 << 32];
        let second = [8, 0];
        let all = [&first[..], &contents, &second].concat();
        let mut list = &all[..];
        let code = CodeView::next(&mut list).expect("a method");
        let opcodes: Vec<u8> = code.instructions().map(|found| found.opcode).collect();
        assert_eq!((code.index(), opcodes), (7, vec![0xaa, 0xb1]));
        assert_eq!(
            code.instructions().map(|found| found.operand).sum::<i32>(),
            2
        );
        assert!(code.lines().eq([Line { bci: 0, number: 3 }]));
        assert!(code.switch_targets().eq([5, 6]));
        assert!(code.handlers().map(|handler| handler.target).eq([9]));
        let code = CodeView::next(&mut list).expect("another");
        assert_eq!((code.index(), code.instructions().len()), (8, 0));
        assert!(CodeView::next(&mut list).is_none());
    }
}
