//! Outputs of a trace while it is recorded: JSON lines, a table for each interval, metrics, OpenTelemetry.
//!
//! A thread of this command reads the event files that the agents append to. The agents are not involved.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use errors::{Error, codes};
use local_files::atomic;
use local_files::stdout::is_stdout;
use otlp::{Delivery, Export, Target};
use probes::events::Trace;
use standard_streams::show::{complain, say, show_beside};
use standard_streams::terminal;
use trace::numbers::seconds;
use trace::prometheus;
use trace::rolling::Rolling;
use trace::settling::SettlingJvms;
use trace::slow::LostCalls;
use trace::stream::Stream;
use trace::summary::{Order, Summary};
use trace::table::{self, Layout};
use trace_reports::completeness::StreamedLines;
use trace_reports::slow_trees::{SlowOptions, SlowTrees};

use crate::jvms::{EventFileSource, FollowedJvms, LiveEvent, now_ms};

/// Poll interval of the event files.
const TURN: Duration = Duration::from_millis(50);
/// Default interval of metrics.
const INTERVAL: Duration = Duration::from_secs(5);
/// Margin of an interval without sums: agents write sums once a second.
const LATE: Duration = Duration::from_millis(1_500);
/// Bytes of JSON lines in one write, about.
const PIECE: usize = 1 << 16;

/// Selected outputs.
#[derive(Debug, Clone, Default)]
pub struct LiveOptions {
    /// File for JSON lines. `-` is standard output.
    pub json_lines: Option<PathBuf>,
    /// Writes one line for each call, with names as numbers.
    pub compact: bool,
    /// Interval of printed tables.
    pub interval: Option<Duration>,
    /// File for metrics, replaced at each interval.
    pub prometheus: Option<PathBuf>,
    /// Collector of spans and metrics.
    pub otlp: Option<Target>,
    /// Trees of slow calls.
    pub slow: SlowOptions,
    /// Sort order of tables.
    pub order: Order,
    /// Number of rows of a table.
    pub rows: usize,
    /// Prints tables to standard error, because another output has standard output.
    pub beside: bool,
}

impl LiveOptions {
    /// Checks whether an output is selected.
    #[must_use]
    pub fn any(&self) -> bool {
        self.json_lines.is_some() || self.has_more()
    }

    /// Checks whether an output other than JSON lines is selected.
    fn has_more(&self) -> bool {
        self.interval.is_some()
            || self.prometheus.is_some()
            || self.otlp.is_some()
            || self.slow.slow.is_some()
    }
}

/// The outcome of the outputs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveOutcome {
    /// The outcome of JSON lines.
    pub lines: StreamedLines,
    /// The outcome of spans and metrics, if they were sent.
    pub delivery: Option<Delivery>,
    /// Number of tasks that could not be followed.
    pub lost_tasks: u64,
    /// Numbers of calls that are missing in trees of slow calls.
    pub lost_calls: LostCalls,
    /// Problems of single outputs. The other outputs are complete.
    pub failed: Vec<Error>,
}

/// Handle of the thread that writes the outputs. Dropping it ends the thread.
#[derive(Debug)]
pub struct Live {
    flags: Arc<Flags>,
    thread: Option<JoinHandle<LiveOutcome>>,
}

/// Flags between the thread and the command.
#[derive(Debug, Default)]
struct Flags {
    /// The recording is complete.
    ends: AtomicBool,
    /// All outputs are closed or full.
    enough: AtomicBool,
}

impl Live {
    /// Starts the outputs for the event files in a folder, which need not exist yet.
    ///
    /// # Errors
    /// If a file for JSON lines cannot be written (`H0620`), or the sender cannot start (`H0661`).
    pub fn start(
        which: EventFileSource,
        folder: &Path,
        options: LiveOptions,
    ) -> Result<Self, Error> {
        let flags = Arc::new(Flags::default());
        let theirs = Arc::clone(&flags);
        let mut writer = LiveWriter::new(FollowedJvms::new(which, folder), options)?;
        let thread = thread::spawn(move || {
            if let Err(problem) = writer.run(&theirs) {
                writer.failed.push(problem);
                theirs.enough.store(true, Ordering::Relaxed);
            }
            if writer.lines.as_ref().is_some_and(|lines| lines.closed) {
                theirs.enough.store(true, Ordering::Relaxed);
            }
            LiveOutcome {
                delivery: writer.deliver(),
                lines: match (&writer.lines, &writer.options.json_lines) {
                    (Some(lines), _) => StreamedLines::Calls(lines.calls()),
                    (None, Some(_)) => StreamedLines::CutShort,
                    (None, None) => StreamedLines::No,
                },
                lost_tasks: writer.lost_tasks,
                lost_calls: writer.lost_calls,
                failed: writer.failed,
            }
        });
        Ok(Self {
            flags,
            thread: Some(thread),
        })
    }

