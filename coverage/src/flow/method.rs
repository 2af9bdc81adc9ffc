//! A method as the flow sees it, and where its probes belong.

/// One method, as a class file has it.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlowMethod<'a> {
    /// The code array (JVMS 4.7.3).
    pub code: &'a [u8],
    /// The entries of all its `LineNumberTable`s, in any order (JVMS 4.7.12): bci
    /// and line number, which is ignored if it is 0.
    pub lines: &'a [[u8; 4]],
    /// The entries of its exception table (JVMS 4.7.3): start, end, handler, and
    /// what is caught.
    pub handlers: &'a [[u8; 8]],
}

/// Where one probe belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Behind the instruction, only when it completes into the next one.
    FallThrough(u16),
    /// In front of the instruction: a `…return` or `athrow`.
    Before(u16),
    /// On the jump from `source` to `target`.
    Jump {
        /// Bci of the jump or switch.
        source: u16,
        /// Bci it leads to.
        target: u16,
    },
}

/// Why a method gets no probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unplaced {
    /// It has a subroutine.
    #[error(transparent)]
    Subroutine(#[from] Subroutine),
    /// Its code is none.
    #[error("expected an instruction with its operands, found opcode {opcode} at bci {bci}")]
    NoInstruction {
        /// Where it is.
        bci: u16,
        /// What is there.
        opcode: u8,
    },
}

/// The method has a subroutine (`jsr`, `ret`; JVMS 6.5), which class files
/// newer than version 50 cannot have; such methods get no probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a method without subroutines, found opcode {opcode} (jsr, jsr_w or ret) at bci {bci}"
)]
pub struct Subroutine {
    /// Where the instruction is.
    pub bci: u16,
    /// Its opcode.
    pub opcode: u8,
}
