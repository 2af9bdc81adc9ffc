//! The event file of one agent.
//!
//! Calls are taken from the threads of the application by a thread of its own (`recorder`), which the JVM does not know:
//! neither a safepoint nor a class change keeps it from reading, and it waits for no lock under which the JVM is called.
//! The agent thread adds the counts, which it reads through JNI, and the sums.

use crate::ffi::clock;
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::probe_table::table;
use crate::spans::recorder::Recorder;
use crate::spans::{counters, recorder, runtime};
use host::config::{self, Agent};
use probes::Meta;
use probes::events::{EventWriter, SizeLimit, WhenFull};
use probes::spans::Drained;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often sums and counts are written.
const SUMS: Duration = Duration::from_secs(1);

/// In so many passes all is read that can wait, also if one thread has written it.
const PASSES: usize = 128;

/// The event file of one agent.
#[derive(Debug)]
pub(crate) struct EventFile {
    file: Arc<File>,
    recorder: Mutex<Option<Recorder>>,
    /// Held while sums and counts are read and written, or forgotten; before the lock of the file.
    sums: Mutex<Sums>,
}

/// What the agent thread and the recorder share.
#[derive(Debug)]
struct File {
    /// The tick at which its time begins.
    base: u64,
    state: Mutex<State>,
}

/// What the thread that writes the file holds.
#[derive(Debug, Default)]
struct State {
    meta: Meta,
    folder: PathBuf,
    limit: Option<SizeLimit>,
    writer: Option<EventWriter>,
    /// The file cannot be made, which was reported, or is complete.
    closed: bool,
}

/// When sums and counts are written, and what was.
#[derive(Debug, Default)]
struct Sums {
    due: Option<Instant>,
    /// Counts as last written, by span.
    written: HashMap<u32, i64>,
}

impl EventFile {
    /// Time begins now; the file will lie in the output folder.
    pub fn new(meta: Meta, settings: &Agent) -> Self {
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
            file: Arc::new(File {
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

    /// Lets the recorder read what the threads of the application write, if it does not yet.
    pub fn record(&self) {
        let mut recorder = lock(&self.recorder);
        if recorder.is_some() || self.file.state().closed {
            return;
        }
        let file = Arc::clone(&self.file);
        match recorder::start(move || file.drain()) {
            Ok(started) => *recorder = Some(started),
            Err(error) => messages::warning(
                Code::Thread,
                format_args!(
                    "no thread can be had that reads single calls; the agent thread does, and some may be lost: {error}"
                ),
            ),
        }
    }

    /// Writes what spans have recorded since the last time: calls, and when they are due sums, counts and those calls
    /// that have been open since; with `all` these in any case. Failures to write are reported when they begin.
    pub fn write(&self, jvm: Jvm<'_>, all: bool) {
        let spans = table().spans();
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
        let counts = counters::take_changed(jvm, &mut sums.written);
        let recorded = runtime::get().map(|runtime| (runtime, runtime.changed_sums(spans)));
        self.file.write(|writer| {
            writer.counts(counts);
            let Some((runtime, sums)) = recorded else {
                return;
            };
            writer.aggregates(sums.iter().map(|(span, sum)| (*span, sum)));
            // Nobody writes calls that have ended meanwhile: the end of one that is open comes behind it.
            let open = runtime.open_calls(spans, self.base(), clock::ticks(), all);
            open.iter()
                .for_each(|(call, is_virtual)| writer.call(call, *is_virtual));
        });
    }

    /// Writes the end, and closes the file; if it was removed meanwhile, it is written again.
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
                format_args!("{path} was removed while the program ran; it was written again"),
            ),
            Err(error) => messages::error(
                Code::Write,
                format_args!(
                    "{path} was removed while the program ran, and cannot be written again: {error}"
                ),
            ),
        }
    }

    /// Forgets what was recorded so far: all of it, or nothing if `plugin` has no spans.
    ///
    /// # Errors
    ///
    /// Which counters cannot be written, and why.
    pub fn reset(&self, jvm: Jvm<'_>, plugin: Option<&str>) -> Result<(), String> {
        let meant = |name: &str| plugin.is_none_or(|plugin| plugin == name);
        if !table().spans().all().iter().any(|span| meant(&span.plugin)) {
            return Ok(());
        }
        let mut sums = lock(&self.sums);
        table().spans().forget_limits(plugin);
        counters::zero(jvm)?;
        sums.written.clear();
        if let Some(writer) = &mut self.file.state().writer {
            match runtime::get() {
                Some(runtime) => runtime.reset(writer),
                None => writer.reset(),
            }
        }
        Ok(())
    }
}

impl File {
    /// Writes what the threads of the application have written since the last time.
    fn drain(&self) -> Drained {
        self.write(|_| ())
    }

    /// Writes everything that the threads of the application have written before this was called.
    fn drain_rest(&self) {
        for _ in 0..PASSES {
            if self.drain() != Drained::Part {
                return;
            }
        }
    }

    /// Writes what the threads of the application have written since the last time, and what `more` adds.
    fn write(&self, more: impl FnOnce(&mut EventWriter)) -> Drained {
        let spans = table().spans();
        if spans.is_empty() {
            return Drained::Nothing;
        }
        let mut state = self.state();
        let Some(writer) = state.writer() else {
            return Drained::Nothing;
        };
        let drained = match runtime::get() {
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

    /// Whether nothing can be written and much waits.
    fn is_clogged(&self) -> bool {
        let state = self.state();
        state.writer.as_ref().is_some_and(EventWriter::is_clogged)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// The event file, which is made when there is something to write.
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

/// What a lock guards; a panic elsewhere while it was held cannot have left it half-changed in a harmful way.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