    /// Checks whether no more output is possible: the reader of the lines has gone, or a file is damaged.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.flags.enough.load(Ordering::Relaxed)
    }

    /// Writes the rest of a complete recording.
    #[must_use]
    pub fn finish(mut self) -> LiveOutcome {
        self.flags.ends.store(true, Ordering::Release);
        let outcome = self.thread.take().map(JoinHandle::join);
        match outcome {
            Some(Ok(streamed)) => streamed,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => LiveOutcome::default(),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.flags.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the command reports its own failure
        }
    }
}

/// State of the thread.
struct LiveWriter {
    jvms: FollowedJvms,
    options: LiveOptions,
    lines: Option<JsonLines>,
    export: Option<Export>,
    slow: Option<SlowTrees>,
    /// End of the last interval.
    begun: Instant,
    /// The problem of the last attempt to write metrics.
    without_metrics: Option<Error>,
    /// Number of tasks that could not be followed, of the output with the most.
    lost_tasks: u64,
    /// Numbers of calls that are missing in trees of slow calls.
    lost_calls: LostCalls,
    /// Problems of abandoned outputs.
    failed: Vec<Error>,
}

impl LiveWriter {
    fn new(jvms: FollowedJvms, mut options: LiveOptions) -> Result<Self, Error> {
        let lines = match &options.json_lines {
            Some(path) => Some(JsonLines::open(path, options.compact)?),
            None => None,
        };
        let export = match options.otlp.take() {
            Some(target) => Some(Export::start(target, complain)?),
            None => None,
        };
        Ok(Self {
            jvms,
            lines,
            export,
            slow: SlowTrees::of(&options.slow, options.beside)?,
            options,
            begun: Instant::now(),
            without_metrics: None,
            lost_tasks: 0,
            lost_calls: LostCalls::default(),
            failed: Vec::new(),
        })
    }

    fn run(&mut self, flags: &Flags) -> Result<(), Error> {
        let length = self.options.interval.unwrap_or(INTERVAL);
        loop {
            let is_last = flags.ends.load(Ordering::Acquire);
            let more = self.read()?;
            if is_last && !more {
                self.interval(true);
                let traces = self.jvms.all().map(|jvm| jvm.trace());
                let ended = self.lines.as_mut().map(|lines| lines.end(traces));
                self.lost_tasks = self
                    .lost_tasks
                    .max(self.lines.as_mut().map_or(0, JsonLines::lost_tasks));
                self.keep_lines(ended);
                let trees = self.slow.as_mut().map(|slow| slow.end(self.jvms.all()));
                let lost = self.slow.as_ref().map_or(0, SlowTrees::lost_tasks);
                self.lost_tasks = self.lost_tasks.max(lost);
                let slow = self.slow.as_ref();
                self.lost_calls = slow.map_or_else(LostCalls::default, SlowTrees::lost_calls);
                self.keep_trees(trees);
                let metrics = self.without_metrics.take().map(Error::partly);
                self.failed.extend(metrics);
                return Ok(());
            }
            if self.slow.as_ref().is_some_and(SlowTrees::is_full) {
                flags.enough.store(true, Ordering::Relaxed);
            }
            if self.begun.elapsed() >= length {
                self.interval(false);
            }
            if self.lines.as_ref().is_some_and(|lines| lines.closed) && !self.has_more() {
                return Ok(());
            }
            if !more {
                thread::sleep(TURN);
            }
        }
    }

    /// Checks whether an output other than JSON lines is open.
    fn has_more(&self) -> bool {
        self.options.has_more() || self.export.is_some()
    }

    /// Sends the remaining spans and metrics and returns the outcome.
    fn deliver(&mut self) -> Option<Delivery> {
        let export = self.export.take()?;
        let (delivery, lost) = export.end(self.jvms.all());
        self.lost_tasks = self.lost_tasks.max(lost);
        Some(delivery)
    }

