//! The kinds of events that a recording records, and their rates.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::time::Duration;

/// Shortest time between two samples of the threads.
pub const SHORTEST_INTERVAL: Duration = Duration::from_millis(1);
/// Maximum number of frames per stack.
pub const DEEPEST: usize = 2048;
/// Default number of frames per stack.
const DEPTH: usize = 128;

/// The kinds of events that a recording records. The default records nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    /// The time between two samples of the threads that use CPU time.
    pub cpu: Option<Duration>,
    /// The time between two samples of all threads by the wall clock, in any state.
    #[serde(default)]
    pub wall: Option<Duration>,
    /// Average number of bytes that a thread allocates between two samples; 0 samples every
    /// allocation.
    pub allocations: Option<u32>,
    /// Threads that wait to enter a monitor, or in `Object.wait`.
    pub monitors: bool,
    /// Exceptions that are thrown.
    pub exceptions: bool,
    /// Garbage collections.
    pub collections: bool,
    /// Global JNI references, weak ones too, that are not deleted.
    #[serde(default)]
    pub references: bool,
    /// Adds a garbage collection at the end, which finds the sampled objects that are still alive.
    pub live: bool,
    /// Number of innermost frames to keep of each stack.
    pub depth: usize,
    /// Keeps single events with their times, up to a size limit.
    #[serde(default)]
    pub times: bool,
    /// The delay from the start to the first event.
    #[serde(default)]
    pub after: Duration,
    /// The duration; `None` lasts to the end.
    #[serde(default)]
    pub length: Option<Duration>,
}

impl Default for Subscription {
    fn default() -> Self {
        Self {
            cpu: None,
            wall: None,
            allocations: None,
            monitors: false,
            exceptions: false,
            collections: false,
            references: false,
            live: false,
            depth: DEPTH,
            times: false,
            after: Duration::ZERO,
            length: None,
        }
    }
}

impl Subscription {
    /// Returns whether any kind of event is recorded.
    #[must_use]
    pub fn any(&self) -> bool {
        self.cpu.is_some()
            || self.wall.is_some()
            || self.allocations.is_some()
            || self.monitors
            || self.exceptions
            || self.collections
            || self.references
    }

    /// Parses the format of [`fmt::Display`]: `cpu:10ms;allocations:524288;monitors;depth:64`.
    ///
    /// # Errors
    /// A message with the expected and the found text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut subscription = Self::default();
        for part in text.split(';') {
            subscription.add(part.trim())?;
        }
        if subscription.live && subscription.allocations.is_none() {
            return Err("expected `allocations` with `live`".to_owned());
        }
        if !subscription.any() {
            return Err(format!("expected a kind of event, found `{text}`"));
        }
        Ok(subscription)
    }

    fn add(&mut self, part: &str) -> Result<(), String> {
        let (kind, value) = part.split_once(':').unwrap_or((part, ""));
        match (kind, value) {
            ("cpu", value) => self.cpu = Some(interval(value)?),
            ("wall", value) => self.wall = Some(interval(value)?),
            ("allocations", value) => self.allocations = Some(bytes(value)?),
            ("depth", value) => self.depth = depth(value)?,
            ("after", value) => self.after = millis(value)?,
            ("for", value) => self.length = Some(millis(value)?),
            ("times", "") => self.times = true,
            ("monitors", "") => self.monitors = true,
            ("exceptions", "") => self.exceptions = true,
            ("collections", "") => self.collections = true,
            ("references", "") => self.references = true,
            ("live", "") => self.live = true,
            _ => {
                return Err(format!(
                    "expected cpu:MILLISECONDSms, wall:MILLISECONDSms, allocations:BYTES, monitors, exceptions, collections, references, live, times, depth:FRAMES, after:MILLISECONDSms or for:MILLISECONDSms, found `{part}`"
                ));
            }
        }
        Ok(())
    }
}

fn millis(value: &str) -> Result<Duration, String> {
    let number = value.strip_suffix("ms");
    let number = number.and_then(|number| number.parse().ok());
    let found = number.map(Duration::from_millis);
    found.ok_or_else(|| format!("expected milliseconds, as `500ms`, found `{value}`"))
}

fn interval(value: &str) -> Result<Duration, String> {
    let interval = millis(value).ok();
    let interval = interval.filter(|interval| *interval >= SHORTEST_INTERVAL);
    interval.ok_or_else(|| format!("expected milliseconds from `1ms` on, found `{value}`"))
}

fn bytes(value: &str) -> Result<u32, String> {
    let bytes = value.parse().ok().filter(|bytes| *bytes <= i32::MAX as u32);
    bytes.ok_or_else(|| format!("expected a number of bytes below 2 GiB, found `{value}`"))
}

fn depth(value: &str) -> Result<usize, String> {
    let depth = value.parse().ok();
    let depth = depth.filter(|depth| (1..=DEEPEST).contains(depth));
    depth.ok_or_else(|| format!("expected a number of frames from 1 to {DEEPEST}, found `{value}`"))
}

impl fmt::Display for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(interval) = self.cpu {
            write!(f, "cpu:{}ms;", interval.as_millis())?;
        }
        if let Some(interval) = self.wall {
            write!(f, "wall:{}ms;", interval.as_millis())?;
        }
        if let Some(bytes) = self.allocations {
            write!(f, "allocations:{bytes};")?;
        }
        let switches = [
            (self.monitors, "monitors;"),
            (self.exceptions, "exceptions;"),
            (self.collections, "collections;"),
            (self.references, "references;"),
            (self.live, "live;"),
            (self.times, "times;"),
        ];
        for (_, name) in switches.iter().filter(|(is_on, _)| *is_on) {
            f.write_str(name)?;
        }
        if !self.after.is_zero() {
            write!(f, "after:{}ms;", self.after.as_millis())?;
        }
        if let Some(length) = self.length {
            write!(f, "for:{}ms;", length.as_millis())?;
        }
        write!(f, "depth:{}", self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_file_is_read_again() {
        let subscription = Subscription {
            cpu: Some(Duration::from_millis(10)),
            wall: Some(Duration::from_millis(20)),
            allocations: Some(524_288),
            monitors: true,
            exceptions: true,
            collections: true,
            references: true,
            live: true,
            depth: 64,
            times: true,
            after: Duration::from_secs(2),
            length: Some(Duration::from_millis(1500)),
        };
        let text = "cpu:10ms;wall:20ms;allocations:524288;monitors;exceptions;collections;references;live;times;after:2000ms;for:1500ms;depth:64";
        assert_eq!(subscription.to_string(), text);
        assert_eq!(Subscription::parse(text), Ok(subscription));
    }

    #[test]
    fn errors_have_the_expected_value() {
        for (wrong, expected) in [
            ("", "found ``"),
            ("depth:5", "a kind of event"),
            ("cpu:0ms", "from `1ms` on"),
            ("cpu:10", "from `1ms` on"),
            ("wall:0ms", "from `1ms` on"),
            ("allocations:2147483648", "below 2 GiB"),
            ("monitors:1", "found `monitors:1`"),
            ("monitors;after:1s", "found `1s`"),
            ("cpu:1ms;depth:0", "1 to 2048"),
            ("cpu:1ms;live", "`allocations` with `live`"),
        ] {
            let error = Subscription::parse(wrong).unwrap_err();
            assert!(error.contains(expected), "{wrong}: {error}");
        }
    }
}
