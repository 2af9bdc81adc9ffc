//! Tasks that one thread submits and another runs: the calls of a task belong to the call that submitted it.
//!
//! Class and identity hash identify a task, so two tasks can be equal; their runs take the submissions in order.
//! Memory is bounded: beyond the limit the oldest tasks are dropped and counted.

mod runs;

use std::collections::{HashMap, VecDeque};

use probes::events::{Call, Outcome, Step, Task, TaskStep};

use crate::forgotten::ForgottenCalls;

pub(crate) use runs::{Around, Runs, TaskRun};

/// Maximum number of tasks that wait for a run.
const WAITING: usize = 1 << 16;
/// Maximum number of nested task runs on one thread.
const NESTED: usize = 1 << 12;
/// Maximum number of threads that run tasks at once.
const RUNNING: usize = 1 << 17;
/// Maximum number of steps that wait until all preceding calls are known.
const STEPS: usize = 1 << 18;
/// Maximum size of open calls and their threads after a clean-up, in calls.
const OPEN: usize = 1 << 18;
/// Size of a thread beside its calls, in calls.
const THREAD: usize = 3;
/// Growth between two clean-ups of calls that have ended, in calls.
const LOOK: usize = 1 << 16;

/// The submission of a task, with data about the submitting call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Submitted<C> {
    /// Java's id of the thread.
    pub thread: u64,
    /// The time: nanoseconds since the start.
    pub nanos: u64,
    /// The innermost call that was open there.
    pub by: C,
}

/// Task steps in the order of arrival, until all preceding calls are known.
#[derive(Debug, Default)]
pub struct Steps {
    waiting: Vec<TaskStep>,
    dropped: u64,
}

impl Steps {
    /// Adds a step. Above the limit, steps are counted and dropped.
    pub fn take(&mut self, step: &TaskStep) {
        match self.waiting.len() < STEPS {
            true => self.waiting.push(step.clone()),
            false => self.dropped += u64::from(step.step != Step::Ended),
        }
    }

    /// Takes the steps before a time, in chronological order.
    pub fn before(&mut self, nanos: u64) -> Vec<TaskStep> {
        self.waiting.sort_by_key(|step| step.nanos);
        let settled = self.waiting.partition_point(|step| step.nanos < nanos);
        self.waiting.drain(..settled).collect()
    }

    /// Returns the number of dropped steps since the last call, except ends.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }
}

/// The effect of a step.
#[derive(Debug, PartialEq, Eq)]
pub enum Change<'t, C> {
    /// A run has begun.
    Begun(&'t Run<C>),
    /// A run has ended, and all runs that began within it.
    Ended(Run<C>),
}

/// Links task runs to their submissions. Steps are taken in chronological order.
#[derive(Debug)]
pub struct Tasks<C> {
    waiting: HashMap<Task, Waiting<C>>,
    /// Waiting tasks by age, with their number at that time.
    by_age: VecDeque<(Task, u64)>,
    number: u64,
    running: HashMap<u64, Vec<Run<C>>>,
    dropped: u64,
}

/// The submissions of a task that wait for its runs. An inner `None` is a submission outside calls.
#[derive(Debug)]
struct Waiting<C> {
    number: u64,
    /// In order, one for each run.
    submitted: VecDeque<Option<Submitted<C>>>,
    kind: Step,
    has_run: bool,
}

/// An active task run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<C> {
    task: Task,
    /// Start: nanoseconds since the start of the trace.
    pub begun: u64,
    /// Number of nested runs of the same task: one JDK method calls another.
    nested: u32,
    /// The submission; `None` if it is unknown, or happened outside calls.
    pub submitted: Option<Submitted<C>>,
}

impl<C> Default for Tasks<C> {
    fn default() -> Self {
        Self {
            waiting: HashMap::new(),
            by_age: VecDeque::new(),
            number: 0,
            running: HashMap::new(),
            dropped: 0,
        }
    }
}

