//! Spans in this JVM: who records where, and the event file.
//!
//! What the running code writes to stays in the JVM for its lifetime, as the arrays of hits do
//! ([`crate::slots`]): a method that was entered as a span says so when it is left, also after the agent has left.

use crate::agent::Agent;
use crate::ffi::clock::{self, Start};
use crate::ffi::live::{self, CountArray};
use crate::ffi::phases::Live;
use crate::ffi::place;
use crate::ffi::refs::{Local, LocalRef};
use crate::ffi::values::Values;
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::{retransform, slots};
use probes::events::{EventWriter, SpanMode, ThreadInfo};
use probes::spans::{Joining, Runtime, Seen};
use probes::{ARRAY_LENGTH, Meta};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How often sums and counts are written; calls are with every turn of the agent thread.
const SUMS: Duration = Duration::from_secs(1);

/// How long `Agent_OnAttach` may take to return.
const BINDING: Duration = Duration::from_secs(60);

/// When the clocks were first compared.
static START: LazyLock<Start> = LazyLock::new(Start::now);
/// How captured values and threads are looked at, once the JVM is live.
static VALUES: OnceLock<Values> = OnceLock::new();
/// The arrays of counters, by number.
static COUNTERS: Mutex<Vec<CountArray>> = Mutex::new(Vec::new());
/// Where threads record; made when the first one calls in.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new(slots::table().spans(), START.nanos_per_tick()));

/// The event file of one agent.
#[derive(Debug)]
pub(crate) struct Spans {
    /// The tick at which its time begins.
    base: u64,
    state: Mutex<State>,
}

/// Of those who write the file, one at a time.
#[derive(Debug, Default)]
struct State {
    meta: Meta,
    folder: PathBuf,
    writer: Option<EventWriter>,
    /// The file cannot be made, which was said.
    refused: bool,
    sums_due: Option<Instant>,
    /// Counts as last written, by span.
    counted: HashMap<u32, i64>,
}

