//! What travels as plain numbers (`wit/plugin.wit`), taken apart.

/// An instruction (JVMS 6.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Instruction {
    /// Where it begins in the original code array.
    pub bci: u16,
    /// Its opcode; after `wide` the inner one.
    pub opcode: u8,
    /// Local variable, immediate value, constant pool index or absolute target bci; 0 if none.
    pub operand: i32,
}

/// An entry of the `LineNumberTable` (JVMS 4.7.12).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Where the line's code begins.
    pub bci: u16,
    /// The number of the line.
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

impl From<u32> for Line {
    fn from(number: u32) -> Self {
        Self {
            bci: number as u16,
            number: (number >> 16) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_apart_as_the_interface_says() {
        let instruction = Instruction {
            bci: 0xfffe,
            opcode: 0xc8,
            operand: -2,
        };
        assert_eq!(Instruction::from(0xffff_fffe_00c8_fffe_u64), instruction);
        let line = Line {
            bci: 3,
            number: 0xffff,
        };
        assert_eq!(Line::from(0xffff_0003_u32), line);
    }
}
