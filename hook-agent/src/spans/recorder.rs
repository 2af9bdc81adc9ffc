//! The recorder: the thread that takes calls of spans from the application's threads and writes them.

use crate::spans::runtime;
use probes::spans::Drained;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

/// Pause while there are calls. In this time a thread fills only a small part of the memory for calls.
const PAUSE: Duration = Duration::from_millis(10);
/// Pause while there are no calls.
const IDLE: Duration = Duration::from_millis(50);

/// The thread. It ends when the value is dropped.
#[derive(Debug)]
pub(crate) struct Recorder {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread of a session, which calls `drain` in a loop. It is no thread of the JVM, and inherits the signal
/// mask.
///
/// # Errors
///
/// The reason why it cannot be started.
pub(crate) fn start(
    session: u8,
    drain: impl Fn() -> Drained + Send + 'static,
) -> io::Result<Recorder> {
    let ends = Arc::new(AtomicBool::new(false));
    let ended = Arc::clone(&ends);
    let thread = Builder::new()
        .name("Classhook spans".to_owned())
        .spawn(move || run(session, &drain, &ended))?;
    Ok(Recorder {
        ends,
        thread: Some(thread),
    })
}

fn run(session: u8, drain: &impl Fn() -> Drained, ended: &AtomicBool) {
    let mut time = PAUSE;
    while !ended.load(Ordering::Acquire) {
        match runtime::get(session) {
            Some(runtime) => runtime.pause(time),
            None => thread::park_timeout(time),
        }
        time = loop {
            match drain() {
                Drained::Nothing => break IDLE,
                Drained::All => break PAUSE,
                Drained::Part if ended.load(Ordering::Acquire) => break PAUSE,
                Drained::Part => {}
            }
        };
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join(); // a panic was printed already; the caller writes the rest
        }
    }
}
