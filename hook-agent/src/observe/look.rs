//! A look at threads by the wall clock.

use crate::ffi::jvmti::StackFrame;
use observations::thread_state::ThreadState;

/// A look at some threads.
#[derive(Debug)]
pub(super) struct Look {
    /// Threads with the nanoseconds for which each stands.
    pub samples: Vec<(Sample, u64)>,
    /// The number of all threads.
    pub threads: usize,
    /// True if a thread may carry virtual ones.
    pub carriers: bool,
}

/// A thread at one moment.
#[derive(Debug)]
pub(super) struct Sample {
    pub thread: String,
    pub state: ThreadState,
    pub frames: Vec<StackFrame>,
}
