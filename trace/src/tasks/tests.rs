//! Tests with tasks named by a letter, and calls that submit them.

use super::*;

/// Returns the run that a step begins.
fn begun<'t>(tasks: &'t mut Tasks<u64>, step: &TaskStep) -> Option<&'t Run<u64>> {
    match tasks.take(step, |_| None) {
        Some(Change::Begun(run)) => Some(run),
        _ => None,
    }
}

/// Creates a step of the task with this letter as its hash.
fn step(thread: u64, nanos: u64, step: Step, task: char) -> TaskStep {
    TaskStep {
        thread,
        is_virtual: false,
        nanos,
        step,
        task: Some(Task {
            class: "a/Task".into(),
            identity: task.into(),
        }),
    }
}

fn call(thread: u64, start: u64, end: u64) -> Call {
    Call {
        thread,
        span: 0,
        start,
        end,
        outcome: Outcome::Returned,
        captures: Vec::new(),
    }
}

/// Enters a call that is identified by its start, and returns its caller.
fn enter(callers: &mut Callers<u64>, call: &Call) -> Option<Caller<u64>> {
    let mut found = None;
    callers.enter(call, |caller| {
        found = caller.copied();
        call.start
    });
    found
}

fn of_task(thread: u64, nanos: u64, by: u64) -> Option<Caller<u64>> {
    Some(Caller::Task(Submitted { thread, nanos, by }))
}

#[test]
fn call_of_a_task_belongs_to_its_submitter() {
    let mut callers = Callers::default();
    enter(&mut callers, &call(1, 10, 20));
    callers.step(&step(1, 12, Step::Submitted, 'a'));
    callers.step(&step(2, 30, Step::Begun, 'a'));
    let found = enter(&mut callers, &call(2, 31, 40));
    assert_eq!(found, of_task(1, 12, 10), "also when that has ended");
    let found = enter(&mut callers, &call(2, 32, 33));
    assert_eq!(found, Some(Caller::Thread(31)));
    callers.step(&step(2, 50, Step::Ended, 'a'));
    assert_eq!(enter(&mut callers, &call(2, 60, 61)), None);
}

/// A task that another task without calls submits belongs to the first call. A task that runs within a call belongs
/// to the call that submitted it.
#[test]
fn tasks_are_linked_through_tasks_and_within_calls() {
    let mut callers = Callers::default();
    enter(&mut callers, &call(1, 10, 100));
    callers.step(&step(1, 12, Step::Submitted, 'a'));
    callers.step(&step(2, 20, Step::Begun, 'a'));
    callers.step(&step(2, 21, Step::Submitted, 'b'));
    callers.step(&step(2, 22, Step::Ended, 'a'));
    callers.step(&step(3, 30, Step::Begun, 'b'));
    assert_eq!(enter(&mut callers, &call(3, 31, 39)), of_task(1, 12, 10));
    callers.step(&step(3, 32, Step::Submitted, 'c'));
    callers.step(&step(3, 40, Step::Ended, 'b'));
    enter(&mut callers, &call(3, 50, 90));
    callers.step(&step(3, 51, Step::Begun, 'c'));
    assert_eq!(enter(&mut callers, &call(3, 52, 53)), of_task(3, 32, 31));
    callers.step(&step(3, 60, Step::Ended, 'c'));
    let found = enter(&mut callers, &call(3, 61, 62));
    assert_eq!(found, Some(Caller::Thread(50)));
}

/// Each of a million threads has a call that never ends.
#[test]
fn calls_that_never_end_take_limited_memory_and_unknown_callers_are_counted() {
    const THREADS: u64 = 1_000_000;
    let mut callers = Callers::default();
    let never_ending = |thread| Call {
        outcome: Outcome::Open,
        ..call(thread, 10 * thread, 10 * thread)
    };
    for thread in 1..=THREADS {
        enter(&mut callers, &never_ending(thread));
    }
    assert!(callers.size <= 2 * OPEN + LOOK, "{}", callers.size);
    assert_eq!((callers.take_dropped(), callers.take_orphans()), (0, 0));
    let mut now = 10 * THREADS;
    let mut next = || {
        now += 10;
        now
    };
    // The caller of the last thread is known, that of the first is not.
    let at = next();
    let found = enter(&mut callers, &call(THREADS, at, at + 1));
    assert_eq!(found, Some(Caller::Thread(10 * THREADS)));
    let at = next();
    assert_eq!(enter(&mut callers, &call(1, at, at + 1)), None);
    assert_eq!((callers.take_dropped(), callers.take_orphans()), (0, 1));
    callers.step(&step(1, next(), Step::Submitted, 'a'));
    assert_eq!((callers.take_dropped(), callers.take_orphans()), (1, 0));
    callers.step(&step(THREADS, next(), Step::Submitted, 'b'));
    callers.step(&step(2, next(), Step::Begun, 'b'));
    let at = next();
    assert_eq!(enter(&mut callers, &call(2, at, at + 1)), None);
    assert_eq!((callers.take_dropped(), callers.take_orphans()), (1, 0));
    // No call of this thread was dropped.
    let new = THREADS + 1;
    let at = next();
    assert_eq!(enter(&mut callers, &call(new, at, at + 1)), None);
}

