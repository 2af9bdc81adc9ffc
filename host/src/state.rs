//! What a plugin's store holds beside its memory: the call that is going on, limits, log.

use std::time::Duration;

use plan_rules::Transformation;
use rustix::time::{ClockId, clock_gettime};
use wasmtime::component::{Resource, ResourceTable};
use wasmtime::{ResourceLimiter, UpdateDeadline};

use crate::class::Call;
use crate::config::LogLevel;

/// Most linear memory of one instance, in bytes.
pub const MAX_MEMORY: usize = 64 << 20;
/// CPU time of the thread that one class may take.
pub const DEADLINE: Duration = Duration::from_millis(250);
/// Most `capture`s, `snippet`s and `annotation`s that exist at once.
const MAX_RESOURCES: usize = 1_024;
/// Log lines kept per call, and bytes of each.
const MAX_LINES: u32 = 100;
const MAX_LINE_BYTES: usize = 4 << 10;

/// The data of a plugin's store.
pub struct State {
    /// Name of the plugin, for log lines.
    pub plugin: String,
    /// The call of `transform` that is going on.
    pub call: Option<Call>,
    /// Counts the calls, so that handles of an earlier class are recognised.
    pub round: u16,
    /// Set when the time was up.
    pub out_of_time: bool,
    /// Set when memory was refused.
    pub out_of_memory: bool,
    /// Linear memory now, in bytes.
    pub memory: usize,
    /// What the plugin's `capture`s, `snippet`s and `annotation`s say.
    pub resources: ResourceTable,
    /// The last line logged at level 0, not yet printed: a panic's text, if the call traps.
    pub last_error: Option<String>,
    started: Duration,
    lines: u32,
    level: LogLevel,
}

impl State {
    /// Of a new instance.
    pub fn new(plugin: &str, level: LogLevel) -> Self {
        Self {
            plugin: plugin.to_owned(),
            call: None,
            round: 0,
            out_of_time: false,
            out_of_memory: false,
            memory: 0,
            resources: resources(),
            last_error: None,
            started: Duration::ZERO,
            lines: 0,
            level,
        }
    }

    /// Starts the clock of a call.
    pub fn begin(&mut self, call: Option<Call>) {
        self.call = call;
        self.round = self.round.wrapping_add(1);
        self.lines = 0;
        self.started = thread_time();
    }

    /// The call of `transform` that is going on.
    pub fn call(&mut self) -> wasmtime::Result<&mut Call> {
        self.call.as_mut().ok_or_else(outside)
    }

    /// What the plugin asks for in the class at hand.
    pub fn transformation(&mut self) -> wasmtime::Result<&mut Transformation> {
        Ok(&mut self.call()?.transformation)
    }

    /// A resource of the plugin's, and what it asks for in the class at hand.
    pub fn resource_and_transformation<T: 'static>(
        &mut self,
        resource: &Resource<T>,
    ) -> wasmtime::Result<(&T, &mut Transformation)> {
        let found = self.resources.get(resource)?;
        let call = self.call.as_mut().ok_or_else(outside)?;
        Ok((found, &mut call.transformation))
    }

    /// At a tick of the epoch: goes on while this thread has not used up its time.
    pub fn tick(&mut self) -> UpdateDeadline {
        if thread_time().saturating_sub(self.started) < DEADLINE {
            return UpdateDeadline::Continue(1);
        }
        self.out_of_time = true;
        UpdateDeadline::Interrupt
    }

    /// Whether a line at this level would be kept.
    pub fn keeps(&self, level: u8) -> bool {
        log_level(level) <= self.level
    }

    /// A line from the plugin. One at level 0 waits for the end of the call.
    pub fn log(&mut self, level: u8, mut text: String) {
        text.truncate(text.floor_char_boundary(MAX_LINE_BYTES));
        if level == 0 {
            self.flush();
            self.last_error = Some(text);
        } else {
            self.print(level, &text);
        }
    }

    /// Prints what waits.
    pub fn flush(&mut self) {
        if let Some(text) = self.last_error.take() {
            self.print(0, &text);
        }
    }

    /// Each line begins with the plugin's name, so that none looks like one of ours.
    fn print(&mut self, level: u8, text: &str) {
        let plugin = escape::line(&self.plugin);
        for line in text.lines() {
            if self.keeps(level) && self.lines < MAX_LINES {
                self.lines += 1;
                eprintln!("classhook: plugin `{plugin}`: {}", escape::line(line));
            }
        }
    }
}

fn outside() -> wasmtime::Error {
    wasmtime::Error::msg("a view was used outside of `transform`")
}

fn resources() -> ResourceTable {
    let mut table = ResourceTable::new();
    table.set_max_capacity(MAX_RESOURCES);
    table
}

fn log_level(level: u8) -> LogLevel {
    match level {
        0 => LogLevel::Error,
        1 => LogLevel::Warn,
        2 => LogLevel::Info,
        3 => LogLevel::Debug,
        _ => LogLevel::Trace,
    }
}

/// CPU time that this thread has used.
fn thread_time() -> Duration {
    let now = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(
        now.tv_sec.unsigned_abs(),
        u32::try_from(now.tv_nsec).unwrap_or(0),
    )
}

impl ResourceLimiter for State {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let total = self.memory - current.min(self.memory) + desired;
        if total > MAX_MEMORY {
            self.out_of_memory = true;
            return Ok(false);
        }
        self.memory = total;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= 100_000)
    }

    fn instances(&self) -> usize {
        64
    }

    fn tables(&self) -> usize {
        64
    }

    fn memories(&self) -> usize {
        8
    }
}
