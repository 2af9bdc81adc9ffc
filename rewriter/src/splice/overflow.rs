//! Code of a method that may run after a stack overflow was caught; inserted code there must not call.

use crate::class::{ClassFile, Code, ExceptionHandler, Instructions};
use crate::plan::{Action, Edit, Location};
use jvms::opcode;

/// `StackOverflowError` and its superclasses (JVMS 6.3).
const OVERFLOWS: [&[u8]; 4] = [
    b"java/lang/StackOverflowError",
    b"java/lang/VirtualMachineError",
    b"java/lang/Error",
    b"java/lang/Throwable",
];

/// Maximum number of handlers to follow; beyond it, all code counts as reached from them.
const MOST_HANDLERS: usize = 256;

/// Returns the lowest probe of the method that may run after a caught overflow; all higher probes then count as such.
/// `None` if no probe may.
pub(super) fn first_probe_after_overflow<'e>(
    class: &ClassFile<'_>,
    code: &Code<'_, '_>,
    edits: impl Iterator<Item = &'e Edit> + Clone,
) -> Option<u32> {
    let catches = |handler: &ExceptionHandler| {
        let caught = class.pool().class_name(handler.catch_type);
        caught.is_none_or(|caught| OVERFLOWS.contains(&caught.as_bytes()))
    };
    let mut lowest = None;
    let mut note = |probe: u32| lowest = Some(lowest.map_or(probe, |known: u32| known.min(probe)));
    let hits = |edit: &Edit| match edit.action {
        Action::Hit(probe) => Some(probe),
        _ => None,
    };
    if code.exception_table().any(|handler| catches(&handler)) {
        let reached = Reached::from(code, catches);
        let is_reached = |edit: &&Edit| reached.as_ref().is_none_or(|all| all.has(edit));
        edits
            .clone()
            .filter(is_reached)
            .filter_map(hits)
            .for_each(&mut note);
    }
    // The handler of `Unwind` catches every exception.
    if edits
        .clone()
        .any(|edit| edit.point.location == Location::Unwind)
    {
        edits.filter_map(hits).for_each(note);
    }
    lowest
}

/// The instructions of a method that some of its handlers reach.
struct Reached {
    /// Flags by bci.
    all: Vec<bool>,
    /// Instructions to continue from.
    left: Vec<usize>,
}

impl Reached {
    /// Returns the instructions that these handlers reach; `None` if the limits are exceeded.
    fn from(
        code: &Code<'_, '_>,
        mut is_start: impl FnMut(&ExceptionHandler) -> bool,
    ) -> Option<Self> {
        if code.exception_table().count() > MOST_HANDLERS {
            return None;
        }
        let starts = code.exception_table().filter(|handler| is_start(handler));
        let mut reached = Self {
            all: vec![false; code.bytes().len()],
            left: starts.map(|handler| usize::from(handler.handler)).collect(),
        };
        loop {
            reached.follow(code.bytes())?;
            // Reached code may throw to any handler that covers it.
            let further = code.exception_table().filter(|row| {
                let (from, to) = (usize::from(row.start), usize::from(row.end));
                let covered = reached.all.get(from..to).unwrap_or_default();
                let known = reached.all.get(usize::from(row.handler));
                known == Some(&false) && covered.contains(&true)
            });
            let further = further.map(|row| usize::from(row.handler));
            let further: Vec<usize> = further.collect();
            if further.is_empty() {
                return Some(reached);
            }
            reached.left = further;
        }
    }

    /// Follows the remaining instructions; `None` for malformed code and subroutines.
    fn follow(&mut self, code: &[u8]) -> Option<()> {
        while let Some(mut at) = self.left.pop() {
            while !std::mem::replace(self.all.get_mut(at)?, true) {
                let found = Instructions::from(code, at, 0).next()?.ok()?;
                if opcode::is_subroutine_call(found.opcode) || found.opcode == opcode::RET {
                    return None;
                }
                self.left.extend(found.targets().map(usize::from));
                if !opcode::falls_through(found.opcode) {
                    break;
                }
                at += found.length() as usize;
            }
        }
        Some(())
    }

    /// Checks whether an edit is at one of these instructions. `Unwind` always is, `Entry` never.
    fn has(&self, edit: &Edit) -> bool {
        let at = match edit.point.location {
            Location::Entry => return false,
            Location::Unwind => return true,
            Location::Before(bci) | Location::At(bci) | Location::FallThrough(bci) => bci,
            Location::Jump { source, .. } => source,
        };
        self.all.get(usize::from(at)).copied().unwrap_or(true)
    }
}
