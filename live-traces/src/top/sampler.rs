//! The thread that reads event files and sends an interval of rates at a time.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use errors::Error;
use probes::events::{ThreadInfo, Trace};
use trace::names::class;
use trace::nesting::{CallSums, Nesting};
use trace::rates::{Interval, MethodId};

use crate::jvms::{FollowedJvms, LiveEvent, now_ms};

/// Poll interval of the event files.
const TURN: Duration = Duration::from_millis(50);
/// Margin of an interval without sums: agents write sums once a second.
const LATE: Duration = Duration::from_millis(1_500);

/// Handle of the thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct Sampler {
    ends: Arc<AtomicBool>,
    intervals: Receiver<Interval>,
    thread: Option<JoinHandle<Result<Vec<Trace>, Error>>>,
}

impl Sampler {
    /// Starts the thread. `calls` means that the recording has single calls, for threads and callers.
    #[must_use]
    pub fn start(jvms: FollowedJvms, length: Duration, calls: bool) -> Self {
        let ends = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&ends);
        let (sender, intervals) = mpsc::channel();
        let mut thread = SamplerThread {
            jvms,
            nestings: calls.then(Vec::new),
            length,
            begun: Instant::now(),
            sender,
        };
        Self {
            ends,
            intervals,
            thread: Some(thread::spawn(move || thread.run(&theirs))),
        }
    }

    /// Returns the next finished interval, if it comes within this time.
    #[must_use]
    pub fn next(&self, within: Duration) -> Option<Interval> {
        self.intervals.recv_timeout(within).ok()
    }

    /// Checks whether the thread has ended because of a damaged file.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.thread.as_ref().is_some_and(JoinHandle::is_finished)
    }

    /// Reads the rest of a complete recording. Returns the remaining intervals, and all traces without single calls.
    ///
    /// # Errors
    /// If a file could not be read.
    pub fn finish(mut self) -> Result<(Vec<Interval>, Vec<Trace>), Error> {
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
            let _ = thread.join(); // the command reports its own failure
        }
    }
}

/// State of the thread.
struct SamplerThread {
    jvms: FollowedJvms,
    /// Open calls of each JVM, if the recording has single calls.
    nestings: Option<Vec<Nesting>>,
    length: Duration,
    /// End of the last interval.
    begun: Instant,
    sender: Sender<Interval>,
}

impl SamplerThread {
    fn run(&mut self, ends: &AtomicBool) -> Result<Vec<Trace>, Error> {
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

    fn read(&mut self) -> Result<bool, Error> {
        let nestings = &mut self.nestings;
        let begun = &mut self.begun;
        self.jvms.read(&mut |jvm, _, event| {
            if (jvm, event) == (0, LiveEvent::Begun) {
                *begun = Instant::now(); // the first interval has the full length
            }
            let Some(nestings) = nestings else {
                return;
            };
            while nestings.len() <= jvm {
                nestings.push(Nesting::default());
            }
            match event {
                LiveEvent::Begun
                | LiveEvent::Moment(..)
                | LiveEvent::Wait(_)
                | LiveEvent::Step(_) => {}
                LiveEvent::Call(call, is_virtual) => nestings[jvm].take(call, is_virtual),
                LiveEvent::Reset => nestings[jvm].reset(),
            }
        })
    }

    /// Sends the interval since the last one. An interval without calls is sent only after the margin.
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
            // No call ended, but methods are traced.
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
        let _ = self.sender.send(interval); // fails after the receiver is dropped
    }

    /// Adds the threads and callers of single calls.
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

/// Returns the name of a thread. All virtual threads share one entry.
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
