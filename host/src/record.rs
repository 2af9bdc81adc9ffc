//! Counts a plugin's failures and CPU time, and decides when it is switched off.

use std::time::Duration;

/// Minimum number of failures that switches a plugin off, if they are also more than half of its
/// classes.
const MAX_FAILURES: u64 = 5;
/// Limit of the CPU time for all classes: this constant …
const BUDGET: Duration = Duration::from_secs(5);
/// … plus this time for each class.
const BUDGET_PER_CLASS: Duration = Duration::from_millis(5);

/// The result of a plugin for a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The plugin requests nothing.
    Nothing,
    /// The plugin requests edits, notes, or both.
    Request,
    /// The plugin failed.
    Failure,
}

/// Counts of the classes that a plugin has seen.
#[derive(Debug, Default)]
pub(crate) struct Record {
    classes: u64,
    /// Classes for which it requested something.
    requested: u64,
    /// Classes on which it failed.
    failed: u64,
    /// Classes that lack its requested edits, because these cannot be applied.
    refused: u64,
    spent: Duration,
    /// The reason why it was switched off.
    cause: Option<String>,
}

impl Record {
    /// Counts a class with its CPU time. If the plugin is switched off by it, returns the reason
    /// once.
    pub(crate) fn add(&mut self, answer: Answer, time: Duration) -> Option<&str> {
        self.classes += 1;
        self.requested += u64::from(answer == Answer::Request);
        self.failed += u64::from(answer == Answer::Failure);
        self.spent += time;
        if self.cause.is_some() {
            return None;
        }
        self.cause = self.verdict();
        self.cause.as_deref()
    }

    /// Counts a class in which its request cannot be applied.
    pub(crate) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// The number of classes that it has seen.
    pub(crate) fn classes(&self) -> u64 {
        self.classes
    }

    /// Returns true for a plugin without a request and without a failure.
    pub(crate) fn is_idle(&self) -> bool {
        self.requested == 0 && self.failed == 0
    }

    /// The number of classes that have its requested edits.
    pub(crate) fn served(&self) -> u64 {
        self.requested.saturating_sub(self.refused)
    }

    /// The number of classes on which it failed or whose edits could not be applied.
    pub(crate) fn failures(&self) -> u64 {
        self.failed + self.refused
    }

    /// The CPU time of all classes together.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// The reason why it was switched off, if it was.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.cause.as_deref()
    }

    fn verdict(&self) -> Option<String> {
        let Self {
            classes, failed, ..
        } = self;
        if failed * 2 > *classes && *failed >= MAX_FAILURES {
            return Some(format!("it failed on {failed} of {classes} classes"));
        }
        let share = u32::try_from(*classes).unwrap_or(u32::MAX);
        (self.spent > BUDGET + BUDGET_PER_CLASS * share).then(|| {
            format!(
                "it used {:.1} s of CPU time for {classes} classes, more than {} s and {} ms for each",
                self.spent.as_secs_f64(),
                BUDGET.as_secs(),
                BUDGET_PER_CLASS.as_millis()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: Duration = Duration::from_millis(1);

    #[test]
    fn a_plugin_that_fails_on_most_classes_is_switched_off_once() {
        let mut record = Record::default();
        for _ in 0..4 {
            assert_eq!(record.add(Answer::Failure, MILLISECOND), None);
        }
        let cause = "it failed on 5 of 5 classes";
        assert_eq!(record.add(Answer::Failure, MILLISECOND), Some(cause));
        assert_eq!(record.add(Answer::Failure, MILLISECOND), None);
        assert_eq!(record.cause(), Some(cause));
    }

    #[test]
    fn failures_on_few_classes_cost_only_those_classes() {
        let mut record = Record::default();
        for number in 0..1_000 {
            // Ten failures in a row, after some classes without.
            let failed = number > 50 && number % 100 < 10;
            let answer = if failed {
                Answer::Failure
            } else {
                Answer::Nothing
            };
            assert_eq!(record.add(answer, MILLISECOND), None, "{number}");
        }
    }

    #[test]
    fn the_time_of_all_classes_together_has_a_limit() {
        let mut record = Record::default();
        let classes =
            (0..100).take_while(|_| record.add(Answer::Nothing, 240 * MILLISECOND).is_none());
        assert_eq!(classes.count(), 21);
        let cause = "it used 5.3 s of CPU time for 22 classes, more than 5 s and 5 ms for each";
        assert_eq!(record.cause(), Some(cause));
        let mut modest = Record::default();
        assert!((0..100_000).all(|_| modest.add(Answer::Request, 4 * MILLISECOND).is_none()));
    }

    #[test]
    fn edits_that_cannot_be_applied_are_failures_too() {
        let mut record = Record::default();
        for answer in [Answer::Nothing, Answer::Request, Answer::Failure] {
            record.add(answer, MILLISECOND);
        }
        assert_eq!((record.served(), record.failures()), (1, 1));
        record.refuse();
        assert_eq!((record.served(), record.failures()), (0, 2));
        assert_eq!(record.classes(), 3);
    }
}