    /// Reads from the event files. Returns whether more data is available.
    fn read(&mut self) -> Result<bool, Error> {
        let (lines, export, slow) = (&mut self.lines, &mut self.export, &mut self.slow);
        let begun = &mut self.begun;
        let more = self.jvms.read(&mut |jvm, trace, event| {
            if (jvm, event) == (0, LiveEvent::Begun) {
                *begun = Instant::now(); // the first interval has the full length
            }
            if let Some(lines) = lines {
                lines.take(jvm, trace, event);
            }
            match (slow.as_mut(), event) {
                (None, _) | (Some(_), LiveEvent::Begun | LiveEvent::Moment(..)) => {}
                (Some(slow), LiveEvent::Call(call, is_virtual)) => slow.call(jvm, call, is_virtual),
                (Some(slow), LiveEvent::Wait(wait)) => slow.wait(jvm, wait),
                (Some(slow), LiveEvent::Step(step)) => slow.step(jvm, step),
                (Some(slow), LiveEvent::Reset) => slow.reset(jvm),
            }
            match (export.as_mut(), event) {
                // A span is a call.
                (None, _) | (Some(_), LiveEvent::Moment(..) | LiveEvent::Wait(_)) => {}
                (Some(export), LiveEvent::Begun) => export.begin(jvm, trace),
                (Some(export), LiveEvent::Call(call, is_virtual)) => {
                    export.call(jvm, call, is_virtual);
                }
                (Some(export), LiveEvent::Step(step)) => export.step(jvm, step),
                (Some(export), LiveEvent::Reset) => export.reset(jvm, trace),
            }
        })?;
        if let Some(export) = export {
            export.turn(self.jvms.all());
        }
        let trees = self.slow.as_mut().map(|slow| slow.turn(self.jvms.all()));
        self.keep_trees(trees);
        let settled = self.lines.as_mut().map(|lines| lines.turn(self.jvms.all()));
        self.keep_lines(settled);
        let written = self.lines.as_mut().map(JsonLines::flush);
        self.keep_lines(written);
        Ok(more)
    }

    /// Abandons JSON lines that cannot be written.
    fn keep_lines(&mut self, written: Option<Result<(), Error>>) {
        if let Some(Err(problem)) = written {
            self.lines = None;
            self.give_up(problem.partly());
        }
    }

    /// Abandons trees that cannot be written.
    fn keep_trees(&mut self, written: Option<Result<(), Error>>) {
        if let Some(Err(problem)) = written {
            self.slow = None;
            self.give_up(problem.partly());
        }
    }

    /// Reports an abandoned output. The end of the command reports it again, as an error.
    fn give_up(&mut self, problem: Error) {
        say(format_args!("{}; the trace continues", problem.summary()));
        self.failed.push(problem);
    }

    /// Shows the interval that ends now, unless sums may still arrive.
    fn interval(&mut self, is_last: bool) {
        let waited = self.begun.elapsed();
        if let Some(length) = self.options.interval {
            let now = now_ms();
            let (added, times) = self.jvms.since_last(now);
            let is_late = waited >= length + LATE;
            match added.is_empty() {
                true if !is_last && !is_late => return,
                true if is_last => {}
                _ => {
                    self.jvms.all().for_each(|jvm| jvm.skip(now));
                    if let Err(problem) = self.table(added, times, waited) {
                        self.options.interval = None;
                        self.give_up(problem.partly());
                    }
                }
            }
        }
        self.begun = Instant::now();
        let failed = self.metrics().err();
        if let (Some(problem), None) = (&failed, &self.without_metrics) {
            say(format_args!(
                "{}; the next interval tries again",
                problem.summary()
            ));
        }
        self.without_metrics = failed;
    }

    fn metrics(&mut self) -> Result<(), Error> {
        if let Some(export) = &self.export {
            export.metrics(self.jvms.all());
        }
        let Some(path) = &self.options.prometheus else {
            return Ok(());
        };
        let jvms: Vec<Trace> = self.jvms.all().map(|jvm| jvm.trace().clone()).collect();
        atomic::file(path, &|out| prometheus::write(&jvms, out))
    }

    /// Prints the table of an interval.
    fn table(
        &mut self,
        mut added: Vec<Trace>,
        times: Vec<u64>,
        waited: Duration,
    ) -> Result<(), Error> {
        if added.is_empty() {
            let all = self.jvms.all().map(|jvm| jvm.trace());
            added.extend(all.map(|trace| Trace {
                spans: trace.spans.clone(),
                ..Trace::default()
            }));
        }
        let ms = times.into_iter().max();
        let time = ms.map_or(waited, Duration::from_millis).as_secs_f64();
        let mut text = format!("interval of {} s\n", seconds(time)).into_bytes();
        let layout = Layout {
            width: terminal::columns(),
            colours: terminal::colours(),
            rows: self.options.rows,
        };
        let summary = Summary::of(&added, self.options.order);
        table::write(&summary, &layout, &mut text)
            .map_err(|error| Error::fault(codes::H0624, error.to_string()))?;
        text.push(b'\n');
        let text = String::from_utf8_lossy(&text);
        show_beside(self.options.beside, &text)
    }
}