impl Spans {
    /// Time begins now; a file will lie in `folder`.
    pub fn new(meta: Meta, folder: PathBuf) -> Self {
        let state = State {
            meta,
            folder,
            ..State::default()
        };
        LazyLock::force(&START);
        Self {
            base: clock::ticks(),
            state: Mutex::new(state),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn counters() -> MutexGuard<'static, Vec<CountArray>> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks up what threads and captured values are read with.
pub(crate) fn learn(local: Local<'_>) {
    VALUES.get_or_init(|| Values::learn(local));
}

/// Whether the JVM has `Thread.threadId`, by which calls then name their thread.
pub(crate) fn thread_ids() -> bool {
    VALUES.get().is_some_and(Values::has_thread_ids)
}

/// Makes everything ready for the first span: counters, set to zero if an agent was here before.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn begin(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), (Code, String)> {
    agent.table.spans().begin_again();
    if let Some(runtime) = LazyLock::get(&RUNTIME) {
        runtime.begin_again();
    }
    let bound = live::natives_are_bound(agent.jvmti(), local, phase);
    agent.table.spans().hold(!bound);
    zero_counters(agent, phase, local).map_err(|cause| (Code::ProbeClass, cause))?;
    define_counters(agent, phase, local)
}

/// Waits until the JVM finds our native methods, which it does not before `Agent_OnAttach` has returned; then gives
/// the classes their spans that came too early. Called by the agent thread.
pub(crate) fn await_natives(agent: &Agent, phase: Live, local: Local<'_>) {
    let spans = agent.table.spans();
    if !spans.is_held() {
        return;
    }
    let until = Instant::now() + BINDING;
    while !live::natives_are_bound(agent.jvmti(), local, phase) {
        if !agent.is_running() || Instant::now() > until {
            return messages::error(
                Code::Thread,
                "the JVM does not find the native methods of the agent; no spans are recorded",
            );
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    spans.hold(false);
    if spans.take_postponed() {
        retransform::retransform_loaded(agent, phase, local);
    }
}

/// Who the current thread is, when it makes its first call.
pub(crate) fn join(agent: &Agent, phase: Live, local: Local<'_>) -> Option<Joining> {
    let values = VALUES.get()?;
    let (id, name) = values.current_thread(agent.jvmti(), phase, local)?;
    Some(Joining {
        runtime: &RUNTIME,
        owner: if values.has_thread_ids() { id? } else { 0 },
        clear: place::clear,
        thread: ThreadInfo {
            id: id.unwrap_or(0),
            name,
            is_virtual: false,
        },
    })
}

/// The number of the class of an object.
pub(crate) fn class_of(agent: &Agent, local: Local<'_>, object: &LocalRef<'_>) -> Option<u32> {
    let values = VALUES.get()?;
    values.class_number(agent.jvmti(), &RUNTIME, local, object)
}

/// What can be said of an object; texts are read into `text` as far as they fit.
pub(crate) fn read<'t>(
    agent: &Agent,
    local: Local<'_>,
    object: &LocalRef<'_>,
    text: &'t mut [u16],
) -> Option<Seen<'t>> {
    let values = VALUES.get()?;
    values.read(agent.jvmti(), &RUNTIME, local, object, text)
}

/// Defines arrays of counters ahead of need: one more than are in use. Their memory is taken by the first count.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn define_counters(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
) -> Result<(), (Code, String)> {
    loop {
        let number = counters().len();
        let used = agent.table.spans().counters().div_ceil(ARRAY_LENGTH);
        let Some(array) = u16::try_from(number).ok().filter(|_| number <= used) else {
            return Ok(());
        };
        let failed = |cause: &str| {
            (
                Code::ProbeClass,
                format!("class {array} of counters cannot be defined: {cause}"),
            )
        };
        let class = ProbeClass::counters(array).ok_or_else(|| failed("no name"))?;
        let array =
            live::define_counter_class(agent.jvmti(), local, phase, &class.name, &class.bytes)
                .map_err(|cause| failed(&cause))?;
        counters().push(array);
    }
}

/// Writes what spans have recorded since the last time: calls, and when they are due sums and those calls that have
/// been open since; with `all` sums and open calls in any case. Failures to write are reported when they begin.
pub(crate) fn drain(agent: &Agent, phase: Live, local: Local<'_>, all: bool) {
    let spans = agent.table.spans();
    if spans.is_empty() {
        return;
    }
    let mut state = agent.spans.state();
    let sums = all || state.sums_due.is_none_or(|due| due <= Instant::now());
    let counts = if sums {
        state.sums_due = Some(Instant::now() + SUMS);
        counts(agent, phase, local, &mut state.counted)
    } else {
        Vec::new()
    };
    let base = agent.spans.base;
    let Some(writer) = state.writer() else { return };
    writer.counts(counts);
    match LazyLock::get(&RUNTIME) {
        Some(runtime) => {
            runtime.drain(spans, writer, base, sums);
            if sums {
                runtime.drain_open(spans, writer, base, clock::ticks(), all);
            }
        }
        // Only counters so far.
        None => spans
            .take_changed()
            .iter()
            .for_each(|span| writer.span(span)),
    }
    if let Err(error) = writer.flush() {
        drop(state);
        messages::error(Code::Write, error);
    }
}

/// Ends the event file in good order.
pub(crate) fn complete(agent: &Agent) {
    if let Some(writer) = &mut agent.spans.state().writer
        && let Err(error) = writer.complete()
    {
        messages::error(
            Code::Write,
            format_args!("the event file is incomplete: {error}"),
        );
    }
}

/// Forgets what was recorded so far: all of it, or nothing if `plugin` has no spans.
///
/// # Errors
///
/// Which counters cannot be written, and why.
pub(crate) fn reset(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    plugin: Option<&str>,
) -> Result<(), String> {
    let spans = agent.table.spans();
    let meant = |name: &str| plugin.is_none_or(|plugin| plugin == name);
    if !spans.all().iter().any(|span| meant(&span.plugin)) {
        return Ok(());
    }
    let mut state = agent.spans.state();
    zero_counters(agent, phase, local)?;
    state.counted.clear();
    if let Some(writer) = &mut state.writer {
        match LazyLock::get(&RUNTIME) {
            Some(runtime) => runtime.reset(writer),
            None => writer.reset(),
        }
    }
    Ok(())
}

/// Sets every counter to zero.
fn zero_counters(agent: &Agent, phase: Live, local: Local<'_>) -> Result<(), String> {
    let used = agent.table.spans().counters();
    for (array, number) in counters().iter().zip(0..) {
        let length = used.saturating_sub(number * ARRAY_LENGTH).min(ARRAY_LENGTH);
        if length > 0 {
            live::zero_counters(agent.jvmti(), local, phase, array, length)
                .map_err(|cause| format!("counters {number} cannot be written: {cause}"))?;
        }
    }
    Ok(())
}

/// Switches every span off: calls entered from now on leave no record. What the instrumented code still costs ends
/// when its classes are retransformed.
pub(crate) fn switch_off(agent: &Agent) {
    agent.table.spans().set_mode(SpanMode::Off, |_| true);
}

/// The counters that changed, by span.
fn counts(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    counted: &mut HashMap<u32, i64>,
) -> Vec<(u32, u64)> {
    let mut changed = Vec::new();
    let mut buffer = Vec::new();
    for (array, number) in counters().iter().zip(0..) {
        let spans = agent.table.spans().counted(number);
        if spans.is_empty() {
            break;
        }
        buffer.resize(spans.len(), 0);
        if let Err(cause) = live::read_counters(agent.jvmti(), local, phase, array, &mut buffer) {
            messages::error(
                Code::ProbeClass,
                format_args!("counters {number} cannot be read: {cause}"),
            );
            continue;
        }
        for (span, count) in spans.iter().zip(&buffer) {
            if counted.insert(*span, *count).unwrap_or(0) != *count {
                changed.push((*span, count.cast_unsigned()));
            }
        }
    }
    changed
}

impl State {
    /// The event file, which is made when there is something to write.
    fn writer(&mut self) -> Option<&mut EventWriter> {
        if self.writer.is_none() && !self.refused {
            match EventWriter::create(&self.folder, &self.meta) {
                Ok(writer) => {
                    messages::info(format_args!(
                        "recording spans to {}",
                        writer.path().display()
                    ));
                    self.writer = Some(writer);
                }
                Err(error) => {
                    self.refused = true;
                    messages::error(Code::Output, format_args!("no spans are recorded: {error}"));
                }
            }
        }
        self.writer.as_mut()
    }
}
