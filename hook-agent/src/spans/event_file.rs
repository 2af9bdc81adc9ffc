//! The event file of one session: the agent's own, or a command's.
//!
//! A native thread (`recorder`) takes the calls from the application's threads. The JVM does not know it, so neither a
//! safepoint nor a class change delays it. It waits for no lock under which the JVM is called. The agent thread adds
//! the counts, which it reads through JNI, and the sums.

use crate::ffi::clock;
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::probe_table::table;
use crate::spans::recorder::Recorder;
use crate::spans::{counters, recorder, runtime};
use host::config::{self, Agent};
use probes::events::{EventWriter, SizeLimit, WhenFull};
use probes::spans::Drained;
use probes::{Meta, SpanTable};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Interval at which sums and counts are written.
const SUMS: Duration = Duration::from_secs(1);

/// Number of passes after which everything that was queued is read, even if one thread has written it all.
const PASSES: usize = 128;

/// The event file of one session.
#[derive(Debug)]
pub(crate) struct EventFile {
    file: Arc<SharedFile>,
    recorder: Mutex<Option<Recorder>>,
    /// Held while sums and counts are read and written, or cleared. It is taken before the lock of the file.
    sums: Mutex<Sums>,
}

/// The state that the agent thread and the recorder share.
#[derive(Debug)]
struct SharedFile {
    /// The number of the session.
    session: u8,
    /// The tick at which the time of the session begins.
    base: u64,
    state: Mutex<State>,
}

/// The state of the thread that writes the file.
#[derive(Debug, Default)]
struct State {
    meta: Meta,
    folder: PathBuf,
    limit: Option<SizeLimit>,
    writer: Option<EventWriter>,
    /// The path of the file, for a command's session.
    path: Option<PathBuf>,
    /// True if the file cannot be created, which was reported, or is complete.
    closed: bool,
}

/// The time of the next write of sums and counts, and their last values.
#[derive(Debug, Default)]
struct Sums {
    due: Option<Instant>,
    /// The counters at their last reset, by span.
    zero: HashMap<u32, i64>,
    /// The counts as last written, by span.
    written: HashMap<u32, u64>,
}

impl Sums {
    /// Returns the counts that changed since the last call, by span.
    fn changed(&mut self, counters: Vec<(u32, i64)>) -> Vec<(u32, u64)> {
        let changed = counters.into_iter().filter_map(|(span, counter)| {
            let zero = self.zero.get(&span).copied().unwrap_or(0);
            let count = counter.wrapping_sub(zero).cast_unsigned();
            let before = self.written.insert(span, count).unwrap_or(0);
            (before != count).then_some((span, count))
        });
        changed.collect()
    }
}

impl EventFile {
    /// Creates the event file of a session, whose time begins now. The file will be in the output folder.
    pub fn new(session: u8, meta: Meta, settings: &Agent) -> Self {
        let limit = settings.max_size.map(|bytes| SizeLimit {
            bytes,
            when_full: match settings.when_full.unwrap_or_default() {
                config::WhenFull::DropOldest => WhenFull::DropOldest,
                config::WhenFull::Stop => WhenFull::Stop,
            },
        });
        let state = State {
            meta,
            folder: settings.output.clone(),
            limit,
            ..State::default()
        };
        runtime::start_clock();
        Self {
            file: Arc::new(SharedFile {
                session,
                base: clock::ticks(),
                state: Mutex::new(state),
            }),
            recorder: Mutex::default(),
            sums: Mutex::default(),
        }
    }

    /// The tick at which its time begins.
    pub fn base(&self) -> u64 {
        self.file.base
    }

    /// Creates the folder and the file, and returns its path.
    ///
    /// # Errors
    ///
    /// The reason why the file cannot be created.
    pub fn open(&self, jvm: Jvm<'_>) -> Result<PathBuf, String> {
        let mut sums = lock(&self.sums);
        sums.zero = counters::read(jvm, self.file.session).into_iter().collect();
        let mut state = self.file.state();
        let made = std::fs::create_dir_all(&state.folder).map_err(|error| error.to_string());
        made?;
        let writer = EventWriter::create(&state.folder, &state.meta);
        let writer = writer.map_err(|error| error.to_string())?;
        let path = writer.path().to_owned();
        state.path = Some(path.clone());
        state.writer = Some(writer.with_limit(state.limit));
        Ok(path)
    }

    /// Starts the recorder, unless it is running.
    pub fn record(&self) {
        let mut recorder = lock(&self.recorder);
        if recorder.is_some() || self.file.state().closed {
            return;
        }
        let file = Arc::clone(&self.file);
        match recorder::start(self.file.session, move || file.drain()) {
            Ok(started) => *recorder = Some(started),
            Err(error) => messages::warning(
                Code::Thread,
                format_args!(
                    "the thread that reads calls cannot be started; the agent thread reads them, and some may be lost: {error}"
                ),
            ),
        }
    }

