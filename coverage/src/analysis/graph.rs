//! The instructions of a method with their branches.

use std::iter::repeat;

use super::input::{label, targets};
use crate::class::{CodeDescription, Constant, Instruction, Operand};
use crate::filter::{FilterOutput, Node, Nodes};
use crate::flow::{InstructionKind, Labels};
use crate::model::{Branch, Counter, LineCoverage, MethodCoverage, Outcome};
use jvms::opcode;

/// A set of branch numbers.
#[derive(Debug, Clone, Default)]
struct Branches {
    low: u64,
    /// The numbers from 64 on.
    #[expect(
        clippy::box_collection,
        reason = "hardly any instruction has them, and each has space for this"
    )]
    high: Option<Box<Vec<u64>>>,
}

impl Branches {
    fn set(&mut self, branch: u32) {
        if branch < 64 {
            self.low |= 1 << branch;
            return;
        }
        let word = branch as usize / 64 - 1;
        let high = self.high.get_or_insert_default();
        if high.len() <= word {
            high.resize(word + 1, 0);
        }
        high[word] |= 1 << (branch % 64);
    }

    fn has(&self, branch: u32) -> bool {
        let word = match branch / 64 {
            0 => Some(&self.low),
            word => self.high().get(word as usize - 1),
        };
        word.is_some_and(|word| word & (1 << (branch % 64)) != 0)
    }

    fn high(&self) -> &[u64] {
        self.high.as_deref().map_or(&[], Vec::as_slice)
    }

    fn is_empty(&self) -> bool {
        self.low == 0 && self.high.is_none()
    }

    /// Iterates over the numbers in ascending order.
    fn iter(&self) -> impl Iterator<Item = u32> {
        let words = std::iter::once(&self.low).chain(self.high());
        let words = words.zip((0..).step_by(64));
        words.flat_map(|(word, first)| {
            let bits = (0..64).filter(move |bit| word & (1 << bit) != 0);
            bits.map(move |bit| first + bit)
        })
    }

    fn len(&self) -> u32 {
        let high = self.high().iter().map(|word| word.count_ones());
        self.low.count_ones() + high.sum::<u32>()
    }

    fn add(&mut self, other: &Self) {
        self.low |= other.low;
        if other.high.is_none() {
            return;
        }
        let high = self.high.get_or_insert_default();
        if high.len() < other.high().len() {
            high.resize(other.high().len(), 0);
        }
        for (word, other) in high.iter_mut().zip(other.high()) {
            *word |= other;
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Covered {
    line: Option<u16>,
    branches: u32,
    /// The numbers of the branches; a switch may skip some.
    numbers: Branches,
    covered: Branches,
    /// The instruction was started, with or without a result.
    begun: bool,
    /// The instruction, and its branch, that leads here without a probe.
    predecessor: Option<(u32, u32)>,
}

impl Covered {
    fn is_executed(&self) -> bool {
        self.begun || !self.covered.is_empty()
    }
}

/// All instructions of a method.
pub(super) struct Graph<'a> {
    code: &'a CodeDescription<'a>,
    instructions: Vec<Covered>,
}

/// State of the traversal of the code.
struct Walk<'w> {
    labels: &'w Labels,
    probes: Option<&'w [bool]>,
    next_probe: usize,
    /// The instruction that falls through to the next one without a probe.
    current: Option<usize>,
    jumps: Vec<(usize, u32, u16)>,
}

impl Walk<'_> {
    fn take_probe(&mut self) -> bool {
        let hit = self
            .probes
            .and_then(|probes| probes.get(self.next_probe))
            .copied();
        self.next_probe += 1;
        hit.unwrap_or_default()
    }
}

impl<'a> Graph<'a> {
    pub(super) fn new(code: &'a CodeDescription<'a>) -> Self {
        Self {
            code,
            instructions: vec![Covered::default(); code.instructions.len()],
        }
    }

