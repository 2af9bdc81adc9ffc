//! The effect of an instruction on the control flow (JVMS 6.5).

use jvms::opcode::{
    ATHROW, GOTO, GOTO_W, IF_ACMPNE, IFEQ, IFNONNULL, IFNULL, INVOKEDYNAMIC, INVOKEVIRTUAL,
    IRETURN, JSR, JSR_W, LOOKUPSWITCH, RET, RETURN, TABLESWITCH,
};

/// The effect of an instruction on the control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InstructionKind {
    /// Falls through to the next instruction.
    Plain,
    /// Calls a method and falls through to the next instruction.
    Invoke,
    /// Jumps or falls through to the next instruction.
    Branch,
    /// Jumps.
    Goto,
    /// `tableswitch`, `lookupswitch`.
    Switch,
    /// `…return`, `athrow`.
    Exit,
    /// `jsr`, `jsr_w`, `ret`.
    Subroutine,
}

static KINDS: [InstructionKind; 256] = {
    let mut table = [InstructionKind::Plain; 256];
    let mut opcode = 0;
    while opcode < table.len() {
        table[opcode] = InstructionKind::classify(opcode as u8);
        opcode += 1;
    }
    table
};

impl InstructionKind {
    /// Returns the kind from a table, because it is needed for every instruction.
    #[inline]
    pub(crate) fn of(opcode: u8) -> Self {
        KINDS[usize::from(opcode)]
    }

    pub(super) const fn classify(opcode: u8) -> Self {
        match opcode {
            IFEQ..=IF_ACMPNE | IFNULL | IFNONNULL => Self::Branch,
            GOTO | GOTO_W => Self::Goto,
            JSR | RET | JSR_W => Self::Subroutine,
            TABLESWITCH | LOOKUPSWITCH => Self::Switch,
            IRETURN..=RETURN | ATHROW => Self::Exit,
            INVOKEVIRTUAL..=INVOKEDYNAMIC => Self::Invoke,
            _ => Self::Plain,
        }
    }

    /// Checks whether the next instruction can be reached by falling through.
    #[inline]
    pub(crate) const fn falls_through(self) -> bool {
        matches!(self, Self::Plain | Self::Invoke | Self::Branch)
    }
}
