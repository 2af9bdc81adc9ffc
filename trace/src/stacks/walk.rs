//! The calls of a thread, as frames of a tree of stacks.

use std::collections::HashMap;
use std::io;

use probes::events::Call;

use super::{Side, Stacks};
use crate::names::Names;
use crate::recording::Recording;

/// The calls that are open where a walk through the calls of one thread is.
#[derive(Debug, Default)]
pub struct Walk {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    start: u64,
    end: u64,
    node: u32,
    /// Nanoseconds in calls below it.
    below: u64,
}

impl Walk {
    /// Adds the next call of the thread, by their start, with the number of its method's name.
    pub fn call(&mut self, stacks: &mut Stacks, side: Side, call: &Call, name: u32) {
        while self.open.last().is_some_and(|last| last.end < call.start) {
            self.leave(stacks, side);
        }
        let caller = self.open.last().map(|caller| caller.node);
        let node = stacks.below(caller, name, self.open.len() + 1);
        self.open.push(Open {
            start: call.start,
            end: call.end,
            node,
            below: 0,
        });
    }

    /// Ends what is open, behind the last call of a thread.
    pub fn finish(&mut self, stacks: &mut Stacks, side: Side) {
        while !self.open.is_empty() {
            self.leave(stacks, side);
        }
    }

    fn leave(&mut self, stacks: &mut Stacks, side: Side) {
        let Some(ended) = self.open.pop() else {
            return;
        };
        let duration = ended.end.saturating_sub(ended.start);
        stacks.add(ended.node, side, duration.saturating_sub(ended.below));
        if let Some(caller) = self.open.last_mut() {
            caller.below = caller.below.saturating_add(duration);
        }
    }
}

impl Stacks {
    /// Adds the calls of all threads of a recording.
    ///
    /// # Errors
    /// If its calls cannot be read or sorted.
    pub fn add_calls(
        &mut self,
        recording: &Recording,
        names: &Names,
        side: Side,
    ) -> io::Result<()> {
        let spans = recording.trace.spans.values();
        let numbers: HashMap<u32, u32> = spans
            .map(|span| (span.id, self.name(&names.get(span).replace(';', ","))))
            .collect();
        let unknown = self.name("(unknown)");
        let (mut walk, mut thread) = (Walk::default(), None);
        recording.each_call(&mut |placed| {
            let call = placed.call;
            if thread.replace(call.thread) != Some(call.thread) {
                walk.finish(self, side);
            }
            let name = numbers.get(&call.span).copied().unwrap_or(unknown);
            walk.call(self, side, call, name);
            Ok(())
        })?;
        walk.finish(self, side);
        Ok(())
    }
}
