//! Where probes belong and how they are numbered: JaCoCo's placement.
//!
//! A *label* is a bci. For each label the flow knows four properties:
//!
//! | property | when |
//! |---|---|
//! | target | a jump, a switch (once per switch), a try start, a handler or the method entry leads there |
//! | multitarget | a second target, or a target that the previous instruction also falls into |
//! | successor | the previous instruction can fall into it |
//! | invocation line | a line starts there that contains an `invoke…` |
//!
//! Probes stand in front of a label that is a successor and (a multitarget or
//! an invocation line), in front of every `…return` and `athrow`, and on every
//! jump to a multitarget label. They are numbered in the order of the code;
//! on a switch the default comes first, then the cases in order.

/// One instruction as the flow sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowInstruction {
    /// Index of the instruction in the code array.
    pub bci: u16,
    /// Opcode; that of the inner instruction for a `wide`.
    pub opcode: u8,
    /// The bci of the target for a jump; not looked at otherwise.
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

/// Places probes; keeps its buffers from one method to the next.
#[derive(Debug, Default)]
pub struct Flow {
    labels: Labels,
    placements: Vec<Placement>,
}

impl Flow {
    /// Empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The probes of `method` in the order of their numbers.
    ///
    /// # Errors
    /// [`Subroutine`] if the method contains `jsr`, `jsr_w` or `ret`.
    pub fn place(&mut self, method: &FlowMethod<'_>) -> Result<&[Placement], Subroutine> {
        self.labels.mark(method)?;
        self.placements.clear();
        emit(&mut self.labels, method, &mut self.placements);
        Ok(&self.placements)
    }
}

/// [`Flow::place`] for a single method.
///
/// # Errors
/// [`Subroutine`] if the method contains `jsr`, `jsr_w` or `ret`.
pub fn place_probes(method: &FlowMethod<'_>) -> Result<Vec<Placement>, Subroutine> {
    let mut flow = Flow::new();
    flow.place(method)?;
    Ok(flow.placements)
}

fn emit(labels: &mut Labels, method: &FlowMethod<'_>, out: &mut Vec<Placement>) {
    let mut switches = Switches::new(method);
    let mut previous = 0;
    for at in method.instructions {
        if labels.needs_probe(at.bci) {
            out.push(Placement::FallThrough(previous));
        }
        previous = at.bci;
        match Kind::of(at.opcode) {
            Kind::Plain | Kind::Invoke | Kind::Subroutine => {}
            Kind::Exit => out.push(Placement::Before(at.bci)),
            Kind::Goto | Kind::Branch => {
                if labels.is_multitarget(at.target) {
                    out.push(Placement::Jump {
                        source: at.bci,
                        target: at.target,
                    });
                }
            }
            Kind::Switch => emit_switch(labels, at.bci, switches.advance(), out),
        }
    }
}

fn emit_switch(labels: &mut Labels, source: u16, targets: &[u16], out: &mut Vec<Placement>) {
    for &target in targets {
        if labels.is_multitarget(target) && labels.first_visit(target) {
            out.push(Placement::Jump { source, target });
        }
    }
    labels.forget_visits(targets);
}

mod labels;
mod opcode;

pub(crate) use labels::Labels;
pub(crate) use labels::Switches;
pub(crate) use opcode::Kind;

#[cfg(test)]
mod tests;