/// The innermost calls are kept.
#[test]
fn a_million_nested_calls_take_limited_memory() {
    const CALLS: u64 = 1_000_000;
    let mut callers = Callers::default();
    for number in 1..=CALLS {
        enter(&mut callers, &call(1, number, 4 * CALLS - number));
    }
    assert!(callers.size <= 2 * OPEN + LOOK, "{}", callers.size);
    let found = enter(&mut callers, &call(1, CALLS + 1, CALLS + 2));
    assert_eq!(found, Some(Caller::Thread(CALLS)));
    let found = enter(&mut callers, &call(1, 4 * CALLS - 3, 4 * CALLS - 2));
    assert_eq!(found, None);
    assert_eq!((callers.take_dropped(), callers.take_orphans()), (0, 1));
    assert_eq!(enter(&mut callers, &call(1, 4 * CALLS, 5 * CALLS)), None);
    assert_eq!(callers.take_orphans(), 0, "all dropped ones have ended");
}

/// A task is submitted twice, or two tasks are equal.
#[test]
fn runs_take_submissions_in_order() {
    let mut tasks: Tasks<u64> = Tasks::default();
    let submit = |tasks: &mut Tasks<u64>, nanos, by: Option<u64>| {
        let thread = 1;
        tasks.take(&step(1, nanos, Step::Submitted, 'a'), |_| {
            by.map(|by| Submitted { thread, nanos, by })
        });
    };
    let run = |tasks: &mut Tasks<u64>, thread, nanos| {
        let run = begun(tasks, &step(thread, nanos, Step::Begun, 'a'));
        let run = run.expect("a run begins");
        run.submitted.map(|submitted| submitted.by)
    };
    submit(&mut tasks, 1, Some(10));
    submit(&mut tasks, 2, None);
    submit(&mut tasks, 3, Some(20));
    assert_eq!(run(&mut tasks, 2, 4), Some(10));
    assert_eq!(run(&mut tasks, 3, 5), None);
    assert_eq!(run(&mut tasks, 4, 6), Some(20));
    assert_eq!(run(&mut tasks, 5, 7), None, "it waits no more");
    submit(&mut tasks, 8, Some(30));
    submit(&mut tasks, 9, Some(40));
    tasks.take(&step(1, 10, Step::Withdrawn, 'a'), |_| None);
    assert_eq!(run(&mut tasks, 6, 11), Some(30));
    assert_eq!(run(&mut tasks, 7, 12), None);
}

/// A stage is registered by one call and submitted at the end of the previous stage; a task is periodic; a run
/// consists of two JDK methods.
#[test]
fn first_submission_wins_and_schedules_repeat() {
    let at = |by: u64| {
        move |_: &Tasks<u64>| {
            Some(Submitted {
                thread: 1,
                nanos: by,
                by,
            })
        }
    };
    let begin = |tasks: &mut Tasks<u64>, kind, task| {
        let run = begun(tasks, &step(2, 9, kind, task));
        let found = run.map(|run| run.submitted.map(|submitted| submitted.by));
        tasks.take(&step(2, 10, Step::Ended, task), |_| None);
        found.expect("a run begins")
    };
    let mut tasks = Tasks::default();
    tasks.take(&step(1, 1, Step::Registered, 'a'), at(1));
    tasks.take(&step(1, 2, Step::Submitted, 'a'), at(2));
    assert_eq!(begin(&mut tasks, Step::Begun, 'a'), Some(1));
    assert_eq!(begin(&mut tasks, Step::Begun, 'a'), None);
    tasks.take(&step(1, 3, Step::Scheduled, 'b'), at(3));
    for _ in 0..3 {
        tasks.take(&step(1, 4, Step::Submitted, 'b'), at(4));
        assert_eq!(begin(&mut tasks, Step::Begun, 'b'), Some(3));
    }
    tasks.take(&step(2, 5, Step::Begun, 'b'), |_| None);
    let within = tasks.take(&step(2, 6, Step::BegunLast, 'b'), |_| None);
    assert_eq!(within, None, "it is the same run");
    tasks.take(&step(2, 7, Step::Ended, 'b'), |_| None);
    assert!(tasks.around(2, None).is_some());
    tasks.take(&step(2, 8, Step::Ended, 'b'), |_| None);
    assert!(tasks.around(2, None).is_none());
    assert_eq!(begin(&mut tasks, Step::Begun, 'b'), None, "it was the last");
}

