//! Task runs of one thread, for calls that are examined after their end.

use super::{Run, Submitted};

/// An item with a start and an end.
pub(crate) trait TimeRange {
    /// Returns start and end.
    fn range(&self) -> (u64, u64);
}

impl TimeRange for (u64, u64) {
    fn range(&self) -> (u64, u64) {
        *self
    }
}

/// A run of a task that a call submitted.
#[derive(Debug)]
pub(crate) struct TaskRun<C> {
    /// Start: nanoseconds since the start of the trace.
    pub begun: u64,
    /// End; [`u64::MAX`] while the run is active.
    pub ended: u64,
    /// Its submission.
    pub submitted: Submitted<C>,
}

impl<C> TimeRange for TaskRun<C> {
    fn range(&self) -> (u64, u64) {
        (self.begun, self.ended)
    }
}

/// The runs of a thread by start.
#[derive(Debug)]
pub(crate) struct Runs<C>(Vec<TaskRun<C>>);

impl<C> Default for Runs<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: Clone> Runs<C> {
    /// Adds a run that begins, if a call submitted it.
    pub fn begin(&mut self, run: &Run<C>) {
        self.0
            .extend(run.submitted.clone().map(|submitted| TaskRun {
                begun: run.begun,
                ended: u64::MAX,
                submitted,
            }));
    }

    /// Ends a run, and all that began within it.
    pub fn end(&mut self, run: &Run<C>, nanos: u64) {
        let runs = self.0.iter_mut().rev();
        let ended = runs.take_while(|known| known.begun >= run.begun);
        ended.for_each(|known| known.ended = known.ended.min(nanos));
    }

    /// Removes the runs that ended before a time.
    pub fn remove_before(&mut self, nanos: u64) {
        self.0.retain(|run| run.ended >= nanos);
    }

    /// Returns the number of runs.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Checks whether there are no runs.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Starts a traversal.
    pub fn walk(&self) -> Around<'_, TaskRun<C>> {
        Around::new(&self.0)
    }
}

/// A chronological traversal of one thread that returns the enclosing items of each time.
#[derive(Debug)]
pub(crate) struct Around<'t, T> {
    all: &'t [T],
    next: usize,
    around: Vec<&'t T>,
}

impl<'t, T: TimeRange> Around<'t, T> {
    /// Traverses items sorted by start.
    pub fn new(all: &'t [T]) -> Self {
        Self {
            all,
            next: 0,
            around: Vec::new(),
        }
    }

    /// Returns the items that enclose a time, outermost first.
    pub fn at(&mut self, nanos: u64) -> &[&'t T] {
        let leave = |around: &mut Vec<&'t T>, now: u64| {
            while around.pop_if(|one| one.range().1 < now).is_some() {}
        };
        while let Some(next) = self.all.get(self.next) {
            let (begin, _) = next.range();
            if begin > nanos {
                break;
            }
            leave(&mut self.around, begin);
            self.around.push(next);
            self.next += 1;
        }
        leave(&mut self.around, nanos);
        &self.around
    }
}
