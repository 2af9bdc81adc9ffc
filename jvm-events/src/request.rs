//! Requests of an observing plugin to the JVM.

use crate::subscription::DEEPEST;
pub use jvm_event_table::requests;
use jvm_event_table::requests::RequestFunction;

/// Maximum number of classes in a histogram.
pub const MOST_CLASSES: u32 = 1 << 16;

/// A request to the JVM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// All threads at one moment, with their states and innermost frames.
    Threads {
        /// Maximum number of frames.
        frames: u32,
    },
    /// The CPU time of all threads.
    CpuTimes,
    /// The number of objects and bytes of each class.
    Histogram {
        /// Counts only reachable objects.
        live: bool,
        /// Maximum number of classes, those with the most bytes first.
        most: u32,
    },
    /// The system properties.
    Properties,
    /// The threads with this name, with their states and innermost frames.
    Stack {
        /// The name of the threads.
        thread: String,
        /// Maximum number of frames.
        frames: u32,
    },
    /// The monitors that each thread owns or waits for.
    Monitors,
    /// The owners and waiters of the monitors of a class's instances.
    MonitorUsage {
        /// The class name as in Java.
        class: String,
    },
    /// The reference paths to the instances of a class.
    Paths {
        /// The class name as in Java.
        class: String,
    },
}

impl Request {
    /// Returns the function that makes this request.
    #[must_use]
    pub fn function(&self) -> RequestFunction {
        match self {
            Self::Threads { .. } => requests::THREADS,
            Self::CpuTimes => requests::CPU_TIMES,
            Self::Histogram { .. } => requests::HISTOGRAM,
            Self::Properties => requests::PROPERTIES,
            Self::Stack { .. } => requests::STACK,
            Self::Monitors => requests::MONITORS,
            Self::MonitorUsage { .. } => requests::MONITOR_USAGE,
            Self::Paths { .. } => requests::PATHS,
        }
    }

    /// Returns the name of the function that makes this request.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.function().name
    }

    /// Checks the values of the request.
    ///
    /// # Errors
    /// A message with the expected and the found value.
    pub fn checked(self) -> Result<Self, String> {
        match self {
            Self::Threads { frames } | Self::Stack { frames, .. } if frames as usize > DEEPEST => {
                Err(format!("expected at most {DEEPEST} frames, found {frames}"))
            }
            Self::Histogram { most, .. } if !(1..=MOST_CLASSES).contains(&most) => Err(format!(
                "expected from 1 to {MOST_CLASSES} classes, found {most}"
            )),
            request => Ok(request),
        }
    }
}

/// The unanswered requests, at most one of each kind.
#[derive(Debug, Default)]
pub struct OpenRequests {
    waiting: Vec<Request>,
    refused: u64,
}

impl OpenRequests {
    /// Adds a request.
    ///
    /// # Errors
    /// A message if a value is invalid, or a request of the same kind is unanswered.
    pub fn ask(&mut self, request: Request) -> Result<(), String> {
        let checked = request.checked().and_then(|request| {
            let name = request.name();
            match self.waiting.iter().any(|one| one.name() == name) {
                true => Err(format!("{name} was asked for, and is answered first")),
                false => Ok(request),
            }
        });
        match checked {
            Ok(request) => {
                self.waiting.push(request);
                Ok(())
            }
            Err(cause) => {
                self.refused += 1;
                Err(cause)
            }
        }
    }

    /// Takes the unanswered requests, and the number of rejected requests since the last call.
    pub fn take(&mut self) -> (Vec<Request>, u64) {
        (
            std::mem::take(&mut self.waiting),
            std::mem::take(&mut self.refused),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_requests_are_rejected_and_counted() {
        let mut asked = OpenRequests::default();
        let outcomes = (0..1000).map(|_| asked.ask(Request::CpuTimes));
        assert_eq!(outcomes.filter(Result::is_ok).count(), 1);
        assert!(asked.ask(Request::Threads { frames: 9 }).is_ok());
        assert!(asked.ask(Request::Threads { frames: 8 }).is_err());
        let (waiting, refused) = asked.take();
        assert_eq!(waiting, [Request::CpuTimes, Request::Threads { frames: 9 }]);
        assert_eq!(refused, 1000);
        assert!(asked.ask(Request::CpuTimes).is_ok());
        assert_eq!(asked.take().1, 0);
    }

    #[test]
    fn invalid_numbers_are_rejected() {
        let histogram = |most| Request::Histogram { live: true, most };
        for (request, text) in [
            (Request::Threads { frames: 2049 }, "found 2049"),
            (histogram(0), "found 0"),
            (histogram(MOST_CLASSES + 1), "found 65537"),
        ] {
            assert!(request.checked().unwrap_err().contains(text));
        }
    }
}
