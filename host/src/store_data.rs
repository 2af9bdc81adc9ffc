//! The data in a plugin's store, apart from its memory: the current call, limits and log.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use plan_rules::Transformation;
use plugin_code::MAX_MEMORY;
use wasmtime::{ResourceLimiter, UpdateDeadline};

use crate::bindings::classhook::plugin::host::Level;
use crate::class::Call;
use crate::clock::{Clock, MachineClock};
use crate::config::LogLevel;
use crate::log_limit::{Decision, LogLimit, left_out};
use crate::observer_call::ObserverCall;
use crate::recorded::ReportCall;

/// Maximum number of handles of an instance at once, `method-view`s included. Two classes together
/// can have this number of methods.
pub const MAX_HANDLES: usize = 1 << 17;
/// Number of bytes counted for each table element.
const TABLE_ELEMENT: usize = 16;
/// Maximum CPU time of the thread for one class.
pub const DEADLINE: Duration = Duration::from_millis(250);
/// Maximum number of log lines per call, and maximum size of a line in bytes.
const MAX_LINES: u32 = 100;
const MAX_LINE_BYTES: usize = 4 << 10;

/// The first tick of the epoch in a call.
struct FirstTick {
    /// CPU time of the thread.
    cpu: Duration,
    /// The time since the call began.
    passed: Duration,
}

/// Settings that all stores of a plugin share.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// The name of the plugin, for log lines.
    pub plugin: String,
    /// The least severe log level that is printed.
    pub level: LogLevel,
    /// Limits the log lines of all instances together.
    pub log: Arc<LogLimit>,
    /// Measures the time of calls.
    pub clock: Arc<dyn Clock>,
}

impl StoreSettings {
    /// Creates settings with an empty log and the machine's clock.
    pub fn new(plugin: &str, level: LogLevel) -> Self {
        Self {
            plugin: plugin.to_owned(),
            level,
            log: Arc::default(),
            clock: Arc::new(MachineClock::default()),
        }
    }
}

/// The data of a plugin's store.
pub struct StoreData {
    settings: StoreSettings,
    /// The current call of `transform`.
    pub call: Option<Call>,
    /// The current call of `report`.
    pub report: Option<ReportCall>,
    /// The data of an observer.
    pub observer: Option<ObserverCall>,
    /// Counts the calls, so that handles of an earlier class are recognised.
    pub round: u16,
    /// Maximum CPU time of the thread for a call.
    pub deadline: Duration,
    /// Set when the time limit was reached.
    pub out_of_time: bool,
    /// Set when a request for memory was denied.
    pub out_of_memory: bool,
    /// Current size of linear memory and tables, in bytes.
    memory: usize,
    /// The last line logged at the level `error`, not yet printed. If the call traps, this line is the text
    /// of the panic.
    pub last_error: Option<String>,
    /// The start of the call, by the clock of the settings.
    began: Duration,
    ticked: Option<FirstTick>,
    lines: u32,
}

impl StoreData {
    /// Creates the data of a new instance.
    pub fn new(settings: StoreSettings) -> Self {
        Self {
            began: settings.clock.now(),
            settings,
            call: None,
            report: None,
            observer: None,
            deadline: DEADLINE,
            round: 0,
            out_of_time: false,
            out_of_memory: false,
            memory: 0,
            last_error: None,
            ticked: None,
            lines: 0,
        }
    }

    /// Starts the clock of a call.
    pub fn begin(&mut self, call: Option<Call>) {
        self.call = call;
        self.round = self.round.wrapping_add(1);
        self.lines = 0;
        self.began = self.settings.clock.now();
        self.ticked = None;
    }

    /// Returns the current call of `transform`.
    pub fn call(&mut self) -> wasmtime::Result<&mut Call> {
        self.expect_memory()?;
        self.call.as_mut().ok_or_else(outside)
    }

    /// The size of linear memory, tables, and the host's data for the plugin, in bytes.
    pub fn memory(&self) -> usize {
        let call = self.call.as_ref();
        let asked = call.map_or(0, |call| call.transformation.bytes());
        let report = self.report.as_ref();
        let computed = report.map_or(0, |report| report.computed.bytes());
        self.memory + asked + computed
    }

    /// Returns the current call of `report`.
    pub fn report(&mut self) -> wasmtime::Result<&mut ReportCall> {
        self.expect_memory()?;
        let found = self.report.as_mut();
        found.ok_or_else(|| wasmtime::Error::msg("recorded data was requested outside of `report`"))
    }

