//! The thread that reads event files and hands over what happened in each interval.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use probes::events::{ThreadInfo, Trace};
use trace::names::class;
use trace::nesting::{CallSums, Nesting};
use trace::rates::{Interval, MethodId};

use crate::live::jvms::now_ms;
use crate::live::{Happening, Jvms};
use crate::problem::Problem;

/// How often the files are looked at.
const TURN: Duration = Duration::from_millis(50);
/// Sums are written once a second: an interval without any is over when it lasts so much longer.
const LATE: Duration = Duration::from_millis(1_500);

/// The thread. It ends with this value.
#[derive(Debug)]
pub struct Sampler {
    ends: Arc<AtomicBool>,
    intervals: Receiver<Interval>,
    thread: Option<JoinHandle<Result<Vec<Trace>, Problem>>>,
}

impl Sampler {
    /// Begins to read. `calls`: single calls are recorded, of which threads and callers are made.
    #[must_use]
    pub fn start(jvms: Jvms, length: Duration, calls: bool) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&ends);
        let (sender, intervals) = mpsc::channel();
        let mut reading = Reading {
            jvms,
            nestings: calls.then(Vec::new),
            length,
            begun: Instant::now(),
            sender,
        };
        Self {
            ends,
            intervals,
            thread: Some(thread::spawn(move || reading.run(&theirs))),
        }
    }

    /// The next interval that is over, if it comes within this time.
    #[must_use]
    pub fn next(&self, within: Duration) -> Option<Interval> {
        self.intervals.recv_timeout(within).ok()
    }

    /// Whether nothing more can be read, because a file is damaged.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Reads the rest, when everything is recorded: the intervals that are left, and what was recorded in all, without
    /// single calls.
    ///
    /// # Errors
    /// If a file could not be read.
    pub fn finish(mut self) -> Result<(Vec<Interval>, Vec<Trace>), Problem> {
        self.ends.store(true, Ordering::Release);
        let outcome = self.thread.take().map(JoinHandle::join);
        let traces = match outcome {
            Some(Ok(outcome)) => outcome?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => Vec::new(),
        };
        Ok((self.intervals.try_iter().collect(), traces))
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the command has failed, and says why
        }
    }
}

/// What the thread holds.
struct Reading {
    jvms: Jvms,
    /// Of each JVM, if single calls are wanted.
    nestings: Option<Vec<Nesting>>,
    length: Duration,
    /// When the last interval ended.
    begun: Instant,
    sender: Sender<Interval>,
}

impl Reading {
    fn run(&mut self, ends: &AtomicBool) -> Result<Vec<Trace>, Problem> {
        loop {
            let is_last = ends.load(Ordering::Acquire);
            let more = self.read()?;
            if is_last && !more {
                self.sample(true);
                return Ok(self.jvms.all().map(|jvm| jvm.trace().clone()).collect());
            }
            if self.begun.elapsed() >= self.length {
                self.sample(false);
            }
            if !more {
                thread::sleep(TURN);
            }
        }
    }

    fn read(&mut self) -> Result<bool, Problem> {
        let nestings = &mut self.nestings;
        let begun = &mut self.begun;
        self.jvms.read(&mut |jvm, _, happening| {
            if (jvm, happening) == (0, Happening::Begun) {
                *begun = Instant::now(); // the first interval is as long as the others
            }
            let Some(nestings) = nestings else {
                return;
            };
            while nestings.len() <= jvm {
                nestings.push(Nesting::default());
            }
            match happening {
                Happening::Begun
                | Happening::Moment(..)
                | Happening::Wait(_)
                | Happening::Step(_) => {}
                Happening::Call(call, is_virtual) => nestings[jvm].take(call, is_virtual),
                Happening::Reset => nestings[jvm].reset(),
            }
        })
    }

    /// Hands over what came since the last time; if nothing did, only when it is late.
    fn sample(&mut self, is_last: bool) {
        let now = now_ms();
        let (added, times) = self.jvms.since_last(now);
        let waited = self.begun.elapsed();
        if added.is_empty() && (is_last || waited < self.length + LATE) {
            return;
        }
        let ms = times.into_iter().max();
        let seconds = ms.map_or(waited, Duration::from_millis).as_secs_f64();
        let mut interval = match added.is_empty() {
            // Nothing was called, but methods are traced.
            true => Interval {
                traced: self.jvms.all().map(|jvm| jvm.trace().spans.len()).sum(),
                seconds,
                ..Interval::default()
            },
            false => Interval::of(&added, seconds),
        };
        for jvm in self.jvms.all() {
            jvm.skip(now);
            interval.lost = interval.lost.and(&jvm.trace().lost);
        }
        self.add_calls(&mut interval);
        self.begun = Instant::now();
        let _ = self.sender.send(interval); // nobody looks any more
    }

    /// Adds what single calls say of threads and callers.
    fn add_calls(&mut self, interval: &mut Interval) {
        let Some(nestings) = &mut self.nestings else {
            return;
        };
        for (nesting, jvm) in nestings.iter_mut().zip(self.jvms.all()) {
            let (threads, callers) = nesting.take_sums();
            let trace = jvm.trace();
            let known = |(id, sums): (Option<u64>, CallSums)| (thread(trace, id), sums);
            interval.threads.extend(threads.into_iter().map(known));
            let mut ids = HashMap::new();
            let mut id = |span: u32| {
                ids.entry(span)
                    .or_insert_with(|| method(trace, span))
                    .clone()
            };
            for ((called, caller), sums) in callers {
                interval
                    .callers
                    .push((id(called), caller.map(&mut id), sums));
            }
        }
    }
}

/// What is known of a thread; virtual ones are together.
fn thread(trace: &Trace, id: Option<u64>) -> ThreadInfo {
    let unnamed = ThreadInfo {
        id: id.unwrap_or_default(),
        name: String::new(),
        is_virtual: id.is_none(),
    };
    let known = id.and_then(|id| trace.threads.get(&id));
    known.cloned().unwrap_or(unnamed)
}

fn method(trace: &Trace, span: u32) -> MethodId {
    let span = trace.spans.get(&span);
    span.map_or_else(MethodId::default, |span| MethodId {
        class: class(&span.class),
        method: trace::names::printable(&span.method),
        descriptor: trace::names::printable(&span.descriptor),
    })
}
