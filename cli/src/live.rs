//! What is traced, shown while it is recorded: JSON lines, a table for each interval, metrics, OpenTelemetry.
//!
//! A thread of this command reads what the agents append to their event files; the agents know nothing of it.

pub mod jvms;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use probes::events::Trace;
use trace::numbers::seconds;
use trace::prometheus;
use trace::rolling::Rolling;
use trace::stream::Stream;
use trace::summary::{Order, Summary};
use trace::table::{self, Layout};

pub use jvms::{Happening, Jvms, Which};

use jvms::now_ms;

use crate::otlp::{Delivery, Export, Target};
use crate::outputs::atomic;
use crate::problem::Problem;
use crate::settling::SettlingJvms;
use crate::show::{say, show_beside};
use crate::slow::{SlowOptions, SlowTrees};
use crate::stdout::is_stdout;
use crate::terminal;
use crate::traces::StreamedLines;

/// How often the files are looked at.
const TURN: Duration = Duration::from_millis(50);
/// How often metrics are written if nothing else is said.
const INTERVAL: Duration = Duration::from_secs(5);
/// Sums are written once a second: an interval without any is over when it lasts so much longer.
const LATE: Duration = Duration::from_millis(1_500);
/// Lines are written in pieces of about this many bytes.
const PIECE: usize = 1 << 16;

/// What is shown.
#[derive(Debug, Clone, Default)]
pub struct Show {
    /// JSON lines go here; `-` is standard output.
    pub json_lines: Option<PathBuf>,
    /// One line for each call, and names as numbers.
    pub compact: bool,
    /// A table for each interval.
    pub interval: Option<Duration>,
    /// Metrics go here, anew in each interval.
    pub prometheus: Option<PathBuf>,
    /// Spans and metrics go here.
    pub otlp: Option<Target>,
    /// Trees of slow calls.
    pub slow: SlowOptions,
    /// What tables are sorted by.
    pub order: Order,
    /// How many rows a table has.
    pub rows: usize,
    /// Whether tables make room on standard output for something else.
    pub beside: bool,
}

impl Show {
    /// Whether anything is.
    #[must_use]
    pub fn any(&self) -> bool {
        self.json_lines.is_some() || self.has_more()
    }

    /// Whether something else than lines is.
    fn has_more(&self) -> bool {
        self.interval.is_some()
            || self.prometheus.is_some()
            || self.otlp.is_some()
            || self.slow.slow.is_some()
    }
}

/// What was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Streamed {
    /// What became of JSON lines.
    pub lines: StreamedLines,
    /// What became of spans and metrics, if these were sent.
    pub delivery: Option<Delivery>,
    /// Tasks that could not be followed.
    pub lost_tasks: u64,
    /// Why not all of it was shown; the rest was.
    pub failed: Vec<Problem>,
}

/// The thread that shows a trace. It ends with this value.
#[derive(Debug)]
pub struct Live {
    signs: Arc<Signs>,
    thread: Option<JoinHandle<Streamed>>,
}

/// What the thread and the rest of the command tell one another.
#[derive(Debug, Default)]
struct Signs {
    /// Everything is recorded.
    ends: AtomicBool,
    /// Nothing can be shown any more.
    enough: AtomicBool,
}

impl Live {
    /// Begins to show the event files in a folder, which need not be there yet.
    ///
    /// # Errors
    /// If the file for JSON lines cannot be written (`H0620`), or nothing can be sent (`H0661`).
    pub fn start(which: Which, folder: &Path, show: Show) -> Result<Self, Problem> {
        let signs = Arc::new(Signs::default());
        let theirs = Arc::clone(&signs);
        let mut shown = Shown::new(Jvms::new(which, folder), show)?;
        let thread = thread::spawn(move || {
            if let Err(problem) = shown.run(&theirs) {
                shown.failed.push(problem);
                theirs.enough.store(true, Ordering::Relaxed);
            }
            if shown.lines.as_ref().is_some_and(|lines| lines.closed) {
                theirs.enough.store(true, Ordering::Relaxed);
            }
            Streamed {
                delivery: shown.deliver(),
                lines: match (&shown.lines, &shown.show.json_lines) {
                    (Some(lines), _) => StreamedLines::Calls(lines.calls()),
                    (None, Some(_)) => StreamedLines::CutShort,
                    (None, None) => StreamedLines::No,
                },
                lost_tasks: shown.lost_tasks,
                failed: shown.failed,
            }
        });
        Ok(Self {
            signs,
            thread: Some(thread),
        })
    }

    /// Whether nothing more can be shown: whoever read the lines has gone, or a file is damaged.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        self.signs.enough.load(Ordering::Relaxed)
    }

    /// Shows the rest, when everything is recorded.
    #[must_use]
    pub fn finish(mut self) -> Streamed {
        self.signs.ends.store(true, Ordering::Release);
        let outcome = self.thread.take().map(JoinHandle::join);
        match outcome {
            Some(Ok(streamed)) => streamed,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Streamed::default(),
        }
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.signs.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the command has failed, and says why
        }
    }
}

