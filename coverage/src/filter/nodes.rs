//! A method as a list of nodes: labels and line starts between instructions.
//!
//! Some filters do not treat two instructions as neighbours if a label or line start lies between them. So the list
//! contains these.

use std::borrow::Cow;

use jvms::opcode;

use crate::class::{CodeDescription, Instruction, MemberRef, Operand};

/// One entry of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Node {
    /// The target of a reference.
    Label,
    /// A line starts here.
    Line(u16),
    /// The instruction with this index.
    Instruction(u32),
}

/// The nodes of one method, and the node of each label.
pub(crate) struct Nodes<'a> {
    code: &'a CodeDescription<'a>,
    nodes: Vec<Node>,
    /// The node of the label at each bci, if there is one.
    labels: Vec<u32>,
    /// The nodes of `tableswitch` and `lookupswitch`, in code order.
    switches: Vec<usize>,
    /// A bit for each opcode that occurs.
    opcodes: [u64; 4],
}

const NO_LABEL: u32 = u32::MAX;
const LABEL: u32 = 0;

impl<'a> Nodes<'a> {
    pub(crate) fn new(code: &'a CodeDescription<'a>) -> Self {
        let length = code
            .instructions
            .last()
            .map_or(0, |last| usize::from(last.bci) + 1);
        let mut nodes = Self {
            code,
            nodes: Vec::with_capacity(code.instructions.len() + 2 * code.lines.len()),
            labels: vec![NO_LABEL; length],
            switches: Vec::new(),
            opcodes: [0; 4],
        };
        nodes.mark_labels();
        nodes.list();
        nodes
    }

    fn mark_labels(&mut self) {
        let code = self.code;
        for handler in code.handlers {
            self.mark(handler.start);
            self.mark(handler.end);
            self.mark(handler.target);
        }
        for line in code.lines {
            self.mark(line.bci);
        }
        for &frame in code.frames {
            self.mark(frame);
        }
        for variable in code.local_variables {
            self.mark(variable.start);
            self.mark(variable.start.saturating_add(variable.length));
        }
        for instruction in code.instructions {
            match &instruction.operand {
                Operand::Target(target) => self.mark(*target),
                Operand::Switch { default, cases } => {
                    self.mark(*default);
                    cases.iter().for_each(|&(_, target)| self.mark(target));
                }
                _ => {}
            }
        }
    }

    fn mark(&mut self, bci: u16) {
        if let Some(label) = self.labels.get_mut(usize::from(bci)) {
            *label = LABEL;
        }
    }

    fn list(&mut self) {
        let mut lines = Cow::Borrowed(self.code.lines);
        if !lines.is_sorted_by_key(|line| line.bci) {
            lines.to_mut().sort_by_key(|line| line.bci);
        }
        let mut lines = lines.iter().peekable();
        for (index, instruction) in self.code.instructions.iter().enumerate() {
            self.opcodes[usize::from(instruction.opcode >> 6)] |= 1 << (instruction.opcode & 63);
            let at = usize::from(instruction.bci);
            if self.labels.get(at).is_some_and(|&label| label == LABEL) {
                self.labels[at] = self.nodes.len() as u32;
                self.nodes.push(Node::Label);
            }
            while lines.next_if(|line| line.bci < instruction.bci).is_some() {}
            while let Some(line) = lines.next_if(|line| line.bci == instruction.bci) {
                self.nodes.push(Node::Line(line.number));
            }
            if matches!(instruction.operand, Operand::Switch { .. }) {
                self.switches.push(self.nodes.len());
            }
            self.nodes.push(Node::Instruction(index as u32));
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn get(&self, at: usize) -> Option<Node> {
        self.nodes.get(at).copied()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, Node)> + '_ {
        self.nodes.iter().copied().enumerate()
    }

    /// Returns the nodes of all switches.
    pub(crate) fn switches(&self) -> &[usize] {
        &self.switches
    }

    /// Checks whether the opcode occurs; short and wide forms differ.
    pub(crate) fn has(&self, opcode: u8) -> bool {
        self.opcodes[usize::from(opcode >> 6)] & (1 << (opcode & 63)) != 0
    }

    /// Returns the line of the instruction at this node.
    pub(crate) fn line(&self, at: usize) -> Option<u16> {
        let before = self.nodes.get(..at)?.iter().rev();
        let mut lines = before.filter_map(|node| match node {
            Node::Line(number) => Some(*number),
            _ => None,
        });
        lines.next()
    }

    /// Returns the label at `bci`; `None` if it is not referenced or no instruction starts there.
    pub(crate) fn label(&self, bci: u16) -> Option<usize> {
        let label = *self.labels.get(usize::from(bci))?;
        let node = label as usize;
        (label != NO_LABEL && self.get(node) == Some(Node::Label)).then_some(node)
    }

    /// Returns the instruction at this node.
    pub(crate) fn instruction(&self, at: usize) -> Option<&'a Instruction<'a>> {
        match self.get(at)? {
            Node::Instruction(index) => self.code.instructions.get(index as usize),
            _ => None,
        }
    }

    /// Returns the index of the instruction at this node.
    pub(crate) fn instruction_index(&self, at: usize) -> Option<usize> {
        match self.get(at)? {
            Node::Instruction(index) => Some(index as usize),
            _ => None,
        }
    }

    /// Returns the opcode of the instruction at this node; short and wide forms are normalised.
    pub(crate) fn opcode(&self, at: usize) -> Option<u8> {
        self.instruction(at)
            .map(|instruction| plain(instruction.opcode))
    }

    /// Returns the first instruction at or after this node.
    pub(crate) fn skip_to_instruction(&self, mut at: usize) -> Option<usize> {
        while !matches!(self.get(at)?, Node::Instruction(_)) {
            at += 1;
        }
        Some(at)
    }

    /// Returns the first instruction after this node.
    pub(crate) fn next_instruction(&self, at: usize) -> Option<usize> {
        self.skip_to_instruction(at + 1)
    }

    /// Returns the last instruction before this node.
    pub(crate) fn previous_instruction(&self, at: usize) -> Option<usize> {
        let mut before = self.nodes.get(..at)?.iter();
        before.rposition(|node| matches!(node, Node::Instruction(_)))
    }

    /// Returns the field or method of the instruction at this node.
    pub(crate) fn member(&self, at: usize) -> Option<&'a MemberRef<'a>> {
        match self.instruction(at)?.operand {
            Operand::Member(member) => Some(member),
            _ => None,
        }
    }

    /// Returns the label of the jump at this node.
    pub(crate) fn jump_label(&self, at: usize) -> Option<usize> {
        match self.instruction(at)?.operand {
            Operand::Target(target) => self.label(target),
            _ => None,
        }
    }

    /// Returns the label of the default and of each case of the switch at this node.
    pub(crate) fn switch_labels(&self, at: usize) -> Option<(usize, Vec<usize>)> {
        match &self.instruction(at)?.operand {
            Operand::Switch { default, cases } => Some((
                self.label(*default)?,
                cases
                    .iter()
                    .filter_map(|&(_, target)| self.label(target))
                    .collect(),
            )),
            _ => None,
        }
    }
}

/// Normalises short and wide forms: `aload_0` to `aload`, `ldc_w` to `ldc`, `goto_w` to `goto`.
fn plain(opcode: u8) -> u8 {
    match opcode {
        opcode::LDC_W | opcode::LDC2_W => opcode::LDC,
        opcode::GOTO_W => opcode::GOTO,
        opcode::JSR_W => opcode::JSR,
        _ => opcode::general_form(opcode),
    }
}
