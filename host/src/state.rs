//! What a plugin's store holds beside its memory: the call that is going on, limits, log.

use std::sync::Arc;
use std::time::Duration;

use plan_rules::{AnnotationBuilder, EventValues, SnippetBuilder, Transformation};
use plugin_code::MAX_MEMORY;
use rewriter::span::Capture;
use wasmtime::component::{Resource, ResourceTable};
use wasmtime::{ResourceLimiter, UpdateDeadline};

use crate::class::Call;
use crate::clock::{Clock, MachineClock};
use crate::config::LogLevel;
use crate::log_budget::{LogBudget, Room, left_out};
use crate::observer_call::ObserverCall;
use crate::recorded::ReportCall;

/// Most handles of an instance at once, `method-view`s included: as many as two classes can have methods.
pub const MAX_HANDLES: usize = 1 << 17;
/// Bytes that an element of a table counts for.
const TABLE_ELEMENT: usize = 16;
/// CPU time of the thread that one class may take.
pub const DEADLINE: Duration = Duration::from_millis(250);
/// Most `capture`s, `snippet`s and `annotation`s that exist at once.
const MAX_RESOURCES: usize = 1_024;
/// Bytes that each counts for beside what it says.
const RESOURCE_BYTES: usize = 256;
/// Log lines kept per call, and bytes of each.
const MAX_LINES: u32 = 100;
const MAX_LINE_BYTES: usize = 4 << 10;

/// The first tick of the epoch in a call.
struct FirstTick {
    /// CPU time of the thread.
    cpu: Duration,
    /// How long the call had been going on.
    passed: Duration,
}

/// Settings that all stores of a plugin share.
#[derive(Debug, Clone)]
pub struct StoreSettings {
    /// The name of the plugin, for log lines.
    pub plugin: String,
    /// The least severe level whose log lines are printed.
    pub level: LogLevel,
    /// Bounds the log lines of all instances together.
    pub log: Arc<LogBudget>,
    /// Measures the time that calls take.
    pub clock: Arc<dyn Clock>,
}

impl StoreSettings {
    /// Returns settings with an unused log and the machine's clock.
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
pub struct State {
    settings: StoreSettings,
    /// The call of `transform` that is going on.
    pub call: Option<Call>,
    /// The call of `report` that is going on.
    pub report: Option<ReportCall>,
    /// What an observer is told, and wants to be.
    pub observer: Option<ObserverCall>,
    /// Counts the calls, so that handles of an earlier class are recognised.
    pub round: u16,
    /// CPU time of the thread that a call may take.
    pub deadline: Duration,
    /// Set when the time was up.
    pub out_of_time: bool,
    /// Set when memory was refused.
    pub out_of_memory: bool,
    /// Linear memory and tables now, in bytes.
    memory: usize,
    /// Bytes that the plugin's `capture`s, `snippet`s and `annotation`s count for.
    kept: usize,
    /// What the plugin's `capture`s, `snippet`s and `annotation`s say.
    resources: ResourceTable,
    /// The last line logged at level 0, not yet printed: a panic's text, if the call traps.
    pub last_error: Option<String>,
    /// When the call began, by the clock of the settings.
    began: Duration,
    ticked: Option<FirstTick>,
    lines: u32,
}

impl State {
    /// Of a new instance.
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
            kept: 0,
            resources: resources(),
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

    /// The call of `transform` that is going on.
    pub fn call(&mut self) -> wasmtime::Result<&mut Call> {
        self.expect_memory()?;
        self.call.as_mut().ok_or_else(outside)
    }

    /// Linear memory, tables, and what the host keeps for the plugin, in bytes.
    pub fn memory(&self) -> usize {
        let call = self.call.as_ref();
        let asked = call.map_or(0, |call| call.transformation.bytes());
        let report = self.report.as_ref();
        let computed = report.map_or(0, |report| report.computed.bytes());
        self.memory + self.kept + asked + computed
    }

    /// The call of `report` that is going on.
    pub fn report(&mut self) -> wasmtime::Result<&mut ReportCall> {
        self.expect_memory()?;
        let found = self.report.as_mut();
        found.ok_or_else(|| {
            wasmtime::Error::msg("what was recorded was asked for outside of `report`")
        })
    }

    /// What an observer is told.
    pub fn observer(&mut self) -> wasmtime::Result<&mut ObserverCall> {
        self.expect_memory()?;
        let found = self.observer.as_mut();
        found.ok_or_else(|| wasmtime::Error::msg("events were asked for outside of `observer`"))
    }