/// The output of JSON lines. Each write ends with a line.
struct JsonLines {
    path: PathBuf,
    out: Box<dyn Write + Send>,
    streams: Vec<Stream>,
    /// The JVMs with tasks.
    tasks: SettlingJvms<()>,
    compact: bool,
    /// Lines of the next write.
    waiting: Vec<u8>,
    /// The reader has closed the pipe.
    closed: bool,
    failed: Option<io::Error>,
}

impl JsonLines {
    fn open(path: &Path, compact: bool) -> Result<Self, Error> {
        let out: Box<dyn Write + Send> = if is_stdout(path) {
            Box::new(io::stdout())
        } else {
            let file = atomic::create(path);
            Box::new(file.map_err(|error| Error::unwritable(path, &error))?)
        };
        Ok(Self {
            path: path.to_owned(),
            out,
            streams: Vec::new(),
            tasks: SettlingJvms::default(),
            compact,
            waiting: Vec::new(),
            closed: false,
            failed: None,
        })
    }

    fn calls(&self) -> u64 {
        self.streams.iter().map(Stream::calls).sum()
    }

    fn take(&mut self, jvm: usize, trace: &Trace, event: LiveEvent<'_>) {
        while self.streams.len() <= jvm {
            self.streams.push(Stream::new(self.compact));
        }
        if self.closed || self.failed.is_some() {
            return;
        }
        let (stream, out) = (&mut self.streams[jvm], &mut self.waiting);
        let outcome = match event {
            LiveEvent::Begun => stream.begin(trace, out),
            LiveEvent::Call(call, is_virtual) => stream.call(trace, call, is_virtual, out),
            LiveEvent::Moment(moment, is_virtual) => stream.moment(trace, moment, is_virtual, out),
            LiveEvent::Step(step) => {
                stream.step(step);
                self.tasks.calls_of(jvm, || ());
                Ok(())
            }
            LiveEvent::Wait(_) => Ok(()), // JSON lines hold calls and events of plugins
            LiveEvent::Reset => stream.reset(trace, out),
        };
        let outcome = match outcome {
            Ok(()) if self.waiting.len() >= PIECE => self.write(),
            outcome => outcome,
        };
        self.failed = outcome.err();
    }

    /// Writes the pending lines.
    fn write(&mut self) -> io::Result<()> {
        let written = self.out.write_all(&self.waiting);
        self.waiting.clear();
        match written.and_then(|()| self.out.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            outcome => outcome,
        }
    }

    fn flush(&mut self) -> Result<(), Error> {
        let outcome = match self.failed.take() {
            Some(error) => Err(error),
            None if self.waiting.is_empty() || self.closed => Ok(()),
            None => self.write(),
        };
        outcome.map_err(|error| match is_stdout(&self.path) {
            true => Error::fault(codes::H0624, "cannot write to standard output")
                .with("found", error.to_string()),
            false => Error::cut_short(&self.path, &error),
        })
    }

    /// Adds the lines of tasks whose submissions are known, at intervals.
    fn turn<'r>(&mut self, all: impl Iterator<Item = &'r mut Rolling>) -> Result<(), Error> {
        let turn = self.tasks.turn(all).zip(&mut self.streams);
        for (((), trace, settled), stream) in turn {
            if let Err(error) = stream.settle(trace, settled, &mut self.waiting) {
                self.failed = Some(error);
            }
        }
        Ok(())
    }

    /// Returns the number of tasks that could not be followed.
    fn lost_tasks(&mut self) -> u64 {
        self.streams.iter_mut().map(Stream::take_lost_tasks).sum()
    }

    /// Writes the last lines of each JVM.
    fn end<'t>(&mut self, traces: impl Iterator<Item = &'t Trace>) -> Result<(), Error> {
        for (stream, trace) in self.streams.iter_mut().zip(traces) {
            let settled = stream.settle(trace, u64::MAX, &mut self.waiting);
            let ended = settled.and_then(|()| stream.end(trace, &mut self.waiting));
            if let Err(error) = ended {
                self.failed = Some(error);
            }
        }
        self.flush()
    }
}
