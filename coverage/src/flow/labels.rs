//! The properties of labels, one byte per bci.

use super::kind::Kind;
use super::method::{FlowMethod, Subroutine};

const TARGET: u8 = 1;
const MULTITARGET: u8 = 2;
const SUCCESSOR: u8 = 4;
const LINE_START: u8 = 8;
const INVOCATION_LINE: u8 = 16;
const VISITED: u8 = 32;

/// The properties of all labels of one method.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    flags: Vec<u8>,
}

impl Labels {
    /// Finds the properties of all labels of `method`.
    pub(crate) fn mark(&mut self, method: &FlowMethod<'_>) -> Result<(), Subroutine> {
        let length = method
            .instructions
            .last()
            .map_or(0, |last| usize::from(last.bci) + 1);
        self.flags.clear();
        self.flags.resize(length, 0);
        for handler in method.handlers {
            self.set_target(handler.start);
            self.set_target(handler.target);
        }
        for line in method.lines.iter().filter(|line| line.number != 0) {
            self.set(line.bci, LINE_START);
        }
        self.mark_instructions(method)
    }

    fn mark_instructions(&mut self, method: &FlowMethod<'_>) -> Result<(), Subroutine> {
        let mut switches = Switches::new(method);
        let mut line_start = None;
        let mut successor = false;
        if let Some(first) = method.instructions.first() {
            self.set_target(first.bci);
        }
        for at in method.instructions {
            if let Some(flags) = self.flags.get_mut(usize::from(at.bci)) {
                if successor {
                    *flags |= succeeding(*flags);
                }
                if *flags & LINE_START != 0 {
                    line_start = Some(at.bci);
                }
            }
            let kind = Kind::of(at.opcode);
            successor = kind.falls_through();
            match kind {
                Kind::Plain | Kind::Exit => {}
                Kind::Invoke => {
                    if let Some(start) = line_start {
                        self.set(start, INVOCATION_LINE);
                    }
                }
                Kind::Branch | Kind::Goto => self.set_target(at.target),
                Kind::Switch => self.set_switch_targets(switches.advance()),
                Kind::Subroutine => {
                    return Err(Subroutine {
                        bci: at.bci,
                        opcode: at.opcode,
                    });
                }
            }
        }
        Ok(())
    }

    fn set_switch_targets(&mut self, targets: &[u16]) {
        for &target in targets {
            if self.first_visit(target) {
                self.set_target(target);
            }
        }
        self.forget_visits(targets);
    }

    #[inline]
    fn set_target(&mut self, bci: u16) {
        let again = self.has(bci, TARGET | SUCCESSOR);
        self.set(bci, if again { MULTITARGET } else { TARGET });
    }

    /// More than one way leads to this label.
    pub(crate) fn is_multitarget(&self, bci: u16) -> bool {
        self.has(bci, MULTITARGET)
    }

    /// The previous instruction can fall into this label.
    pub(crate) fn is_successor(&self, bci: u16) -> bool {
        self.has(bci, SUCCESSOR)
    }

    /// A probe belongs in front of this label.
    #[inline]
    pub(crate) fn needs_probe(&self, bci: u16) -> bool {
        let flags = self.flags.get(usize::from(bci)).copied().unwrap_or(0);
        flags & SUCCESSOR != 0 && flags & (MULTITARGET | INVOCATION_LINE) != 0
    }

    /// True the first time this label is asked for since its last
    /// [`forget_visits`](Self::forget_visits).
    pub(crate) fn first_visit(&mut self, bci: u16) -> bool {
        let first = !self.has(bci, VISITED);
        self.set(bci, VISITED);
        first
    }

    pub(crate) fn forget_visits(&mut self, targets: &[u16]) {
        for &target in targets {
            if let Some(flags) = self.flags.get_mut(usize::from(target)) {
                *flags &= !VISITED;
            }
        }
    }

    #[inline]
    fn has(&self, bci: u16, any_of: u8) -> bool {
        self.flags
            .get(usize::from(bci))
            .is_some_and(|flags| flags & any_of != 0)
    }

    #[inline]
    fn set(&mut self, bci: u16, bits: u8) {
        if let Some(flags) = self.flags.get_mut(usize::from(bci)) {
            *flags |= bits;
        }
    }
}

/// What a label with these properties gets when the previous instruction can
/// fall into it.
#[inline]
fn succeeding(flags: u8) -> u8 {
    if flags & TARGET == 0 {
        SUCCESSOR
    } else {
        SUCCESSOR | MULTITARGET
    }
}

/// Hands out the targets of the switches of a method in the order of the code.
pub(crate) struct Switches<'a> {
    targets: &'a [u16],
    lengths: std::slice::Iter<'a, u32>,
}

impl<'a> Switches<'a> {
    pub(crate) fn new(method: &FlowMethod<'a>) -> Self {
        Self {
            targets: method.switch_targets,
            lengths: method.switch_lengths.iter(),
        }
    }

    /// The targets of the next switch, the default first.
    pub(crate) fn advance(&mut self) -> &'a [u16] {
        let length = self.lengths.next().map_or(0, |&length| length as usize);
        let (these, rest) = self.targets.split_at(length.min(self.targets.len()));
        self.targets = rest;
        these
    }
}