    /// Expects the plugin to be within its memory, what the host keeps for it included.
    pub fn expect_memory(&mut self) -> wasmtime::Result<()> {
        if self.memory() <= MAX_MEMORY {
            return Ok(());
        }
        self.out_of_memory = true;
        Err(wasmtime::Error::msg(
            "what it asked for takes too much memory",
        ))
    }

    /// Keeps a new resource of the plugin's.
    pub fn keep<T: Kept>(&mut self, value: T) -> wasmtime::Result<Resource<T>> {
        self.kept += RESOURCE_BYTES + value.bytes();
        self.expect_memory()?;
        Ok(self.resources.push(value)?)
    }

    /// A resource of the plugin's.
    pub fn kept<T: Kept>(&self, resource: &Resource<T>) -> wasmtime::Result<&T> {
        Ok(self.resources.get(resource)?)
    }

    /// Changes a resource of the plugin's.
    pub fn change<T: Kept, R>(
        &mut self,
        resource: &Resource<T>,
        change: impl FnOnce(&mut T) -> R,
    ) -> wasmtime::Result<R> {
        let found = self.resources.get_mut(resource)?;
        let before = found.bytes();
        let result = change(found);
        self.kept = (self.kept + found.bytes()).saturating_sub(before);
        self.expect_memory()?;
        Ok(result)
    }

    /// Forgets a resource that the plugin gives up.
    pub fn forget<T: Kept>(&mut self, resource: Resource<T>) -> wasmtime::Result<()> {
        let gone = self.resources.delete(resource)?;
        self.kept = self.kept.saturating_sub(RESOURCE_BYTES + gone.bytes());
        Ok(())
    }

    /// What the plugin asks for in the class at hand.
    pub fn transformation(&mut self) -> wasmtime::Result<&mut Transformation> {
        Ok(&mut self.call()?.transformation)
    }

    /// A resource of the plugin's, and what it asks for in the class at hand.
    pub fn resource_and_transformation<T: Kept>(
        &mut self,
        resource: &Resource<T>,
    ) -> wasmtime::Result<(&T, &mut Transformation)> {
        self.expect_memory()?;
        let found = self.resources.get(resource)?;
        let call = self.call.as_mut().ok_or_else(outside)?;
        Ok((found, &mut call.transformation))
    }

    /// Counts memory that grows from `current` to `desired` bytes, if there is room for it.
    fn grow(&mut self, current: usize, desired: usize) -> bool {
        let more = desired.saturating_sub(current);
        if self.memory().saturating_add(more) > MAX_MEMORY {
            self.out_of_memory = true;
            return false;
        }
        self.memory += more;
        true
    }

    /// At a tick of the epoch: goes on while this thread has not used up its time since the first one.
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

    /// Whether a line at this level would be kept.
    pub fn keeps(&self, level: u8) -> bool {
        log_level(level) <= self.settings.level
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
        let plugin = escape::line(&self.settings.plugin);
        for line in text.lines() {
            if !self.keeps(level) || self.lines >= MAX_LINES {
                continue;
            }
            self.lines += 1;
            let line = escape::line(line);
            match self.settings.log.take(&line) {
                Room::Yes => eprintln!("classhook: plugin `{plugin}`: {line}"),
                Room::NoLonger => eprintln!("classhook: plugin `{plugin}`: {}", left_out()),
                Room::No => return,
            }
        }
    }

    /// Whether the call has logged a line that is kept.
    pub fn has_logged(&self) -> bool {
        self.lines > 0
    }

    /// CPU time that the call has taken so far. Until the first tick it is the time that has passed, which is no less: to
    /// ask for the thread's takes as long as half of the work on a small class.
    pub fn time(&self) -> Duration {
        match &self.ticked {
            None => self.passed(),
            Some(first) => {
                let now = self.settings.clock.thread_time();
                first.passed + now.saturating_sub(first.cpu)
            }
        }
    }

    /// Time that has passed since the call began.
    fn passed(&self) -> Duration {
        self.settings.clock.now().saturating_sub(self.began)
    }
}

/// What the host keeps for a plugin between its calls.
pub trait Kept: Send + 'static {
    /// Bytes that it counts for.
    fn bytes(&self) -> usize;
}

impl Kept for Capture {
    /// A byte for each argument that it names.
    fn bytes(&self) -> usize {
        256
    }
}

impl Kept for EventValues {
    fn bytes(&self) -> usize {
        EventValues::bytes(self)
    }
}

impl Kept for SnippetBuilder {
    fn bytes(&self) -> usize {
        SnippetBuilder::bytes(self)
    }
}

impl Kept for AnnotationBuilder {
    fn bytes(&self) -> usize {
        AnnotationBuilder::bytes(self)
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

impl ResourceLimiter for State {
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
