//! The properties of labels, one byte per bci.

use std::collections::HashSet;

use super::instruction_kind::InstructionKind;

/// An instruction starts here.
const START: u8 = 1;
/// The previous instruction, if any, does not fall through.
const CUT: u8 = 2;
/// A line starts here.
const LINE: u8 = 4;
/// The line contains an `invoke…`.
const INVOCATION_LINE: u8 = 8;
/// A jump, a switch, a try start, a handler or the method entry has this target.
const TARGET: u8 = 16;
/// At least two of them have this target: a second [`TARGET`].
const AGAIN: u8 = TARGET << 1;
/// The current switch has this target.
const VISITED: u8 = 64;
/// An instruction that jumps or ends the method.
const LEAVES: u8 = 128;

/// A label without any of these flags has no probe, neither before it nor on it.
const CANDIDATE: u64 = u64::from_ne_bytes([TARGET | INVOCATION_LINE | LEAVES; 8]);

/// The properties of one label.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Label(u8);

impl Label {
    /// Checks whether the previous instruction can fall through to it.
    #[inline]
    pub(crate) fn is_successor(self) -> bool {
        self.0 & (START | CUT) == START
    }

    /// Checks whether several ways lead to it.
    #[inline]
    pub(crate) fn is_multitarget(self) -> bool {
        self.0 & AGAIN != 0 || (self.0 & TARGET != 0 && self.is_successor())
    }

    /// Checks whether a jump, a switch, a try start, a handler or the method entry has it as target.
    #[inline]
    pub(crate) fn is_target(self) -> bool {
        self.0 & TARGET != 0
    }

    /// Checks whether it requires a probe before it.
    #[inline]
    pub(crate) fn needs_probe(self) -> bool {
        self.is_successor() && self.0 & (TARGET | INVOCATION_LINE) != 0
    }

    /// Checks whether an instruction starts here.
    #[inline]
    pub(crate) fn begins(self) -> bool {
        self.0 & START != 0
    }

    /// Checks for an instruction that jumps or ends the method.
    #[inline]
    pub(super) fn leaves(self) -> bool {
        self.0 & LEAVES != 0
    }
}

/// The properties of all labels of one method.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    flags: Vec<u8>,
}

impl Labels {
    /// Starts a method whose instructions start below `length`; lines must be marked before instructions.
    pub(crate) fn begin(&mut self, length: usize) -> Marking<'_> {
        self.flags.clear();
        self.flags.resize(length, 0);
        let mut marking = Marking {
            flags: &mut self.flags,
            cut: CUT,
            line: usize::MAX,
        };
        // The method entry.
        marking.target(0);
        marking
    }

    /// Returns the properties of the label at `bci`.
    #[inline]
    pub(crate) fn at(&self, bci: u16) -> Label {
        Label(self.flags.get(usize::from(bci)).copied().unwrap_or(0))
    }

    /// Returns the bci of the instruction before the one at `bci`.
    pub(super) fn previous(&self, bci: u16) -> u16 {
        let mut before = (0..bci).rev();
        let start = before.find(|bci| self.at(*bci).0 & START != 0);
        start.unwrap_or_default()
    }

    /// Returns a byte for each of the eight labels from `from` on: 0 if the label cannot have probes. `None` after
    /// the end.
    #[inline]
    pub(super) fn candidates(&self, from: usize) -> Option<u64> {
        let rest = self.flags.get(from..).filter(|rest| !rest.is_empty())?;
        let eight = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut eight = [0; 8];
            eight
                .iter_mut()
                .zip(rest)
                .for_each(|(to, from)| *to = *from);
            eight
        });
        Some(u64::from_le_bytes(eight) & CANDIDATE)
    }

    /// Pairs the branches of a `switch` with their labels. Branches are numbered by their labels, or by their cases
    /// if one of them has a probe.
    pub(crate) fn switch_branches(
        &self,
        targets: impl Iterator<Item = u16> + Clone,
    ) -> Vec<(u32, u16)> {
        let by_case = targets
            .clone()
            .any(|target| self.at(target).is_multitarget());
        let (mut seen, mut branches) = (HashSet::new(), Vec::new());
        for (case, target) in targets.enumerate() {
            let branch = if by_case { case } else { seen.len() };
            if seen.insert(target) {
                branches.push((branch as u32, target));
            }
        }
        branches
    }

    /// Returns the instructions at line starts.
    pub(crate) fn line_starts(&self) -> impl Iterator<Item = u16> {
        const BOTH: u8 = START | LINE;
        let all = self.flags.iter().zip(0..=u16::MAX);
        all.filter_map(|(flags, bci)| (*flags & BOTH == BOTH).then_some(bci))
    }

    /// Returns `true` on the first call for this label since [`clear_visits`](Self::clear_visits).
    pub(crate) fn first_visit(&mut self, bci: u16) -> bool {
        first_visit(&mut self.flags, bci)
    }

    pub(crate) fn clear_visits(&mut self, targets: impl Iterator<Item = u16>) {
        clear_visits(&mut self.flags, targets);
    }
}

