//! One round of wall-clock samples.

use crate::ffi::jvmti::StackFrame;
use jvm_events::thread_state::ThreadState;

/// The samples of some threads.
#[derive(Debug)]
pub(super) struct WallRound {
    /// Samples with the nanoseconds that each represents.
    pub samples: Vec<(WallSample, u64)>,
    /// The number of all threads.
    pub threads: usize,
    /// True if a thread may carry virtual threads.
    pub carriers: bool,
}

/// The state and stack of a thread at one moment.
#[derive(Debug)]
pub(super) struct WallSample {
    pub thread: String,
    pub state: ThreadState,
    pub frames: Vec<StackFrame>,
}
