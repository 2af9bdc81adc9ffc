//! The state of the agent's run in the JVM.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The times and states of the agent's run.
#[derive(Debug)]
pub(crate) struct Run {
    started: Instant,
    /// True between the start of the live phase and `VMDeath`.
    running: AtomicBool,
    /// True if the agent was loaded for one command, and that command has ended.
    visit_over: AtomicBool,
    /// True once the agent has left.
    left: AtomicBool,
}

impl Run {
    /// Creates the state of an agent that starts now and waits for the live phase.
    pub fn new() -> Self {
        Self {
            started: Instant::now(),
            running: AtomicBool::new(false),
            visit_over: AtomicBool::new(false),
            left: AtomicBool::new(false),
        }
    }

    /// The time since the start of the agent.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Checks whether the hook may transform classes now.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire)
    }

    /// Sets whether the hook may transform classes, and returns the former value.
    pub fn set_running(&self, running: bool) -> bool {
        self.running.swap(running, Ordering::AcqRel)
    }

    /// Checks whether the agent was loaded for one command, and that command has ended.
    pub fn is_visit_over(&self) -> bool {
        self.visit_over.load(Ordering::Acquire)
    }

    /// Notes that the command has ended for which the agent was loaded.
    pub fn end_visit(&self) {
        self.visit_over.store(true, Ordering::Release);
    }

    /// Checks whether the agent has left.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Notes that the agent has left.
    pub fn set_left(&self) {
        self.left.store(true, Ordering::Release);
    }
}
