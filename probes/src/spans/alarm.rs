//! Lets the running code end the reader thread's pause.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Thread};
use std::time::Duration;

/// Wakes the reader thread without blocking the caller.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    rung: AtomicBool,
    reader: Mutex<Option<Thread>>,
}

impl Alarm {
    /// Ends the current pause of the reader, or its next one.
    #[cold]
    pub fn ring(&self) {
        if self.rung.load(Ordering::Relaxed) || self.rung.swap(true, Ordering::AcqRel) {
            return; // already rung
        }
        // The reader holds the lock only before it checks the alarm.
        if let Ok(reader) = self.reader.try_lock()
            && let Some(reader) = &*reader
        {
            reader.unpark();
        }
    }

    /// Pauses the calling thread until the alarm rings, the thread is unparked, or the time is over.
    pub fn wait(&self, time: Duration) {
        *self.reader.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        if !self.rung.swap(false, Ordering::AcqRel) {
            thread::park_timeout(time);
            self.rung.store(false, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarm_ends_the_current_or_next_pause() {
        let alarm = Alarm::default();
        let long = Duration::from_secs(600);
        alarm.ring();
        alarm.wait(long); // rung before
        thread::scope(|scope| {
            let waiting = scope.spawn(|| alarm.wait(long));
            while !waiting.is_finished() {
                alarm.ring();
                thread::yield_now();
            }
        });
    }
}