    /// Returns the data of an observer.
    pub fn observer(&mut self) -> wasmtime::Result<&mut ObserverCall> {
        self.expect_memory()?;
        let found = self.observer.as_mut();
        found.ok_or_else(|| wasmtime::Error::msg("events were requested outside of `observer`"))
    }

    /// Checks that the plugin is within its memory limit, with the host's data for it.
    pub fn expect_memory(&mut self) -> wasmtime::Result<()> {
        if self.memory() <= MAX_MEMORY {
            return Ok(());
        }
        self.out_of_memory = true;
        Err(wasmtime::Error::msg("its requests take too much memory"))
    }

    /// Returns the plugin's request for the current class.
    pub fn transformation(&mut self) -> wasmtime::Result<&mut Transformation> {
        Ok(&mut self.call()?.transformation)
    }

    /// Counts memory that grows from `current` to `desired` bytes, if the limit allows.
    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let more = desired.saturating_sub(current);
        if self.memory().saturating_add(more) > MAX_MEMORY {
            self.out_of_memory = true;
            return false;
        }
        self.memory += more;
        true
    }

    /// Handles a tick of the epoch: continues until this thread has used up its CPU time since the
    /// first tick.
    pub fn tick(&mut self) -> UpdateDeadline {
        let now = self.settings.clock.thread_time();
        let passed = self.passed();
        let first = self.ticked.get_or_insert(FirstTick { cpu: now, passed });
        if now.saturating_sub(first.cpu) < self.deadline {
            return UpdateDeadline::Continue(1);
        }
        self.out_of_time = true;
        UpdateDeadline::Interrupt
    }

    /// Returns whether a line at this level is kept.
    pub fn keeps(&self, level: Level) -> bool {
        log_level(level) <= self.settings.level
    }

    /// Logs a line of the plugin. A line at the level `error` waits for the end of the call.
    pub fn log(&mut self, level: Level, mut text: String) {
        escape::cut(&mut text, MAX_LINE_BYTES);
        if level == Level::Error {
            self.flush();
            self.last_error = Some(text);
        } else {
            self.print(level, &text);
        }
    }

    /// Prints the waiting line.
    pub fn flush(&mut self) {
        if let Some(text) = self.last_error.take() {
            self.print(Level::Error, &text);
        }
    }

    /// Each line begins with the plugin's name, so that no line looks like one of Classhook.
    fn print(&mut self, level: Level, text: &str) {
        let plugin = escape::line(&self.settings.plugin);
        for line in text.lines() {
            if !self.keeps(level) || self.lines > MAX_LINES {
                continue;
            }
            self.lines += 1;
            let line = match self.lines > MAX_LINES {
                false => escape::line(line),
                true => Cow::Owned(format!(
                    "further lines are left out: a plugin writes at most {MAX_LINES} lines in one call"
                )),
            };
            match self.settings.log.take(&line) {
                Decision::Write => eprintln!("classhook: plugin `{plugin}`: {line}"),
                Decision::ReportLimit => eprintln!("classhook: plugin `{plugin}`: {}", left_out()),
                Decision::Drop => return,
            }
        }
    }

    /// Returns whether the call has logged a line that is kept.
    pub fn has_logged(&self) -> bool {
        self.lines > 0
    }

    /// Returns the CPU time of the call so far. Until the first tick it is the elapsed time, which
    /// is not less. The system call for a thread's CPU time would take half as long as the work on
    /// a small class.
    pub fn time(&self) -> Duration {
        match &self.ticked {
            None => self.passed(),
            Some(first) => {
                let now = self.settings.clock.thread_time();
                first.passed + now.saturating_sub(first.cpu)
            }
        }
    }

    /// Returns the time since the call began.
    fn passed(&self) -> Duration {
        self.settings.clock.now().saturating_sub(self.began)
    }
}

fn outside() -> wasmtime::Error {
    wasmtime::Error::msg("a view was used outside of `transform`")
}

fn log_level(level: Level) -> LogLevel {
    match level {
        Level::Error => LogLevel::Error,
        Level::Warn => LogLevel::Warn,
        Level::Info => LogLevel::Info,
        Level::Debug => LogLevel::Debug,
        Level::Trace => LogLevel::Trace,
    }
}

impl ResourceLimiter for StoreData {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(self.grow(current, desired))
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let bytes = |elements: usize| elements.saturating_mul(TABLE_ELEMENT);
        Ok(self.grow(bytes(current), bytes(desired)))
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