    /// Connects the instructions and covers those of the hit `probes`. Returns the probe number after the last one of
    /// this method.
    pub(super) fn walk(
        &mut self,
        nodes: &Nodes<'_>,
        labels: &Labels,
        probes: Option<&[bool]>,
        next_probe: usize,
    ) -> usize {
        let mut walk = Walk {
            labels,
            probes,
            next_probe,
            current: None,
            jumps: Vec::new(),
        };
        let mut line = None;
        for (at, node) in nodes.iter() {
            match node {
                Node::Label => self.visit_label(nodes, at, &mut walk),
                Node::Line(number) => line = Some(number),
                Node::Instruction(index) => {
                    let index = index as usize;
                    self.instructions[index].line = line;
                    if let Some(previous) = walk.current {
                        self.connect(previous, 0, index);
                    }
                    walk.current = Some(index);
                    self.visit_branches(index, &mut walk);
                }
            }
        }
        for (source, branch, target) in std::mem::take(&mut walk.jumps) {
            let target = self
                .code
                .instructions
                .binary_search_by_key(&target, |at| at.bci);
            if let Ok(target) = target {
                self.connect(source, branch, target);
            }
        }
        walk.next_probe
    }

    fn visit_label(&mut self, nodes: &Nodes<'_>, at: usize, walk: &mut Walk<'_>) {
        let following = nodes
            .skip_to_instruction(at)
            .and_then(|at| nodes.instruction(at));
        let Some(bci) = following.map(|instruction| instruction.bci) else {
            return;
        };
        if walk.labels.at(bci).needs_probe() {
            let hit = walk.take_probe();
            if let Some(previous) = walk.current.take() {
                self.probe(previous, 0, hit);
            }
        }
        if !walk.labels.at(bci).is_successor() {
            walk.current = None;
        }
    }

    fn visit_branches(&mut self, index: usize, walk: &mut Walk<'_>) {
        let code = self.code;
        let instruction = &code.instructions[index];
        match (
            InstructionKind::of(instruction.opcode),
            &instruction.operand,
        ) {
            (InstructionKind::Exit, _) => {
                let hit = walk.take_probe();
                self.probe(index, 0, hit);
            }
            (InstructionKind::Branch | InstructionKind::Goto, Operand::Target(target)) => {
                let label = label(code, (instruction.bci, instruction.opcode), *target);
                if walk.labels.at(label).is_multitarget() {
                    let hit = walk.take_probe();
                    self.probe(index, 1, hit);
                } else {
                    walk.jumps.push((index, 1, *target));
                }
            }
            (InstructionKind::Switch, Operand::Switch { default, cases }) => {
                self.visit_switch(index, targets(*default, cases), walk);
            }
            _ => {}
        }
    }

    fn visit_switch(
        &mut self,
        index: usize,
        targets: impl Iterator<Item = u16> + Clone,
        walk: &mut Walk<'_>,
    ) {
        for (branch, target) in walk.labels.switch_branches(targets) {
            if walk.labels.at(target).is_multitarget() {
                let hit = walk.take_probe();
                self.probe(index, branch, hit);
            } else {
                walk.jumps.push((index, branch, target));
            }
        }
    }

    fn connect(&mut self, source: usize, branch: u32, target: usize) {
        self.instructions[source].branches += 1;
        self.instructions[source].numbers.set(branch);
        self.instructions[target].predecessor = Some((source as u32, branch));
        if !self.instructions[target].covered.is_empty() {
            self.cover(source, branch);
        }
    }

    fn probe(&mut self, at: usize, branch: u32, hit: bool) {
        self.instructions[at].branches += 1;
        self.instructions[at].numbers.set(branch);
        if hit {
            self.cover(at, branch);
        }
    }

    /// Covers a branch, and its predecessors that are not covered yet.
    fn cover(&mut self, at: usize, branch: u32) {
        let mut next = Some((at, branch));
        while let Some((at, branch)) = next {
            let instruction = &mut self.instructions[at];
            let first = instruction.covered.is_empty();
            instruction.covered.set(branch);
            let before = instruction.predecessor.filter(|_| first);
            next = before.map(|(at, branch)| (at as usize, branch));
        }
    }

    /// Covers the code that must have run if the line at `bci` was started: its predecessors, and from there on all
    /// up to the next probe or the first instruction that may not have completed.
    pub(super) fn begin_line(&mut self, bci: u16, labels: &Labels) {
        let code = self.code;
        let Ok(first) = code.instructions.binary_search_by_key(&bci, |at| at.bci) else {
            return;
        };
        if let Some((source, branch)) = self.instructions[first].predecessor {
            self.cover(source as usize, branch);
        }
        let rest = self.instructions.iter_mut().zip(code.instructions);
        for (at, instruction) in rest.skip(first) {
            let is_behind_probe =
                instruction.bci != bci && labels.at(instruction.bci).needs_probe();
            if at.is_executed() || is_behind_probe {
                return; // the rest is known already
            }
            at.begun = true;
            if !completes(instruction) {
                return;
            }
        }
    }

