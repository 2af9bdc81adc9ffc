//! Runs plugins on separate stacks while their clock runs.

use crate::engine::{RunningCall, Ticker};
use crate::stack::{ScratchBuffers, WorkerStacks};

/// The stacks on which plugins run, and the clock that limits their calls.
pub(crate) struct PluginRunner {
    ticker: Ticker,
    stacks: WorkerStacks,
}

impl PluginRunner {
    /// Creates a runner; `self_check` means that spliced classes are checked.
    pub(crate) fn new(ticker: Ticker, self_check: bool) -> Self {
        Self {
            ticker,
            stacks: WorkerStacks::new(self_check),
        }
    }

    /// Runs the clock until the result is dropped.
    ///
    /// # Errors
    /// If its thread cannot be started.
    pub(crate) fn run_clock(&self) -> Result<RunningCall<'_>, String> {
        let running = self.ticker.run();
        running.map_err(|error| format!("no thread for the clock: {error}"))
    }

    /// Runs `work` on a separate stack; without the clock, it must not call plugins.
    ///
    /// # Errors
    /// The text of a panic, or of the failure to get a stack.
    pub(crate) fn on_stack<T>(
        &self,
        work: impl FnOnce(&mut ScratchBuffers) -> T,
    ) -> Result<T, String> {
        self.stacks.run(work)
    }

    /// Runs `work` on a separate stack while the clock runs.
    ///
    /// # Errors
    /// The text of a panic, or of the failure to get a stack or the clock.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> Result<T, String> {
        let _running = self.run_clock()?;
        self.stacks.run(|_| work())
    }
}
