//! How a plugin has done so far, and whether it goes on.

use std::time::Duration;

/// So many failures, if they are more than half of the classes that it was shown, switch a plugin off.
const MAX_FAILURES: u64 = 5;
/// CPU time of all classes together: this much …
const BUDGET: Duration = Duration::from_secs(5);
/// … and this much for each class.
const BUDGET_PER_CLASS: Duration = Duration::from_millis(5);

/// The classes that a plugin was shown.
#[derive(Debug, Default)]
pub(crate) struct Record {
    classes: u64,
    failed: u64,
    spent: Duration,
    /// Why it was switched off.
    cause: Option<String>,
}

impl Record {
    /// One more class, with the CPU time that it took; gives why the plugin is switched off now, once.
    pub(crate) fn add(&mut self, failed: bool, time: Duration) -> Option<&str> {
        self.classes += 1;
        self.failed += u64::from(failed);
        self.spent += time;
        if self.cause.is_some() {
            return None;
        }
        self.cause = self.verdict();
        self.cause.as_deref()
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
            assert_eq!(record.add(true, MILLISECOND), None);
        }
        let cause = "it failed on 5 of 5 classes";
        assert_eq!(record.add(true, MILLISECOND), Some(cause));
        assert_eq!(record.add(true, MILLISECOND), None);
        assert_eq!(record.cause(), Some(cause));
    }

    #[test]
    fn failures_on_odd_classes_among_many_cost_those_alone() {
        let mut record = Record::default();
        for number in 0..1_000 {
            // Ten in a row, once there were others.
            let failed = number > 50 && number % 100 < 10;
            assert_eq!(record.add(failed, MILLISECOND), None, "{number}");
        }
    }

    #[test]
    fn the_time_of_all_classes_together_has_a_limit() {
        let mut record = Record::default();
        let classes = (0..100).take_while(|_| record.add(false, 240 * MILLISECOND).is_none());
        assert_eq!(classes.count(), 21);
        let cause = "it used 5.3 s of CPU time for 22 classes, more than 5 s and 5 ms for each";
        assert_eq!(record.cause(), Some(cause));
        let mut modest = Record::default();
        assert!((0..100_000).all(|_| modest.add(false, 4 * MILLISECOND).is_none()));
    }
}