impl<C: Clone> Tasks<C> {
    /// Takes the next step; `submitted` finds the call that submits the task.
    pub fn take(
        &mut self,
        step: &TaskStep,
        submitted: impl FnOnce(&Self) -> Option<Submitted<C>>,
    ) -> Option<Change<'_, C>> {
        match (&step.task, step.step) {
            (Some(task), Step::Submitted | Step::Registered | Step::Scheduled) => {
                let submitted = submitted(self);
                self.submit(task, step.step, submitted);
                None
            }
            (Some(task), Step::Withdrawn) => {
                self.withdraw(task);
                None
            }
            (Some(task), Step::Begun | Step::BegunLast) => {
                self.begin(step, task).map(Change::Begun)
            }
            (task, _) => self.end(step.thread, task.as_ref()).map(Change::Ended),
        }
    }

    /// Returns the innermost run of a thread that a call submitted, if it began later than `since`.
    #[must_use]
    pub fn around(&self, thread: u64, since: Option<u64>) -> Option<&Run<C>> {
        let runs = self.running.get(&thread)?.iter().rev();
        let mut inner = runs.take_while(|run| since.is_none_or(|since| run.begun > since));
        inner.find(|run| run.submitted.is_some())
    }

    /// Returns the number of tasks lost since the last call, because too many waited or ran at once.
    pub fn take_dropped(&mut self) -> u64 {
        std::mem::take(&mut self.dropped)
    }

    /// Counts tasks whose runs the caller has dropped.
    pub(crate) fn lose(&mut self, count: u64) {
        self.dropped += count;
    }

    fn submit(&mut self, task: &Task, kind: Step, submitted: Option<Submitted<C>>) {
        let known = self.waiting.get_mut(task);
        if let Some(known) = known.filter(|known| !known.has_run || known.kind == Step::Scheduled) {
            match (known.kind, kind) {
                (Step::Submitted, Step::Submitted) if known.submitted.len() < WAITING => {
                    known.submitted.push_back(submitted);
                    return;
                }
                // It is part of the first submission.
                (Step::Registered | Step::Scheduled, Step::Submitted) => return,
                _ => {}
            }
        }
        if submitted.is_none() {
            self.waiting.remove(task);
            return; // its run is found without a submission, too
        }
        self.number += 1;
        let waiting = Waiting {
            number: self.number,
            submitted: VecDeque::from([submitted]),
            kind,
            has_run: false,
        };
        self.waiting.insert(task.clone(), waiting);
        self.by_age.push_back((task.clone(), self.number));
        self.make_room();
    }

    /// Drops the tasks that have waited longest, if there are too many.
    fn make_room(&mut self) {
        while self.waiting.len() > WAITING || self.by_age.len() > 4 * WAITING {
            let Some((task, number)) = self.by_age.pop_front() else {
                return;
            };
            let is_same = |waiting: &Waiting<C>| waiting.number == number;
            if !self.waiting.get(&task).is_some_and(is_same) {
                continue; // it has run
            }
            if self.waiting.len() <= WAITING {
                self.by_age.push_back((task, number));
                self.by_age.retain(|(task, number)| {
                    let waiting = self.waiting.get(task);
                    waiting.is_some_and(|waiting| waiting.number == *number)
                });
                return;
            }
            if let Some(oldest) = self.waiting.remove(&task)
                && !oldest.has_run
            {
                let lost = oldest.submitted.iter().flatten().count();
                self.dropped += lost as u64;
            }
        }
    }

    fn withdraw(&mut self, task: &Task) {
        if let Some(waiting) = self.waiting.get_mut(task) {
            waiting.submitted.pop_back();
            if waiting.submitted.is_empty() {
                self.waiting.remove(task);
            }
        }
    }

    fn begin(&mut self, step: &TaskStep, task: &Task) -> Option<&Run<C>> {
        let runs = self.running.entry(step.thread).or_default();
        if let Some(same) = runs.last_mut().filter(|run| run.task == *task) {
            same.nested += 1;
            if step.step == Step::BegunLast {
                self.waiting.remove(task);
            }
            return None;
        }
        let submitted = submission(&mut self.waiting, task, step.step);
        if runs.is_empty() && self.running.len() > RUNNING {
            self.running.remove(&step.thread);
            self.dropped += u64::from(submitted.is_some());
            return None;
        }
        let runs = self.running.entry(step.thread).or_default();
        if runs.capacity() == 0 {
            runs.reserve_exact(1); // most tasks run no others
        }
        if runs.len() >= NESTED {
            runs.remove(0);
        }
        runs.push(Run {
            task: task.clone(),
            begun: step.nanos,
            nested: 0,
            submitted,
        });
        runs.last()
    }

    fn end(&mut self, thread: u64, task: Option<&Task>) -> Option<Run<C>> {
        let runs = self.running.get_mut(&thread)?;
        // A run that began before the trace is unknown.
        let found = match task {
            Some(task) => runs.iter().rposition(|run| run.task == *task),
            None => runs.len().checked_sub(1),
        }?;
        runs.truncate(found + 1);
        if let Some(nested) = runs[found].nested.checked_sub(1) {
            runs[found].nested = nested;
            return None;
        }
        let ended = runs.pop();
        if runs.is_empty() {
            self.running.remove(&thread);
        }
        ended
    }
}

