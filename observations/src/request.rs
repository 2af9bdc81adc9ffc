//! What a plugin may ask the JVM while it observes.

use crate::subscription::DEEPEST;

/// Most classes of a histogram.
pub const MOST_CLASSES: u32 = 1 << 16;

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// All threads at one instant, with states and so many innermost frames.
    Threads {
        /// Most frames.
        frames: u32,
    },
    /// The CPU time of all threads.
    CpuTimes,
    /// Objects and bytes of each class.
    Histogram {
        /// Those alone that can be reached.
        live: bool,
        /// The classes that are told, those of most bytes.
        most: u32,
    },
    /// The properties of the system.
    Properties,
    /// The threads of a name, with states and so many innermost frames.
    Stack {
        /// The name.
        thread: String,
        /// Most frames.
        frames: u32,
    },
    /// Which threads own monitors, and which wait for them.
    Monitors,
    /// Who owns and waits for the monitors of the instances of a class.
    MonitorUsage {
        /// Its name as in Java.
        class: String,
    },
    /// What holds the instances of a class.
    Paths {
        /// Its name as in Java.
        class: String,
    },
}

impl Request {
    /// The functions that ask, in `wit/plugin.wit`.
    pub const NAMES: [&str; 8] = [
        "threads",
        "cpu-times",
        "histogram",
        "properties",
        "stack",
        "monitors",
        "paths",
        "monitor-usage",
    ];

    /// The function that asks.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let [
            threads,
            cpu_times,
            histogram,
            properties,
            stack,
            monitors,
            paths,
            monitor_usage,
        ] = Self::NAMES;
        match self {
            Self::Threads { .. } => threads,
            Self::CpuTimes => cpu_times,
            Self::Histogram { .. } => histogram,
            Self::Properties => properties,
            Self::Stack { .. } => stack,
            Self::Monitors => monitors,
            Self::Paths { .. } => paths,
            Self::MonitorUsage { .. } => monitor_usage,
        }
    }

    /// Checks the numbers.
    ///
    /// # Errors
    /// What was expected, and what was found.
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

/// What was asked since it was last answered: of each kind once.
#[derive(Debug, Default)]
pub struct Asked {
    waiting: Vec<Request>,
    refused: u64,
}

impl Asked {
    /// Something is asked.
    ///
    /// # Errors
    /// If its numbers make no sense, or the same was asked and not answered yet.
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

    /// What is to be answered now, and how many requests were refused since the last time.
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
    fn thousand_questions_are_one_and_the_rest_is_counted() {
        let mut asked = Asked::default();
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
    fn numbers_that_make_no_sense_are_refused() {
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
