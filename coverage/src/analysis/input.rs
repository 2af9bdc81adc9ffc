//! A described method as input of the flow.

use crate::class::{CodeDescription, Operand};
use crate::flow::{FlowHandler, FlowInstruction, FlowLine, FlowMethod};

/// Buffers that are filled for one method after the other.
#[derive(Debug, Default)]
pub(super) struct FlowInput {
    instructions: Vec<FlowInstruction>,
    switch_targets: Vec<u16>,
    switch_lengths: Vec<u32>,
    lines: Vec<FlowLine>,
    handlers: Vec<FlowHandler>,
}

impl FlowInput {
    /// The flow of `code`.
    pub(super) fn of(&mut self, code: &CodeDescription) -> FlowMethod<'_> {
        self.clear();
        for instruction in &code.instructions {
            let target = match &instruction.operand {
                Operand::Target(target) => *target,
                Operand::Switch { default, cases } => {
                    self.switch_targets.push(*default);
                    self.switch_targets
                        .extend(cases.iter().map(|&(_, target)| target));
                    self.switch_lengths.push(cases.len() as u32 + 1);
                    0
                }
                _ => 0,
            };
            self.instructions.push(FlowInstruction {
                bci: instruction.bci,
                opcode: instruction.opcode,
                target,
            });
        }
        self.lines.extend(code.lines.iter().map(|line| FlowLine {
            bci: line.bci,
            number: line.number,
        }));
        self.handlers
            .extend(code.handlers.iter().map(|handler| FlowHandler {
                start: handler.start,
                target: handler.target,
            }));
        FlowMethod {
            instructions: &self.instructions,
            switch_targets: &self.switch_targets,
            switch_lengths: &self.switch_lengths,
            lines: &self.lines,
            handlers: &self.handlers,
        }
    }

    fn clear(&mut self) {
        self.instructions.clear();
        self.switch_targets.clear();
        self.switch_lengths.clear();
        self.lines.clear();
        self.handlers.clear();
    }
}
