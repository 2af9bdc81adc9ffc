//! The thread that calls a span: what is asked of the JVM about it, and what is kept of it between its calls.

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

/// What a call needs of the JVM.
pub trait Jvm {
    /// The clock, in ticks as `Scale` knows them.
    fn ticks(&self) -> u64;

    /// Whether `counter` may be read instead of `ticks`.
    fn has_counter(&self) -> bool;

    /// The clock, read without the call of a function.
    fn counter(&self) -> u64;

    /// Says that this word will be written soon.
    fn fetch(&self, word: &AtomicU64);

    /// Identifies this native thread; called once per thread. None if the thread cannot be identified.
    fn join(&self) -> Option<NewThread>;

    /// Runs `body` with the cell of this native thread, which is empty at first.
    fn with_cell<R>(&self, body: impl FnOnce(&ThreadCell) -> R) -> R;

    /// Runs `body` with a cell of this native thread that is true while the JVM is asked for a call. What the thread calls
    /// meanwhile is our own work.
    fn with_asks<R>(&self, body: impl FnOnce(&Cell<bool>) -> R) -> R;

    /// The stack pointer of this native thread: the longer the stack, the smaller it is.
    fn stack_pointer(&self) -> u64;

    /// Counts the exceptions that have left calls of all threads so far. Those of two threads at the same moment may
    /// count once.
    fn unwound(&self) -> u64;

    /// Counts the calls of each method that the current thread is in; none if that cannot be known.
    fn running(&self) -> Option<HashMap<MethodName, u64>>;

    /// Writes the innermost frames of the current call stack, each as [`frame_word`](super::frame_word), and says how
    /// many they are.
    fn frames(&self, frames: &mut [u64]) -> usize;
}

/// What is kept of a native thread between its calls: empty before its first call, and while the JVM is asked for a call.
pub type ThreadCell = Cell<Option<CurrentThread>>;

/// Runs `body`, which asks the JVM; calls that this thread begins or ends meanwhile are not recorded.
pub fn unrecorded<R>(jvm: &impl Jvm, body: impl FnOnce() -> R) -> R {
    /// Puts back what was there, also when `body` panics.
    struct Back<'j, J: Jvm>(&'j J, Option<CurrentThread>, bool);
    impl<J: Jvm> Drop for Back<'_, J> {
        fn drop(&mut self) {
            self.0.with_cell(|cell| cell.set(self.1));
            self.0.with_asks(|asks| asks.set(self.2));
        }
    }
    let asked = jvm.with_asks(|asks| asks.replace(true));
    let _back = Back(jvm, jvm.with_cell(Cell::take), asked);
    body()
}

/// A native thread at its first call.
#[derive(Debug)]
pub struct NewThread {
    /// Where its calls are collected.
    pub runtime: &'static Runtime,
    /// The platform thread.
    pub thread: ThreadInfo,
    /// The id that calls of the platform thread itself name.
    pub owner: u64,
    /// The stack pointer below which little stack is left.
    pub scarce_below: u64,
    /// Empties the cell of a thread that ends.
    pub clear: fn(),
}

/// The log of a native thread, and the stack of the Java thread it runs.
#[derive(Debug, Clone, Copy)]
pub struct CurrentThread {
    pub(super) log: &'static ThreadLog,
    pub(super) stack: &'static ThreadStack,
}
