//! How a plugin has done so far, and whether it goes on.

use std::time::Duration;

/// So many failures, if they are more than half of the classes that it was shown, switch a plugin off.
const MAX_FAILURES: u64 = 5;
/// CPU time of all classes together: this much …
const BUDGET: Duration = Duration::from_secs(5);
/// … and this much for each class.
const BUDGET_PER_CLASS: Duration = Duration::from_millis(5);

/// What a plugin answered about a class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It asks for nothing there.
    Nothing,
    /// Edits, notes, or both.
    Request,
    /// It failed.
    Failure,
}

/// The classes that a plugin was shown.
#[derive(Debug, Default)]
pub(crate) struct Record {
    classes: u64,
    /// Of these, classes in which it asked for something.
    requested: u64,
    /// Of these, classes that it failed on.
    failed: u64,
    /// Of the classes in which it asked for something, those without its edits, since these cannot be made.
    refused: u64,
    spent: Duration,
    /// Why it was switched off.
    cause: Option<String>,
}

impl Record {
    /// One more class, with the CPU time that it took; gives why the plugin is switched off now, once.
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

    /// What it asked for in a class cannot be made.
    pub(crate) fn refuse(&mut self) {
        self.refused += 1;
    }

    /// How many classes it was shown.
    pub(crate) fn classes(&self) -> u64 {
        self.classes
    }

    /// How many of them are as it wanted.
    pub(crate) fn served(&self) -> u64 {
        self.requested.saturating_sub(self.refused)
    }

    /// How many of them are without what it wanted, or would have wanted if it had not failed.
    pub(crate) fn failures(&self) -> u64 {
        self.failed + self.refused
    }

    /// CPU time of all classes together.
    pub(crate) fn spent(&self) -> Duration {
        self.spent
    }

    /// Why it was switched off, if it was.
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
    fn failures_on_odd_classes_among_many_cost_those_alone() {
        let mut record = Record::default();
        for number in 0..1_000 {
            // Ten in a row, once there were others.
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
    fn edits_that_cannot_be_made_are_failures_too() {
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