    /// Marks all copies of a covered instruction as covered.
    pub(super) fn merge(&mut self, output: &FilterOutput) {
        for (copy, of) in output.merges() {
            let Covered { covered, begun, .. } = self.instructions[copy].clone();
            self.instructions[of].covered.add(&covered);
            self.instructions[of].begun |= begun;
        }
        for (copy, of) in output.merges() {
            self.instructions[copy] = self.instructions[of].clone();
        }
    }

    /// Replaces branches of instructions by those of others.
    pub(super) fn replace_branches(&mut self, output: &FilterOutput) {
        for (of, by) in output.replacements() {
            let (mut covered, mut numbers) = (Branches::default(), Branches::default());
            let mut branches = 0;
            for stands_for in by.branches() {
                if stands_for
                    .iter()
                    .any(|&(at, branch)| self.instructions[at].covered.has(branch))
                {
                    covered.set(branches);
                }
                numbers.set(branches);
                branches += 1;
            }
            let instruction = &mut self.instructions[*of];
            instruction.branches = branches;
            instruction.covered = covered;
            instruction.numbers = numbers;
        }
    }

    /// Iterates over the line and execution status of each instruction.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u32, bool)> {
        let instructions = self.instructions.iter();
        instructions.filter_map(|instruction| {
            let line = u32::from(instruction.line?);
            Some((line, instruction.is_executed()))
        })
    }

    /// Counts the instructions that no filter left out; consecutive ones of a line are one run. `outcomes` returns
    /// the outcomes of the branches of an instruction.
    pub(super) fn count(
        &self,
        output: &FilterOutput,
        outcomes: impl Fn(usize) -> Vec<Outcome>,
        coverage: &mut MethodCoverage,
    ) {
        let (mut line, mut run) = (None, LineCoverage::default());
        for (index, instruction) in self.instructions.iter().enumerate() {
            if output.is_ignored(index) {
                continue;
            }
            if line != instruction.line {
                coverage.add_run(line.map(u32::from), std::mem::take(&mut run));
                line = instruction.line;
            }
            match instruction.is_executed() {
                true => run.instructions.covered += 1,
                false => run.instructions.missed += 1,
            }
            if instruction.branches > 1 {
                let covered = instruction.covered.len();
                let branches = Counter::new(instruction.branches.saturating_sub(covered), covered);
                run.branches += branches;
                coverage.add_decision(branches);
                if let Some(line) = line {
                    let branches = named(instruction, outcomes(index));
                    coverage.decide(u32::from(line), branches);
                }
            }
        }
        coverage.add_run(line.map(u32::from), run);
    }
}

/// Pairs the branches of an instruction, in the order of their numbers, with outcomes.
fn named(instruction: &Covered, outcomes: Vec<Outcome>) -> impl Iterator<Item = Branch> {
    let outcomes = outcomes.into_iter().chain(repeat(Outcome::Unknown));
    let numbers = instruction.numbers.iter().zip(outcomes);
    numbers.map(|(number, outcome)| Branch {
        taken: instruction.covered.has(number),
        outcome,
    })
}

/// Checks whether an executed instruction always continues at the next one: it neither branches nor throws (JVMS
/// 6.5).
fn completes(instruction: &Instruction<'_>) -> bool {
    match instruction.opcode {
        opcode::NOP..=opcode::SIPUSH
        | opcode::ILOAD..=opcode::ALOAD_3
        | opcode::ISTORE..=opcode::ASTORE_3
        | opcode::POP..=opcode::SWAP
        | opcode::IADD..=opcode::DMUL
        | opcode::FDIV
        | opcode::DDIV
        | opcode::FREM
        | opcode::DREM
        | opcode::INEG..=opcode::DCMPG => true,
        opcode::LDC..=opcode::LDC2_W => matches!(
            &instruction.operand,
            Operand::Constant(
                Constant::Int(_)
                    | Constant::Long(_)
                    | Constant::Float(_)
                    | Constant::Double(_)
                    | Constant::String(_)
            )
        ),
        _ => false,
    }
}
