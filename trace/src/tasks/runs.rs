//! Runs of tasks on one thread, where calls are looked at after they have ended.

use super::{Run, Submitted};

/// Something that lasts.
pub(crate) trait Lasts {
    /// Begin and end.
    fn lasts(&self) -> (u64, u64);
}

impl Lasts for (u64, u64) {
    fn lasts(&self) -> (u64, u64) {
        *self
    }
}

/// A run of a task that a call submitted.
#[derive(Debug)]
pub(crate) struct TaskRun<C> {
    /// The begin: nanoseconds since the start.
    pub begun: u64,
    /// The end; [`u64::MAX`] while there is none.
    pub ended: u64,
    /// Its submission.
    pub submitted: Submitted<C>,
}

impl<C> Lasts for TaskRun<C> {
    fn lasts(&self) -> (u64, u64) {
        (self.begun, self.ended)
    }
}

/// The runs of a thread by begin.
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

    /// Forgets the runs that ended before a time.
    pub fn forget_before(&mut self, nanos: u64) {
        self.0.retain(|run| run.ended >= nanos);
    }

    /// Checks whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A walk through them.
    pub fn walk(&self) -> Around<'_, TaskRun<C>> {
        Around::new(&self.0)
    }
}

/// A walk through times of one thread in their order: what is around them.
#[derive(Debug)]
pub(crate) struct Around<'t, T> {
    all: &'t [T],
    next: usize,
    around: Vec<&'t T>,
}

impl<'t, T: Lasts> Around<'t, T> {
    /// A walk through what is sorted by begin.
    pub fn new(all: &'t [T]) -> Self {
        Self {
            all,
            next: 0,
            around: Vec::new(),
        }
    }

    /// What is around a time, the outermost first.
    pub fn at(&mut self, nanos: u64) -> &[&'t T] {
        let leave = |around: &mut Vec<&'t T>, now: u64| {
            while around.pop_if(|one| one.lasts().1 < now).is_some() {}
        };
        while let Some(next) = self.all.get(self.next) {
            let (begin, _) = next.lasts();
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