/// Returns the submission of a run that begins.
fn submission<C: Clone>(
    waiting: &mut HashMap<Task, Waiting<C>>,
    task: &Task,
    step: Step,
) -> Option<Submitted<C>> {
    let known = waiting.get_mut(task)?;
    let is_kept = known.kind == Step::Scheduled && step != Step::BegunLast;
    let submitted = match is_kept {
        true => known.submitted.front().cloned(),
        false => known.submitted.pop_front(),
    };
    known.has_run = true;
    if known.kind == Step::Submitted && !known.submitted.is_empty() {
        known.has_run = false;
    } else if !is_kept {
        waiting.remove(task);
    }
    submitted.flatten()
}

/// Identifies a call by its thread and start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CallId {
    /// Java's id of the thread.
    pub thread: u64,
    /// Entry time: nanoseconds since the start.
    pub start: u64,
}

impl CallId {
    /// Returns the id of a call.
    #[must_use]
    pub fn of(call: &Call) -> Self {
        Self {
            thread: call.thread,
            start: call.start,
        }
    }
}

/// The caller of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller<C> {
    /// The innermost open call of its thread.
    Thread(C),
    /// The call that submitted its task.
    Task(Submitted<C>),
}

/// Finds the caller of each call of one JVM. Call entries and task steps are taken in chronological order.
///
/// Memory is bounded: if too many calls are open at once, those of the threads whose last call began first are dropped.
#[derive(Debug)]
pub struct Callers<C> {
    open: HashMap<u64, Vec<Open<C>>>,
    /// Approximate size of the open calls and their threads, in calls.
    size: usize,
    /// The size that triggers the next clean-up: more than twice the size after the last one.
    look: usize,
    /// Calls that were dropped while they were open.
    forgotten: ForgottenCalls,
    tasks: Tasks<C>,
    orphans: u64,
}

/// A call that had not ended at the last entry of its thread.
#[derive(Debug)]
struct Open<C> {
    start: u64,
    end: u64,
    of: C,
}

impl<C> Default for Callers<C> {
    fn default() -> Self {
        Self {
            open: HashMap::new(),
            size: 0,
            look: LOOK,
            forgotten: ForgottenCalls::default(),
            tasks: Tasks::default(),
            orphans: 0,
        }
    }
}

impl<C: Clone> Callers<C> {
    /// Takes a task step.
    pub fn step(&mut self, step: &TaskStep) {
        let (open, forgotten) = (&mut self.open, &self.forgotten);
        let mut is_unknown = false;
        self.tasks.take(step, |tasks| {
            let (thread, nanos) = (step.thread, step.nanos);
            match caller(open, forgotten, tasks, thread, nanos) {
                Found::Caller(Caller::Task(submitted)) => Some(submitted),
                Found::Caller(Caller::Thread(by)) => Some(Submitted { thread, nanos, by }),
                Found::None => None,
                Found::Forgotten { .. } => {
                    is_unknown = true;
                    None
                }
            }
        });
        self.tasks.lose(u64::from(is_unknown));
    }

    /// Takes a call entry; `of` computes the value that represents the call from its caller.
    pub fn enter(&mut self, call: &Call, of: impl FnOnce(Option<&Caller<C>>) -> C) {
        let found = caller(
            &mut self.open,
            &self.forgotten,
            &self.tasks,
            call.thread,
            call.start,
        );
        if let Found::Forgotten { in_task } = found {
            self.tasks.lose(u64::from(in_task));
            self.orphans += u64::from(!in_task);
        }
        let of = of(found.caller().as_ref());
        let (thread, start) = (call.thread, call.start);
        let end = match call.outcome {
            Outcome::Open => u64::MAX,
            _ => call.end,
        };
        let open = self.open.entry(thread).or_insert_with(|| {
            self.size += THREAD;
            Vec::with_capacity(1) // most threads have few open calls
        });
        open.push(Open { start, end, of });
        self.size += 1;
        if self.size > self.look {
            self.make_room(thread, start);
        }
    }