#[test]
fn steps_wait_until_preceding_calls_are_known() {
    let mut steps = Steps::default();
    for nanos in [30, 10, 20, 40] {
        steps.take(&step(1, nanos, Step::Begun, 'a'));
    }
    let mut times = |before| {
        let settled = steps.before(before);
        settled.iter().map(|step| step.nanos).collect::<Vec<_>>()
    };
    assert_eq!(times(10), [0; 0]);
    assert_eq!(times(31), [10, 20, 30]);
    assert_eq!(times(u64::MAX), [40]);
    for _ in 0..STEPS + 3 {
        steps.take(&step(1, 1, Step::Begun, 'a'));
    }
    steps.take(&step(1, 1, Step::Ended, 'a'));
    assert_eq!((steps.take_dropped(), steps.take_dropped()), (3, 0));
}

/// The agent was attached late: tasks are already waiting or running.
#[test]
fn task_runs_without_a_recorded_submission_have_no_caller() {
    let mut callers = Callers::default();
    callers.step(&step(2, 5, Step::Ended, 'a'));
    callers.step(&step(2, 6, Step::Begun, 'b'));
    assert_eq!(enter(&mut callers, &call(2, 7, 8)), None);
    enter(&mut callers, &call(3, 10, 90));
    callers.step(&step(3, 11, Step::Begun, 'c'));
    let found = enter(&mut callers, &call(3, 12, 13));
    assert_eq!(found, Some(Caller::Thread(10)));
}

#[test]
fn oldest_of_too_many_tasks_are_dropped_and_counted() {
    let mut tasks: Tasks<u64> = Tasks::default();
    let most = WAITING as u64;
    let task = |number: u64, kind| {
        let mut step = step(1, number, kind, 'a');
        if let Some(task) = &mut step.task {
            task.identity = number as u32;
        }
        step
    };
    for number in 0..most + 5 {
        let submitted = Submitted {
            thread: 1,
            nanos: number,
            by: number,
        };
        tasks.take(&task(number, Step::Submitted), |_| Some(submitted));
    }
    assert_eq!((tasks.take_dropped(), tasks.take_dropped()), (5, 0));
    let mut run = |number| {
        let run = begun(&mut tasks, &task(number, Step::Begun));
        run.and_then(|run| run.submitted).is_some()
    };
    assert!(!run(4) && run(5) && run(most + 4));
    // Tasks that run at once take no memory.
    let mut tasks: Tasks<u64> = Tasks::default();
    for number in 0..10 * most {
        let submitted = Submitted {
            thread: 1,
            nanos: number,
            by: number,
        };
        tasks.take(&task(number, Step::Submitted), |_| Some(submitted));
        let run = begun(&mut tasks, &task(number, Step::Begun));
        assert!(run.is_some_and(|run| run.submitted.is_some()));
        tasks.take(&task(number, Step::Ended), |_| None);
    }
    assert!(tasks.by_age.len() <= 4 * WAITING && tasks.take_dropped() == 0);
}

/// Each task keeps a thread of its own busy.
#[test]
fn tasks_on_too_many_threads_are_dropped_and_counted() {
    let mut tasks: Tasks<u64> = Tasks::default();
    let on = |thread: u64, kind| {
        let mut step = step(thread, thread, kind, 'a');
        if let Some(task) = &mut step.task {
            task.identity = thread as u32;
        }
        step
    };
    let submitted = Submitted {
        thread: 1,
        nanos: 1,
        by: 1,
    };
    let most = RUNNING as u64;
    for thread in 0..most + 5 {
        tasks.take(&on(thread, Step::Submitted), |_| Some(submitted));
        let run = begun(&mut tasks, &on(thread, Step::Begun));
        assert_eq!(run.is_some(), thread < most, "{thread}");
    }
    assert_eq!((tasks.running.len(), tasks.take_dropped()), (RUNNING, 5));
    // The end of a dropped run changes nothing.
    for thread in 0..most + 5 {
        let ended = tasks.take(&on(thread, Step::Ended), |_| None).is_some();
        assert_eq!(ended, thread < most, "{thread}");
    }
    assert!(tasks.running.is_empty());
    tasks.take(&on(1, Step::Submitted), |_| Some(submitted));
    assert!(begun(&mut tasks, &on(1, Step::Begun)).is_some());
}
