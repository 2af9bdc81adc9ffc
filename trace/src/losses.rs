//! Missing data of a trace, and its causes.

use std::fmt;

use probes::events::Lost;

use crate::numbers::counted;

/// A number of calls or values that are missing for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// The field of [`Lost`].
    pub reason: &'static str,
    /// Number of items.
    pub number: u64,
    /// Kind of the missing items: `call`, `value`, `wait` or `thread name`.
    pub unit: &'static str,
    /// The output that lacks the items.
    pub consequence: &'static str,
    /// The cause as text.
    pub cause: &'static str,
}

/// Numbers of calls that are missing in trees of slow calls, because too many threads had calls at once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LostCalls {
    /// Number of slow calls whose trees lack earlier calls of the thread, or may lack them.
    pub incomplete: u64,
    /// Number of open calls that were forgotten. Those that end later are found when they end.
    pub open: u64,
}

impl LostCalls {
    /// Adds other numbers.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            incomplete: self.incomplete + other.incomplete,
            open: self.open + other.open,
        }
    }
}

/// Formats `7 calls: too many waited to be written`.
impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", counted(self.number, self.unit), self.cause)
    }
}

/// Returns all reasons, including those with number 0.
#[must_use]
pub fn losses(lost: &Lost) -> [Loss; 8] {
    let not_single = "counted here, but not among the single calls";
    let call = |reason, number, consequence, cause| Loss {
        reason,
        number,
        unit: "call",
        consequence,
        cause,
    };
    [
        call(
            "full",
            lost.full,
            not_single,
            "too many waited to be written",
        ),
        call(
            "unwritten",
            lost.unwritten,
            not_single,
            "writing failed for a while",
        ),
        call(
            "untracked",
            lost.untracked,
            "not recorded",
            "nested too deeply, or on too many virtual threads at once",
        ),
        call(
            "sums",
            lost.sums,
            "not counted here",
            "no memory was left for sums",
        ),
        Loss {
            unit: "value",
            ..call(
                "captures",
                lost.captures,
                "left out",
                "a thread's buffer was full",
            )
        },
        call(
            "unended",
            lost.unended,
            "without an end",
            "the JVM had no stack left to report the end",
        ),
        Loss {
            unit: "wait",
            ..call(
                "waits",
                lost.waits,
                "left out",
                "too many waited to be written",
            )
        },
        Loss {
            unit: "thread name",
            ..call(
                "thread_names",
                lost.thread_names,
                "shown as numbers",
                "the memory for names of threads is full",
            )
        },
    ]
}

/// Returns the reasons with a number above 0.
pub fn present(lost: &Lost) -> impl Iterator<Item = Loss> {
    losses(lost).into_iter().filter(|loss| loss.number > 0)
}

/// Returns the number of calls that some output lacks.
#[must_use]
pub fn calls(lost: &Lost) -> u64 {
    let calls = losses(lost).into_iter().filter(|loss| loss.unit == "call");
    calls.map(|loss| loss.number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_loss_has_a_reason() {
        let all = Lost {
            full: 1,
            unwritten: 2,
            untracked: 3,
            sums: 4,
            captures: 5,
            unended: 6,
            waits: 7,
            thread_names: 8,
            ..Lost::default()
        };
        let fields = serde_json::to_value(all).expect("numbers");
        let fields = fields.as_object().expect("an object");
        for loss in losses(&all) {
            assert_eq!(fields[loss.reason], loss.number, "{}", loss.reason);
        }
        assert_eq!(fields.len(), losses(&all).len());
        assert_eq!(calls(&all), 1 + 2 + 3 + 4 + 6);
    }
}