/// What the thread holds.
struct Shown {
    jvms: Jvms,
    show: Show,
    lines: Option<Lines>,
    export: Option<Export>,
    slow: Option<SlowTrees>,
    /// When the last interval ended.
    begun: Instant,
    /// Why the metrics could not be written the last time.
    without_metrics: Option<Problem>,
    /// Tasks that could not be followed, of the output that lost most.
    lost_tasks: u64,
    /// What could not be shown, and is not tried any more.
    failed: Vec<Problem>,
}

impl Shown {
    fn new(jvms: Jvms, mut show: Show) -> Result<Self, Problem> {
        let lines = match &show.json_lines {
            Some(path) => Some(Lines::open(path, show.compact)?),
            None => None,
        };
        let export = match show.otlp.take() {
            Some(target) => Some(Export::start(target)?),
            None => None,
        };
        Ok(Self {
            jvms,
            lines,
            export,
            slow: SlowTrees::of(&show.slow, show.beside),
            show,
            begun: Instant::now(),
            without_metrics: None,
            lost_tasks: 0,
            failed: Vec::new(),
        })
    }

    fn run(&mut self, signs: &Signs) -> Result<(), Problem> {
        let length = self.show.interval.unwrap_or(INTERVAL);
        loop {
            let is_last = signs.ends.load(Ordering::Acquire);
            let more = self.read()?;
            if is_last && !more {
                self.interval(true);
                let traces = self.jvms.all().map(|jvm| jvm.trace());
                let ended = self.lines.as_mut().map(|lines| lines.end(traces));
                self.lost_tasks = self
                    .lost_tasks
                    .max(self.lines.as_mut().map_or(0, Lines::lost_tasks));
                self.keep_lines(ended);
                let trees = self.slow.as_mut().map(|slow| slow.end(self.jvms.all()));
                let lost = self.slow.as_ref().map_or(0, SlowTrees::lost_tasks);
                self.lost_tasks = self.lost_tasks.max(lost);
                self.keep_trees(trees);
                let metrics = self.without_metrics.take().map(Problem::partly);
                self.failed.extend(metrics);
                return Ok(());
            }
            if self.slow.as_ref().is_some_and(SlowTrees::is_full) {
                signs.enough.store(true, Ordering::Relaxed);
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

    /// Whether something else than lines is shown.
    fn has_more(&self) -> bool {
        self.show.has_more() || self.export.is_some()
    }

    /// Sends the rest of what is to be sent; what became of it all.
    fn deliver(&mut self) -> Option<Delivery> {
        let export = self.export.take()?;
        let (delivery, lost) = export.end(self.jvms.all());
        self.lost_tasks = self.lost_tasks.max(lost);
        Some(delivery)
    }

    /// Whether there is more to read at once.
    fn read(&mut self) -> Result<bool, Problem> {
        let (lines, export, slow) = (&mut self.lines, &mut self.export, &mut self.slow);
        let begun = &mut self.begun;
        let more = self.jvms.read(&mut |jvm, trace, happening| {
            if (jvm, happening) == (0, Happening::Begun) {
                *begun = Instant::now(); // the first interval is as long as the others
            }
            if let Some(lines) = lines {
                lines.take(jvm, trace, happening);
            }
            match (slow.as_mut(), happening) {
                (None, _) | (Some(_), Happening::Begun | Happening::Moment(..)) => {}
                (Some(slow), Happening::Call(call, is_virtual)) => slow.call(jvm, call, is_virtual),
                (Some(slow), Happening::Wait(wait)) => slow.wait(jvm, wait),
                (Some(slow), Happening::Step(step)) => slow.step(jvm, step),
                (Some(slow), Happening::Reset) => slow.reset(jvm),
            }
            match (export.as_mut(), happening) {
                // A span is a call.
                (None, _) | (Some(_), Happening::Moment(..) | Happening::Wait(_)) => {}
                (Some(export), Happening::Begun) => export.begin(jvm, trace),
                (Some(export), Happening::Call(call, is_virtual)) => {
                    export.call(jvm, call, is_virtual);
                }
                (Some(export), Happening::Step(step)) => export.step(jvm, step),
                (Some(export), Happening::Reset) => export.reset(jvm, trace),
            }
        })?;
        if let Some(export) = export {
            export.turn(self.jvms.all());
        }
        let trees = self.slow.as_mut().map(|slow| slow.turn(self.jvms.all()));
        self.keep_trees(trees);
        let settled = self.lines.as_mut().map(|lines| lines.turn(self.jvms.all()));
        self.keep_lines(settled);
        let written = self.lines.as_mut().map(Lines::flush);
        self.keep_lines(written);
        Ok(more)
    }

    /// Goes on without lines that cannot be written.
    fn keep_lines(&mut self, written: Option<Result<(), Problem>>) {
        if let Some(Err(problem)) = written {
            self.lines = None;
            self.give_up(problem.partly());
        }
    }

    /// Goes on without trees that cannot be written.
    fn keep_trees(&mut self, written: Option<Result<(), Problem>>) {
        if let Some(Err(problem)) = written {
            self.slow = None;
            self.give_up(problem.partly());
        }
    }

    /// Says that something is not shown any more; the end says it again, as an error.
    fn give_up(&mut self, problem: Problem) {
        say(format_args!("{}; the trace goes on", problem.cause()));
        self.failed.push(problem);
    }

    /// Shows what came in the interval that ends now, unless sums may be on their way.
    fn interval(&mut self, is_last: bool) {
        let waited = self.begun.elapsed();
        if let Some(length) = self.show.interval {
            let now = now_ms();
            let (added, times) = self.jvms.since_last(now);
            let is_late = waited >= length + LATE;
            match added.is_empty() {
                true if !is_last && !is_late => return,
                true if is_last => {}
                _ => {
                    self.jvms.all().for_each(|jvm| jvm.skip(now));
                    if let Err(problem) = self.table(added, times, waited) {
                        self.show.interval = None;
                        self.give_up(problem.partly());
                    }
                }
            }
        }
        self.begun = Instant::now();
        let failed = self.metrics().err();
        if let (Some(problem), None) = (&failed, &self.without_metrics) {
            say(format_args!("{}; it is tried again", problem.cause()));
        }
        self.without_metrics = failed;
    }

    fn metrics(&mut self) -> Result<(), Problem> {
        if let Some(export) = &self.export {
            export.metrics(self.jvms.all());
        }
        let Some(path) = &self.show.prometheus else {
            return Ok(());
        };
        let jvms: Vec<Trace> = self.jvms.all().map(|jvm| jvm.trace().clone()).collect();
        atomic::file(path, &|out| prometheus::write(&jvms, out))
    }

    /// Prints what was added in an interval.
    fn table(
        &mut self,
        mut added: Vec<Trace>,
        times: Vec<u64>,
        waited: Duration,
    ) -> Result<(), Problem> {
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
            rows: self.show.rows,
        };
        let summary = Summary::of(&added, self.show.order);
        table::write(&summary, &layout, &mut text)
            .map_err(|error| Problem::ours("H0624", error.to_string()))?;
        text.push(b'\n');
        let text = String::from_utf8_lossy(&text);
        show_beside(self.show.beside, &text)
    }
}

/// JSON lines, which are written whole.
struct Lines {
    path: PathBuf,
    out: Box<dyn Write + Send>,
    streams: Vec<Stream>,
    /// The JVMs with tasks.
    tasks: SettlingJvms<()>,
    compact: bool,
    /// Lines that wait to be written.
    waiting: Vec<u8>,
    /// Whoever read them has gone.
    closed: bool,
    failed: Option<io::Error>,
}

impl Lines {
    fn open(path: &Path, compact: bool) -> Result<Self, Problem> {
        let out: Box<dyn Write + Send> = if is_stdout(path) {
            Box::new(io::stdout())
        } else {
            let file = atomic::create(path);
            Box::new(file.map_err(|error| Problem::unwritable(path, &error))?)
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

    fn take(&mut self, jvm: usize, trace: &Trace, happening: Happening<'_>) {
        while self.streams.len() <= jvm {
            self.streams.push(Stream::new(self.compact));
        }
        if self.closed || self.failed.is_some() {
            return;
        }
        let (stream, out) = (&mut self.streams[jvm], &mut self.waiting);
        let outcome = match happening {
            Happening::Begun => stream.begin(trace, out),
            Happening::Call(call, is_virtual) => stream.call(trace, call, is_virtual, out),
            Happening::Moment(moment, is_virtual) => stream.moment(trace, moment, is_virtual, out),
            Happening::Step(step) => {
                stream.step(step);
                self.tasks.heard(jvm, || ());
                Ok(())
            }
            Happening::Wait(_) => Ok(()), // the lines are of calls and of events of plugins
            Happening::Reset => stream.reset(trace, out),
        };
        let outcome = match outcome {
            Ok(()) if self.waiting.len() >= PIECE => self.write(),
            outcome => outcome,
        };
        self.failed = outcome.err();
    }

    /// Hands the waiting lines over.
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

    fn flush(&mut self) -> Result<(), Problem> {
        let outcome = match self.failed.take() {
            Some(error) => Err(error),
            None if self.waiting.is_empty() || self.closed => Ok(()),
            None => self.write(),
        };
        outcome.map_err(|error| match is_stdout(&self.path) {
            true => Problem::ours("H0624", "cannot write to standard output")
                .with("found", error.to_string()),
            false => Problem::cut_short(&self.path, &error),
        })
    }

    /// Adds the lines of tasks whose submissions are known, now and then.
    fn turn<'r>(&mut self, all: impl Iterator<Item = &'r mut Rolling>) -> Result<(), Problem> {
        let turn = self.tasks.turn(all).zip(&mut self.streams);
        for (((), trace, settled), stream) in turn {
            if let Err(error) = stream.settle(trace, settled, &mut self.waiting) {
                self.failed = Some(error);
            }
        }
        Ok(())
    }

    /// Tasks that could not be followed.
    fn lost_tasks(&mut self) -> u64 {
        self.streams.iter_mut().map(Stream::take_lost_tasks).sum()
    }

    /// Writes the last lines of each JVM.
    fn end<'t>(&mut self, traces: impl Iterator<Item = &'t Trace>) -> Result<(), Problem> {
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
