//! Places and numbers probes as JaCoCo does.
//!
//! A *label* is a bci. The flow determines four properties of each label:
//!
//! | property | when |
//! |---|---|
//! | target | a jump, a switch (once per switch), a try start, a handler or the method entry leads there |
//! | multitarget | a second target, or a target that the previous instruction also falls through to |
//! | successor | the previous instruction can fall through to it |
//! | invocation line | a line starts there that contains an `invoke…` |
//!
//! Probes are placed before a label that is a successor and (a multitarget or an invocation line), before every
//! `…return` and `athrow`, and on every jump to a multitarget label. They are numbered in code order; on a switch the
//! default comes first, then the cases in order.
//!
//! The returns of an inlined subroutine lead to a separate label: no jump has it as its target, and no instruction
//! falls through to it.

mod code;
mod instruction_kind;
mod labels;
mod method;

pub(crate) use code::return_label;
pub(crate) use instruction_kind::InstructionKind;
pub(crate) use labels::Labels;
pub use method::{FlowMethod, Placement, Subroutine, Unplaced};

/// Places probes; reuses its buffers for all methods.
#[derive(Debug, Default)]
pub struct Flow {
    labels: Labels,
    placements: Vec<Placement>,
}

impl Flow {
    /// Creates empty buffers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the probes of `method` in the order of their numbers.
    ///
    /// # Errors
    /// If the method contains `jsr`, `jsr_w` or `ret`, or cannot be decoded.
    pub fn place(&mut self, method: &FlowMethod<'_>) -> Result<&[Placement], Unplaced> {
        let mut marking = self.labels.begin(method.code.len());
        code::mark_tables(method, &mut marking);
        code::mark(method.code, marking)?;
        self.placements.clear();
        emit(&mut self.labels, method.code, &mut self.placements);
        Ok(&self.placements)
    }

    /// Returns the bcis of line starts of the last placed method. A probe before each distinguishes lines that ended
    /// with an exception from lines that were not reached; JaCoCo's probes do not.
    pub fn line_starts(&self) -> impl Iterator<Item = u16> {
        self.labels.line_starts()
    }
}

/// Processes eight bcis at a time, because most have no probe.
fn emit(labels: &mut Labels, code: &[u8], out: &mut Vec<Placement>) {
    let mut from = 0;
    while let Some(mut candidates) = labels.candidates(from) {
        while candidates != 0 {
            let index = candidates.trailing_zeros() / 8;
            candidates &= !(0xFF << (index * 8));
            emit_at(labels, code, from + index as usize, out);
        }
        from += 8;
    }
}

fn emit_at(labels: &mut Labels, code: &[u8], at: usize, out: &mut Vec<Placement>) {
    let bci = at as u16;
    let label = labels.at(bci);
    if label.needs_probe() {
        out.push(Placement::FallThrough(labels.previous(bci)));
    }
    if !label.leaves() {
        return;
    }
    match code.get(at).map_or(InstructionKind::Plain, |opcode| {
        InstructionKind::of(*opcode)
    }) {
        InstructionKind::Plain | InstructionKind::Invoke | InstructionKind::Subroutine => {}
        InstructionKind::Exit => out.push(Placement::Before(bci)),
        InstructionKind::Goto | InstructionKind::Branch => {
            let target = code::jump_target(code, at);
            let begins = |bci| labels.at(bci).begins();
            let label = |target: &u16| labels.at(code::jump_label(code, at, *target, begins));
            if let Some(target) = target.filter(|target| label(target).is_multitarget()) {
                let source = bci;
                out.push(Placement::Jump { source, target });
            }
        }
        InstructionKind::Switch => emit_switch(labels, bci, code::switch_targets(code, at), out),
    }
}

fn emit_switch(
    labels: &mut Labels,
    source: u16,
    targets: impl Iterator<Item = u16> + Clone,
    out: &mut Vec<Placement>,
) {
    for target in targets.clone() {
        if labels.at(target).is_multitarget() && labels.first_visit(target) {
            out.push(Placement::Jump { source, target });
        }
    }
    labels.clear_visits(targets);
}

#[cfg(test)]
mod tests;
