//! The current thread: data from the JVM about it, and its state between calls of spans.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use super::method_name::MethodName;
use super::runtime::Runtime;
use super::stack::ThreadStack;
use super::threads::ThreadLog;
use crate::events::{SpanMode, ThreadInfo};

pub(super) const AGGREGATE: u8 = SpanMode::Aggregate as u8;
pub(super) const EVENTS: u8 = SpanMode::Events as u8;

/// The services of the JVM that recording a call requires.
pub trait Jvm {
    /// Reads the clock in ticks of `Scale`.
    fn ticks(&self) -> u64;

    /// Checks whether `counter` may be read instead of `ticks`.
    fn has_counter(&self) -> bool;

    /// Reads the clock without a function call.
    fn counter(&self) -> u64;

    /// Prefetches a word that will be written soon.
    fn fetch(&self, word: &AtomicU64);

    /// Identifies this native thread; called once per thread. `None` if identification fails.
    fn join(&self) -> Option<NewThread>;

    /// Runs `body` with the cell of this native thread, which is empty at first.
    fn with_cell<R>(&self, body: impl FnOnce(&ThreadCell) -> R) -> R;

    /// Runs `body` with a cell of this native thread that is `true` while the agent queries the JVM for a call. Calls
    /// that the thread makes meanwhile are the agent's own work.
    fn with_query_flag<R>(&self, body: impl FnOnce(&Cell<bool>) -> R) -> R;

    /// Returns the stack pointer of this native thread; the stack grows downwards.
    fn stack_pointer(&self) -> u64;

    /// Returns the number of exceptions that have left calls in all threads so far. Two simultaneous exceptions may
    /// count once.
    fn unwound(&self) -> u64;

    /// Counts the active frames of each method on the current thread; `None` if the JVM cannot report them.
    fn running(&self) -> Option<HashMap<MethodName, u64>>;

    /// Writes the innermost frames of the current call stack as [`frame_word`](super::frame_word)s, and returns their
    /// number.
    fn frames(&self, frames: &mut [u64]) -> usize;
}

/// The state of a native thread between its calls: empty before its first call, and while the agent queries the JVM
/// for a call.
pub type ThreadCell = Cell<Option<CurrentThread>>;

/// Runs `body`, which queries the JVM, without recording calls that this thread begins or ends meanwhile.
pub fn unrecorded<R>(jvm: &impl Jvm, body: impl FnOnce() -> R) -> R {
    /// Restores the previous state, also when `body` panics.
    struct Back<'j, J: Jvm>(&'j J, Option<CurrentThread>, bool);
    impl<J: Jvm> Drop for Back<'_, J> {
        fn drop(&mut self) {
            self.0.with_cell(|cell| cell.set(self.1));
            self.0.with_query_flag(|flag| flag.set(self.2));
        }
    }
    let was_set = jvm.with_query_flag(|flag| flag.replace(true));
    let _back = Back(jvm, jvm.with_cell(Cell::take), was_set);
    body()
}

/// A native thread at its first call.
#[derive(Debug)]
pub struct NewThread {
    /// Collects the thread's calls.
    pub runtime: &'static Runtime,
    /// The platform thread.
    pub thread: ThreadInfo,
    /// The id that calls of the platform thread itself carry.
    pub owner: u64,
    /// Below this stack pointer, little stack is left.
    pub scarce_below: u64,
    /// Empties the cell of an ending thread.
    pub clear: fn(),
}

/// The log of a native thread, and the stack of the Java thread that it runs.
#[derive(Debug, Clone, Copy)]
pub struct CurrentThread {
    pub(super) log: &'static ThreadLog,
    pub(super) stack: &'static ThreadStack,
}
