//! Waits of threads with open calls, and garbage collections. An event file holds them as events of places without
//! code.

use std::sync::Arc;

use super::{Capture, CaptureSource, EventInfo, Moment, SpanInfo, SpanMode, Value, WaitKind};

/// Names of the values of a wait event.
const SHOWN: [&str; 3] = ["nanos", "class", "holders"];

/// A wait of a thread, or a garbage collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wait {
    /// Java's id of the thread; 0 for a collection.
    pub thread: u64,
    /// `true` for a virtual thread.
    pub is_virtual: bool,
    /// The reason.
    pub kind: WaitKind,
    /// Start: nanoseconds since the start of the trace.
    pub start: u64,
    /// End: nanoseconds since the start of the trace.
    pub end: u64,
    /// Internal class name of the object that the thread waited for; empty if there is none.
    pub class: Arc<str>,
    /// Names of the threads that owned the lock, the longest owner first; empty if unknown.
    pub holders: String,
}

impl WaitKind {
    /// Returns the place that represents all waits of this kind.
    #[must_use]
    pub fn place(self) -> SpanInfo {
        SpanInfo {
            number: self as u32,
            mode: SpanMode::Events,
            shown: SHOWN.map(str::to_owned).to_vec(),
            event: Some(EventInfo {
                waits: Some(self),
                ..EventInfo::default()
            }),
            ..SpanInfo::default()
        }
    }
}

impl Wait {
    /// Converts the wait to an event of a place.
    #[must_use]
    pub fn into_moment(self, place: u32) -> Moment {
        let length = u32::try_from(self.holders.encode_utf16().count()).unwrap_or(u32::MAX);
        let nanos = i64::try_from(self.end.saturating_sub(self.start)).unwrap_or(i64::MAX);
        let values = [
            Value::Long(nanos),
            Value::Class(self.class),
            Value::Text {
                text: self.holders,
                length,
            },
        ];
        let captures = (0..).zip(values).map(|(slot, value)| Capture {
            source: CaptureSource::Shown(slot),
            value,
        });
        Moment {
            thread: self.thread,
            place,
            nanos: self.end,
            captures: captures.collect(),
        }
    }

    /// Decodes the event of a place; `None` if the place is not one of waits.
    #[must_use]
    pub fn of(moment: &Moment, is_virtual: bool, place: &SpanInfo) -> Option<Self> {
        let kind = place.event.as_ref()?.waits?;
        let mut wait = Self {
            thread: moment.thread,
            is_virtual,
            kind,
            start: moment.nanos,
            end: moment.nanos,
            class: "".into(),
            holders: String::new(),
        };
        for capture in moment.captures.iter() {
            match (capture.source, &capture.value) {
                (CaptureSource::Shown(0), Value::Long(nanos)) => {
                    wait.start = wait.end.saturating_sub(nanos.unsigned_abs());
                }
                (CaptureSource::Shown(1), Value::Class(class)) => wait.class = Arc::clone(class),
                (CaptureSource::Shown(2), Value::Text { text, .. }) => {
                    wait.holders.clone_from(text)
                }
                _ => {}
            }
        }
        Some(wait)
    }

    /// Returns the duration in nanoseconds.
    #[must_use]
    pub fn nanos(&self) -> u64 {
        self.end.saturating_sub(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_round_trip_as_events() {
        let wait = Wait {
            thread: 7,
            is_virtual: true,
            kind: WaitKind::Park,
            start: 30,
            end: 50,
            class: "a/Lock".into(),
            holders: "one, two".to_owned(),
        };
        let moment = wait.clone().into_moment(3);
        assert_eq!((moment.nanos, moment.place), (50, 3));
        let place = WaitKind::Park.place();
        assert_eq!(Wait::of(&moment, true, &place), Some(wait));
        assert_eq!(Wait::of(&moment, true, &SpanInfo::default()), None);
    }
}
