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

mod kind;
mod labels;
mod method;

pub(crate) use kind::Kind;
pub(crate) use labels::{Labels, Switches};
pub use method::{FlowHandler, FlowInstruction, FlowLine, FlowMethod, Placement, Subroutine};

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

#[cfg(test)]
mod tests;
