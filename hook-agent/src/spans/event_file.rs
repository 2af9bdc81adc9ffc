//! The event file of one agent.

use crate::ffi::clock;
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::probe_table::table;
use crate::spans::{counters, runtime};
use probes::Meta;
use probes::events::EventWriter;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often sums and counts are written; calls are with every turn of the agent thread.
const SUMS: Duration = Duration::from_secs(1);

/// The event file of one agent.
#[derive(Debug)]
pub(crate) struct EventFile {
    /// The tick at which its time begins.
    base: u64,
    state: Mutex<State>,
}

/// What the thread that writes the file holds.
#[derive(Debug, Default)]
struct State {
    meta: Meta,
    folder: PathBuf,
    writer: Option<EventWriter>,
    /// The file cannot be made, which was reported.
    refused: bool,
    sums_due: Option<Instant>,
    /// Counts as last written, by span.
    written: HashMap<u32, i64>,
}

impl EventFile {
    /// Time begins now; the file will lie in `folder`.
    pub fn new(meta: Meta, folder: PathBuf) -> Self {
        let state = State {
            meta,
            folder,
            ..State::default()
        };
        runtime::start_clock();
        Self {
            base: clock::ticks(),
            state: Mutex::new(state),
        }
    }

    /// Writes what spans have recorded since the last time: calls, and when they are due sums and those calls that
    /// have been open since; with `all` sums and open calls in any case. Failures to write are reported when they
    /// begin.
    pub fn write(&self, jvm: Jvm<'_>, all: bool) {
        let spans = table().spans();
        if spans.is_empty() {
            return;
        }
        let mut state = self.state();
        let sums = all || state.sums_due.is_none_or(|due| due <= Instant::now());
        let counts = if sums {
            state.sums_due = Some(Instant::now() + SUMS);
            counters::take_changed(jvm, &mut state.written)
        } else {
            Vec::new()
        };
        let Some(writer) = state.writer() else { return };
        writer.counts(counts);
        match runtime::get() {
            Some(runtime) => {
                runtime.drain(spans, writer, self.base, sums);
                if sums {
                    runtime.drain_open(spans, writer, self.base, clock::ticks(), all);
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

    /// Writes the end.
    pub fn complete(&self) {
        if let Some(writer) = &mut self.state().writer
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
    pub fn reset(&self, jvm: Jvm<'_>, plugin: Option<&str>) -> Result<(), String> {
        let meant = |name: &str| plugin.is_none_or(|plugin| plugin == name);
        if !table().spans().all().iter().any(|span| meant(&span.plugin)) {
            return Ok(());
        }
        let mut state = self.state();
        counters::zero(jvm)?;
        state.written.clear();
        if let Some(writer) = &mut state.writer {
            match runtime::get() {
                Some(runtime) => runtime.reset(writer),
                None => writer.reset(),
            }
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