#[inline]
fn first_visit(flags: &mut [u8], bci: u16) -> bool {
    let Some(flags) = flags.get_mut(usize::from(bci)) else {
        return true;
    };
    let first = *flags & VISITED == 0;
    *flags |= VISITED;
    first
}

fn clear_visits(flags: &mut [u8], targets: impl Iterator<Item = u16>) {
    for target in targets {
        if let Some(flags) = flags.get_mut(usize::from(target)) {
            *flags &= !VISITED;
        }
    }
}

/// Marks the labels of a method.
pub(crate) struct Marking<'l> {
    flags: &'l mut [u8],
    /// The [`CUT`] flag for the next instruction.
    cut: u8,
    /// Start of the line of the last instruction.
    line: usize,
}

impl Marking<'_> {
    /// Marks the start of a line with a number other than 0.
    #[inline]
    pub(crate) fn line(&mut self, bci: u16) {
        self.set(usize::from(bci), LINE);
    }

    /// Marks `bci` as a target, from elsewhere than the previous instruction.
    #[inline]
    pub(crate) fn target(&mut self, bci: u16) {
        if let Some(flags) = self.flags.get_mut(usize::from(bci)) {
            *flags |= TARGET | (*flags & TARGET) << 1;
        }
    }

    /// Checks whether one of the marked instructions starts at `bci`.
    pub(super) fn begins(&self, bci: u16) -> bool {
        let flags = self.flags.get(usize::from(bci)).copied();
        Label(flags.unwrap_or(0)).begins()
    }

    /// Marks all targets of one switch; each counts once.
    pub(crate) fn switch(&mut self, targets: impl Iterator<Item = u16> + Clone) {
        for target in targets.clone() {
            if first_visit(self.flags, target) {
                self.target(target);
            }
        }
        clear_visits(self.flags, targets);
    }

    /// Marks the next instruction, in code order.
    #[inline(always)]
    pub(crate) fn instruction(&mut self, bci: usize, kind: InstructionKind) {
        if let Some(flags) = self.flags.get_mut(bci) {
            *flags |= START | self.cut;
            if *flags & LINE != 0 {
                self.line = bci;
            }
        }
        self.cut = if kind.falls_through() { 0 } else { CUT };
        match kind {
            InstructionKind::Plain | InstructionKind::Subroutine => {}
            InstructionKind::Invoke => self.set(self.line, INVOCATION_LINE),
            InstructionKind::Branch
            | InstructionKind::Goto
            | InstructionKind::Switch
            | InstructionKind::Exit => self.set(bci, LEAVES),
        }
    }

    #[inline]
    fn set(&mut self, bci: usize, bits: u8) {
        if let Some(flags) = self.flags.get_mut(bci) {
            *flags |= bits;
        }
    }
}
