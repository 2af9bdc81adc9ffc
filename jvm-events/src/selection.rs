//! A subset of a recording.

use crate::recorded::{LockWait, Recorded};
use crate::stacks::Stacks;

/// Selects the rows of threads that `thread` accepts and whose stack has a frame of a class that
/// `class` accepts. Class names have dots.
#[derive(Clone, Copy)]
pub struct Selection<'a> {
    /// Accepts names of threads.
    pub thread: &'a dyn Fn(&str) -> bool,
    /// Accepts names of classes.
    pub class: &'a dyn Fn(&str) -> bool,
}

impl Selection<'_> {
    /// Removes all other rows. Garbage collections stay, because they belong to no thread.
    pub fn apply(&self, recorded: &mut Recorded) {
        let threads: Vec<bool> = recorded
            .threads
            .iter()
            .map(|name| (self.thread)(name))
            .collect();
        let nodes = self.nodes(&recorded.stacks);
        let keeps = |thread: u32, node: Option<u32>| {
            let thread = threads.get(thread as usize).copied().unwrap_or(false);
            let node = node.and_then(|node| nodes.get(node as usize).copied());
            thread && node.unwrap_or_else(|| (self.class)(""))
        };
        recorded.cpu.retain(|row| keeps(row.thread, row.node));
        recorded.wall.retain(|row| keeps(row.thread, row.node));
        recorded.system.retain(|row| keeps(row.thread, None));
        recorded
            .allocations
            .retain(|row| keeps(row.thread, row.node));
        recorded.contended.retain(|row| keeps(row.thread, row.node));
        recorded.waits.retain(|row| keeps(row.thread, row.node));
        let is_kept = |row: &LockWait| keeps(row.wait.thread, row.wait.node);
        recorded.locks.retain(is_kept);
        recorded
            .exceptions
            .retain(|row| keeps(row.thread, row.node));
        recorded
            .references
            .retain(|row| keeps(row.thread, row.node));
        recorded.moments.retain(|row| keeps(row.thread, row.node));
    }

    /// Computes for each node of the tree whether its stack has a frame of a selected class.
    fn nodes(&self, stacks: &Stacks) -> Vec<bool> {
        let frames = stacks.frames.iter();
        let frames = frames.map(|frame| (self.class)(&jvms::names::binary(&frame.class)));
        let frames: Vec<bool> = frames.collect();
        let mut chosen: Vec<bool> = Vec::with_capacity(stacks.nodes.len());
        for node in &stacks.nodes {
            let own = frames.get(node.frame as usize).copied().unwrap_or(false);
            let caller = node.caller.and_then(|caller| chosen.get(caller as usize));
            chosen.push(own || caller.copied().unwrap_or(false));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorded::Cpu;
    use crate::stacks::{Frame, StackBuilder};

    #[test]
    fn rows_of_a_thread_and_a_package_are_kept() {
        let (mut builder, mut stacks) = (StackBuilder::default(), Stacks::default());
        let frame = |class: &str| Frame {
            class: class.to_owned(),
            ..Frame::default()
        };
        let [jdk, acme] =
            ["java/util/List", "com/acme/A"].map(|class| builder.frame(&mut stacks, frame(class)));
        let mut below = |caller, frame| builder.below(&mut stacks, caller, frame);
        let caller = below(None, acme);
        let nodes = [below(caller, jdk), below(None, jdk), None];
        let row = |thread, node| Cpu {
            thread,
            node,
            ..Cpu::default()
        };
        let recorded = Recorded {
            stacks,
            threads: vec!["main".to_owned(), "other".to_owned()],
            cpu: (0..2)
                .flat_map(|thread| nodes.map(|node| row(thread, node)))
                .collect(),
            ..Recorded::default()
        };
        let count = |thread: &dyn Fn(&str) -> bool, class: &dyn Fn(&str) -> bool| {
            let mut recorded = recorded.clone();
            Selection { thread, class }.apply(&mut recorded);
            recorded.cpu.len()
        };
        assert_eq!(count(&|_| true, &|_| true), 6);
        assert_eq!(count(&|name| name == "main", &|_| true), 3);
        assert_eq!(count(&|_| true, &|class| class.starts_with("com.acme.")), 2);
        assert_eq!(count(&|_| false, &|_| true), 0);
    }
}