    /// Writes calls. If they are due, or with `all`, it also writes sums, counts and calls that have been open since
    /// the last time. Failures to write are reported when they begin.
    pub fn write(&self, jvm: Jvm<'_>, all: bool) {
        let spans = self.file.spans();
        if spans.is_empty() {
            return;
        }
        let mut sums = lock(&self.sums);
        let is_due = all || sums.due.is_none_or(|due| due <= Instant::now());
        if !is_due || self.file.is_clogged() {
            drop(sums);
            self.file.drain();
            return;
        }
        sums.due = Some(Instant::now() + SUMS);
        let counts = sums.changed(counters::read(jvm, self.file.session));
        let recorded =
            runtime::get(self.file.session).map(|runtime| (runtime, runtime.changed_sums(spans)));
        self.file.write(|writer| {
            writer.counts(counts);
            let Some((runtime, sums)) = recorded else {
                return;
            };
            writer.aggregates(sums.iter().map(|(span, sum)| (*span, sum)));
            // No other thread writes calls meanwhile, so the end of an open call comes after it.
            let open = runtime.open_calls(spans, self.base(), clock::ticks(), all);
            open.iter()
                .for_each(|(call, is_virtual)| writer.call(call, *is_virtual));
            if let Some(reader) = runtime::reader(jvm.jvmti, jvm.local) {
                let abandoned = runtime.abandoned_calls(&reader, self.base(), clock::ticks());
                abandoned.iter().for_each(|call| writer.call(call, true));
            }
        });
    }

    /// Completes and closes the file, and writes it again if it was removed meanwhile.
    pub fn complete(&self) {
        let recorder = lock(&self.recorder).take();
        drop(recorder); // waits for its end
        self.file.drain_rest();
        let mut state = self.file.state();
        state.closed = true;
        let Some(mut writer) = state.writer.take() else {
            return;
        };
        drop(state);
        if let Err(error) = writer.complete() {
            messages::error(
                Code::Write,
                format_args!("the event file is incomplete: {error}"),
            );
        }
        let path = writer.path().display().to_string();
        match writer.restore() {
            Ok(false) => {}
            Ok(true) => messages::warning(
                Code::Write,
                format_args!("{path} was removed during the run; it was written again"),
            ),
            Err(error) => messages::error(
                Code::Write,
                format_args!(
                    "{path} was removed during the run, and cannot be written again: {error}"
                ),
            ),
        }
    }

    /// Removes the file, which is complete and empty.
    pub fn remove(&self) {
        if let Some(path) = self.file.state().path.take() {
            let _ = std::fs::remove_file(path); // it may be gone
        }
    }

    /// Clears all recorded data, or nothing if `plugin` has no spans.
    pub fn reset(&self, jvm: Jvm<'_>, plugin: Option<&str>) {
        let meant = |name: &str| plugin.is_none_or(|plugin| plugin == name);
        let spans = self.file.spans();
        if !spans.all().iter().any(|span| meant(&span.plugin)) {
            return;
        }
        let mut sums = lock(&self.sums);
        spans.reset_limits(plugin);
        sums.zero = counters::read(jvm, self.file.session).into_iter().collect();
        sums.written.clear();
        if let Some(writer) = &mut self.file.state().writer {
            match runtime::get(self.file.session) {
                Some(runtime) => runtime.reset(writer),
                None => writer.reset(),
            }
        }
    }
}

impl SharedFile {
    /// The spans of the session.
    fn spans(&self) -> &'static SpanTable {
        table().spans_of(self.session)
    }

    /// Writes the calls that the application's threads have recorded since the last time.
    fn drain(&self) -> Drained {
        self.write(|_| ())
    }

    /// Writes all calls that the application's threads have recorded before.
    fn drain_rest(&self) {
        for _ in 0..PASSES {
            if self.drain() != Drained::Part {
                return;
            }
        }
    }

    /// Writes the calls that the application's threads have recorded since the last time, and the data that `more`
    /// adds.
    fn write(&self, more: impl FnOnce(&mut EventWriter)) -> Drained {
        let spans = self.spans();
        if spans.is_empty() {
            return Drained::Nothing;
        }
        let mut state = self.state();
        let Some(writer) = state.writer() else {
            return Drained::Nothing;
        };
        let drained = match runtime::get(self.session) {
            Some(runtime) => runtime.drain(spans, writer, self.base),
            None => {
                // Only counters so far.
                spans
                    .take_changed()
                    .iter()
                    .for_each(|span| writer.span(span));
                Drained::Nothing
            }
        };
        more(writer);
        if let Err(error) = writer.flush() {
            drop(state);
            messages::error(Code::Write, error);
        }
        drained
    }

    /// Checks whether nothing can be written and much data is queued.
    fn is_clogged(&self) -> bool {
        let state = self.state();
        state.writer.as_ref().is_some_and(EventWriter::is_clogged)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// The event file, created when there is data to write.
    fn writer(&mut self) -> Option<&mut EventWriter> {
        if self.writer.is_none() && !self.closed {
            match EventWriter::create(&self.folder, &self.meta) {
                Ok(writer) => {
                    messages::info(format_args!(
                        "recording spans to {}",
                        writer.path().display()
                    ));
                    self.writer = Some(writer.with_limit(self.limit));
                }
                Err(error) => {
                    self.closed = true;
                    messages::error(Code::Output, format_args!("no spans are recorded: {error}"));
                }
            }
        }
        self.writer.as_mut()
    }
}

/// Locks a mutex. A panic of another holder cannot have left its state inconsistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
