//! The recorder: the thread that takes the calls of spans from the threads of the application and writes them.

use crate::spans::runtime;
use probes::spans::Drained;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Builder, JoinHandle};
use std::time::Duration;

/// The pause while there are calls: what a thread makes meanwhile is a small part of what can wait.
const PAUSE: Duration = Duration::from_millis(10);
/// The pause while there are none.
const IDLE: Duration = Duration::from_millis(50);

/// The thread, which ends with the value.
#[derive(Debug)]
pub(crate) struct Recorder {
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts the thread of a session, which calls `drain` again and again. It is no thread of the JVM, and inherits which signals it does not take.
///
/// # Errors
///
/// Why it cannot be started.
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
            let _ = thread.join(); // a panic in it was printed; what it left is written by whoever ends it
        }
    }
}
