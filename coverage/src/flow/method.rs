//! A method as input of the flow, and the places of its probes.

/// One method, as in its class file.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlowMethod<'a> {
    /// The code array (JVMS 4.7.3).
    pub code: &'a [u8],
    /// The entries of all its `LineNumberTable`s, in any order (JVMS 4.7.12): bci and line number. Number 0 is
    /// ignored.
    pub lines: &'a [[u8; 4]],
    /// The entries of its exception table (JVMS 4.7.3): start, end, handler, and catch type.
    pub handlers: &'a [[u8; 8]],
}

/// The place of one probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// After the instruction, if it completes normally.
    FallThrough(u16),
    /// Before the instruction: a `…return` or `athrow`.
    Before(u16),
    /// On the jump from `source` to `target`.
    Jump {
        /// Bci of the jump or switch.
        source: u16,
        /// Bci of the target.
        target: u16,
    },
}

/// The reason why a method gets no probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unplaced {
    /// It has a subroutine.
    #[error(transparent)]
    Subroutine(#[from] Subroutine),
    /// Its code is invalid.
    #[error("expected an instruction with its operands, found opcode {opcode} at bci {bci}")]
    NoInstruction {
        /// Bci of the invalid instruction.
        bci: u16,
        /// Opcode at this bci.
        opcode: u8,
    },
}

/// The method has a subroutine (`jsr`, `ret`; JVMS 6.5), which class file versions above 50 forbid. Such methods get
/// no probes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a method without subroutines, found opcode {opcode} (jsr, jsr_w or ret) at bci {bci}"
)]
pub struct Subroutine {
    /// Bci of the instruction.
    pub bci: u16,
    /// Its opcode.
    pub opcode: u8,
}
