//! Adds the calls of a thread to a tree of stacks.

use std::collections::HashMap;
use std::io;

use probes::events::Call;

use super::{Side, Stacks};
use crate::names::Names;
use crate::recording::{Recording, TimelineItem};
use crate::tasks::{Caller, Callers};

/// The open calls at the current position in a thread's calls.
#[derive(Debug, Default)]
pub struct Walk {
    open: Vec<Open>,
}

#[derive(Debug)]
struct Open {
    start: u64,
    end: u64,
    node: u32,
    /// Nanoseconds in its callees.
    below: u64,
}

impl Walk {
    /// Adds the next call of the thread, by start, with the number of its method's name.
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

    /// Ends the open calls after the last call of a thread.
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
        let number = |call: &Call| numbers.get(&call.span).copied().unwrap_or(unknown);
        if !recording.trace.tasks.is_empty() {
            return self.add_followed(recording, side, &number);
        }
        let (mut walk, mut thread) = (Walk::default(), None);
        recording.each_call(&mut |placed| {
            let call = placed.call;
            if thread.replace(call.thread) != Some(call.thread) {
                walk.finish(self, side);
            }
            walk.call(self, side, call, number(call));
            Ok(())
        })?;
        walk.finish(self, side);
        Ok(())
    }

    /// Adds the calls of tasks below their submitting calls.
    fn add_followed(
        &mut self,
        recording: &Recording,
        side: Side,
        number: &dyn Fn(&Call) -> u32,
    ) -> io::Result<()> {
        let mut callers: Callers<Frame> = Callers::default();
        recording.each_happening(false, &mut |happening| {
            match happening {
                TimelineItem::Entry(placed) => callers.enter(placed.call, |caller| {
                    self.add_frame(side, placed.call, number(placed.call), caller)
                }),
                TimelineItem::Step(step) => callers.step(step),
                TimelineItem::End(_) | TimelineItem::Moment(..) => {}
            }
            Ok(())
        })?;
        recording.lose_tasks(callers.take_dropped() + callers.take_orphans());
        Ok(())
    }

    /// Adds a call, and subtracts its time from the self time of its caller on the same thread.
    fn add_frame(
        &mut self,
        side: Side,
        call: &Call,
        name: u32,
        caller: Option<&Caller<Frame>>,
    ) -> Frame {
        let around = caller.map(|caller| match caller {
            Caller::Thread(frame) => frame,
            Caller::Task(submitted) => &submitted.by,
        });
        let depth = around.map_or(0, |frame| frame.depth) + 1;
        let node = self.below(around.map(|frame| frame.node), name, depth);
        let duration = call.end.saturating_sub(call.start);
        self.add(node, side, duration);
        if let Some(Caller::Thread(frame)) = caller {
            self.take(frame.node, side, duration);
        }
        Frame { node, depth }
    }
}

/// A call in the tree.
#[derive(Debug, Clone)]
struct Frame {
    node: u32,
    /// Number of enclosing calls, plus one.
    depth: usize,
}