    /// Returns the number of tasks lost since the last call.
    pub fn take_dropped(&mut self) -> u64 {
        self.tasks.take_dropped()
    }

    /// Returns the number of calls since the last call, except those of tasks, whose callers were dropped.
    pub fn take_orphans(&mut self) -> u64 {
        std::mem::take(&mut self.orphans)
    }

    /// Drops the calls that ended before `now`, and then open ones while they take more than half of the room.
    fn make_room(&mut self, current: u64, now: u64) {
        self.open.retain(|_, calls| {
            while calls.pop_if(|call| call.end < now).is_some() {}
            !calls.is_empty()
        });
        self.size = self.open.values().map(|calls| size(calls)).sum();
        if self.size > OPEN {
            self.drop_open(current);
        }
        if self.open.capacity() > 4 * self.open.len() {
            self.open.shrink_to(2 * self.open.len());
        }
        self.look = 2 * self.size + LOOK;
    }

    /// Drops open calls until half of the room is free: first other threads, then the outermost calls of `current`.
    fn drop_open(&mut self, current: u64) {
        let last = |calls: &[Open<C>]| calls.last().map_or(0, |call| call.start);
        let threads = self.open.iter().filter(|(thread, _)| **thread != current);
        let mut by_age: Vec<_> = threads
            .map(|(thread, calls)| (last(calls), *thread))
            .collect();
        by_age.sort_unstable();
        for (_, thread) in by_age {
            if self.size <= OPEN / 2 {
                return;
            }
            let calls = self.open.remove(&thread).unwrap_or_default();
            self.size -= size(&calls);
            self.forget(thread, &calls);
        }
        if let Some(mut calls) = self.open.remove(&current) {
            let inner = calls.split_off(calls.len().saturating_sub(OPEN / 4));
            self.forget(current, &calls);
            self.size = size(&inner);
            self.open.insert(current, inner);
        }
    }

    fn forget(&mut self, thread: u64, calls: &[Open<C>]) {
        if let Some(end) = calls.iter().map(|call| call.end).max() {
            self.forgotten.forget(thread, end);
        }
    }
}

/// Returns the size of a thread with its open calls, in calls.
fn size<C>(calls: &[Open<C>]) -> usize {
    THREAD + calls.len()
}

/// The caller of an action.
enum Found<C> {
    Caller(Caller<C>),
    /// No call and no task encloses the action.
    None,
    /// It was dropped, or is the task around the action.
    Forgotten {
        /// Set if a task with a known submission runs.
        in_task: bool,
    },
}

impl<C> Found<C> {
    fn caller(self) -> Option<Caller<C>> {
        match self {
            Self::Caller(caller) => Some(caller),
            Self::None | Self::Forgotten { .. } => None,
        }
    }
}

/// Returns the caller of a thread's action at a time.
fn caller<C: Clone>(
    open: &mut HashMap<u64, Vec<Open<C>>>,
    forgotten: &ForgottenCalls,
    tasks: &Tasks<C>,
    thread: u64,
    nanos: u64,
) -> Found<C> {
    let calls = open.get_mut(&thread);
    let innermost = calls.and_then(|calls| {
        while calls.pop_if(|call| call.end < nanos).is_some() {}
        calls.last()
    });
    let run = tasks.around(thread, innermost.map(|call| call.start));
    let submitted = run.and_then(|run| run.submitted.clone());
    match (innermost, submitted) {
        (None, submitted) if forgotten.has_since(thread, nanos) => Found::Forgotten {
            in_task: submitted.is_some(),
        },
        (_, Some(submitted)) => Found::Caller(Caller::Task(submitted)),
        (Some(call), None) => Found::Caller(Caller::Thread(call.of.clone())),
        (None, None) => Found::None,
    }
}

#[cfg(test)]
mod tests;
