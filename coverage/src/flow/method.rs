//! The control flow of a method, and where its probes belong.

/// One instruction as the flow sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowInstruction {
    /// Index of the instruction in the code array.
    pub bci: u16,
    /// Opcode; that of the inner instruction for a `wide`.
    pub opcode: u8,
    /// The bci of the target for a jump; ignored otherwise.
    pub target: u16,
}

/// A source line: where it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowLine {
    /// First bci of the line.
    pub bci: u16,
    /// Line number; 0 is ignored.
    pub number: u16,
}

/// A row of the exception table: its range's first bci and its handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowHandler {
    /// First bci of the protected range.
    pub start: u16,
    /// First bci of the handler.
    pub target: u16,
}

/// The control flow of one method, borrowed from whoever read it.
#[derive(Debug, Clone, Copy, Default)]
pub struct FlowMethod<'a> {
    /// All instructions in order of their bcis.
    pub instructions: &'a [FlowInstruction],
    /// The targets of all switches, one switch after the other in the order of
    /// the code; in each the default first, then the cases in order.
    pub switch_targets: &'a [u16],
    /// How many of `switch_targets` belong to each switch.
    pub switch_lengths: &'a [u32],
    /// The line table, in any order.
    pub lines: &'a [FlowLine],
    /// The exception table.
    pub handlers: &'a [FlowHandler],
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
