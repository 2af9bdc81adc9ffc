//! Events where tasks are submitted and run, in classes of the JDK.
//!
//! The command links these events by the task's class and identity hash. Each event is a row of one
//! table with a single cell, the step of the task.

use classhook_sdk::edit::Member;
use classhook_sdk::names;
use classhook_sdk::prelude::*;
use classhook_sdk::{ColumnKind, Table};

use self::At::{BeforeCall, Begin, Call, End};
use self::Of::{Argument, Nothing, Operand, This};

/// The table of the events; only the command reads it.
const TASKS: Table = Table {
    name: "_tasks",
    columns: &[("step", ColumnKind::Text)],
};
/// The name of the value with the task.
const TASK: &str = "task";
/// The name of the value with the executor; without an executor, a stage is no task.
const EXECUTOR: &str = "executor";
/// The version of class files of JDK 8 (JVMS 4.1).
const JDK_8: u16 = 52;

/// The task is submitted; if it is submitted several times, a later run belongs to the earliest
/// submission.
const SUBMITTED: &str = "submitted";
/// The task is submitted, and other submissions of it until its run belong to this one.
const REGISTERED: &str = "registered";
/// The task is submitted for all its runs.
const SCHEDULED: &str = "scheduled";
/// The last submission is cancelled.
const WITHDRAWN: &str = "withdrawn";
/// A thread begins to run the task.
const BEGUN: &str = "begun";
/// A thread begins to run the task for the last time.
const BEGUN_LAST: &str = "begun-last";
/// The run ends.
const ENDED: &str = "ended";

/// The place of an event in a method.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Its entry.
    Begin,
    /// The returns of the method, and the point where an exception leaves it.
    End,
    /// The calls of this method, with their operands.
    Call(&'static str),
    /// The calls of this method, in front of them and without their operands.
    BeforeCall(&'static str),
}

/// The task of an event.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    This,
    Argument(u8),
    Operand(u8),
    /// The innermost running task.
    Nothing,
}

/// A step of a task: method, place, task and step.
type Place = (&'static str, At, Of, &'static str);

/// The places of a task that runs itself.
const RUN: &[Place] = &[("run", Begin, This, BEGUN), ("run", End, This, ENDED)];

/// The classes, each with the places that exist in every release.
const CLASSES: &[(&str, &[Place])] = &[
    (
        "java/util/concurrent/ThreadPoolExecutor",
        &[
            ("execute", Begin, Argument(0), SUBMITTED),
            ("reject", Begin, Argument(0), WITHDRAWN),
            (
                "runWorker",
                Call("java.lang.Runnable.run"),
                Operand(0),
                BEGUN,
            ),
            (
                "runWorker",
                Call("java.util.concurrent.ThreadPoolExecutor.afterExecute"),
                Operand(1),
                ENDED,
            ),
        ],
    ),
    (
        "java/util/concurrent/ScheduledThreadPoolExecutor",
        &[("delayedExecute", Begin, Argument(0), SCHEDULED)],
    ),
    (
        "java/util/concurrent/FutureTask",
        &[
            ("run", Begin, This, BEGUN_LAST),
            ("run", End, This, ENDED),
            ("runAndReset", Begin, This, BEGUN),
            ("runAndReset", End, This, ENDED),
            ("cancel", Begin, This, WITHDRAWN),
        ],
    ),
    ("java/util/concurrent/ForkJoinPool", &[]),
    (
        "java/util/concurrent/ForkJoinTask",
        &[("doExec", Begin, This, BEGUN), ("doExec", End, This, ENDED)],
    ),
    (
        "java/util/concurrent/CompletableFuture",
        &[(
            "*",
            Call("java.util.concurrent.Executor.execute"),
            Operand(1),
            REGISTERED,
        )],
    ),
    ("java/util/concurrent/CompletableFuture$UniCompletion", &[]),
    ("java/util/concurrent/CompletableFuture$Completion", RUN),
    ("java/util/concurrent/CompletableFuture$AsyncSupply", RUN),
    ("java/util/concurrent/CompletableFuture$AsyncRun", RUN),
    (
        "java/util/Timer",
        &[("sched", Begin, Argument(0), SCHEDULED)],
    ),
    ("java/util/TimerTask", &[("cancel", Begin, This, WITHDRAWN)]),
    (
        "java/util/TimerThread",
        &[
            (
                "mainLoop",
                Call("java.util.TimerTask.run"),
                Operand(0),
                BEGUN,
            ),
            (
                "mainLoop",
                BeforeCall("java.util.TaskQueue.getMin"),
                Nothing,
                ENDED,
            ),
        ],
    ),
    ("java/lang/Thread", &[("start", Begin, This, REGISTERED)]),
    ("java/lang/VirtualThread", &[]),
];

/// JDK 8 pushes all tasks that are submitted from outside of the pool, and forks as well.
const POOL_8: &[Place] = &[("externalPush", Begin, Argument(0), SUBMITTED)];
const POOL: &[Place] = &[
    ("externalSubmit", Begin, Argument(0), SUBMITTED),
    ("poolSubmit", Begin, Argument(1), SUBMITTED),
    ("scheduleDelayedTask", Begin, Argument(0), SCHEDULED),
];
const FORK_8: &[Place] = &[(
    "fork",
    Call("java.util.concurrent.ForkJoinPool$WorkQueue.push"),
    Operand(1),
    SUBMITTED,
)];
const FORK: &[Place] = &[("fork", Begin, This, SUBMITTED)];
/// All threads run their task here, virtual threads when they are mounted.
const RUN_WITH: &[Place] = &[
    ("runWith", Begin, This, BEGUN),
    ("runWith", End, This, ENDED),
];

/// Returns the selectors of the classes.
pub fn selectors() -> impl Iterator<Item = String> {
    CLASSES.iter().map(|(name, _)| name.replace('/', "."))
}

/// Requests the events in a class.
///
/// # Errors
/// If an event is rejected at its place.
pub fn add(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let name = class.name();
    let found = CLASSES.iter().find(|(known, _)| *known == name);
    let Some((_, places)) = found.filter(|_| class.loader() == "boot") else {
        return Ok(());
    };
    for place in places.iter().chain(of_release(&name, class)) {
        add_place(place, class, plan)?;
    }
    if name.ends_with("$UniCompletion") {
        add_stages(class, plan)?;
    }
    Ok(())
}

/// Returns the places of a class that differ between releases.
fn of_release(name: &str, class: &Class<'_>) -> &'static [Place] {
    let is_old = class.major_version() <= JDK_8;
    match name.rsplit('/').next().unwrap_or_default() {
        "ForkJoinPool" if is_old => POOL_8,
        "ForkJoinPool" => POOL,
        "ForkJoinTask" if is_old => FORK_8,
        "ForkJoinTask" => FORK,
        "Thread" if class.methods().any(|method| method.name() == "runWith") => RUN_WITH,
        "Thread" => RUN,
        // The other method of this name calls this one.
        "VirtualThread" => &[("start", Begin, This, REGISTERED)],
        _ => &[],
    }
}

fn add_place(place: &Place, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let (name, at, of, step) = *place;
    let event = match of {
        This => Event::default().this(TASK),
        Argument(index) => Event::default().argument(TASK, index),
        Operand(index) => Event::default().operand(TASK, index),
        Nothing => Event::default(),
    };
    let is_of_carrier = |method: &Method<'_>| {
        class.name() == "java/lang/VirtualThread" && method.descriptor() == "()V"
    };
    let mut sites = Vec::new();
    for method in class.methods().filter(Method::has_code) {
        if (name != "*" && method.name() != name) || is_of_carrier(&method) {
            continue;
        }
        match at {
            Begin => sites.push(method.entry()),
            End => {
                sites.extend(method.returns());
                sites.push(method.unwind());
            }
            Call(target) => sites.extend(method.at(&calls(&method, target)?)),
            BeforeCall(target) => sites.extend(method.before(&calls(&method, target)?)),
        }
    }
    if !sites.is_empty() {
        let row = TASKS.row(&[step]);
        plan.event(&sites, &event, &row)?;
    }
    Ok(())
}

/// Finds the calls of a method in another one, in order.
fn calls(method: &Method<'_>, target: &str) -> Result<Vec<u16>> {
    let is_target = |member: &Member| {
        let full = format!("{}.{}", member.owner.replace('/', "."), member.name);
        full == target
    };
    let calls = method.calls(is_target)?;
    Ok(calls.iter().map(|call| call.bci).collect())
}

/// Adds the events of stages of a `CompletableFuture`, which are registered on creation. A stage is
/// a task only if it has an executor.
fn add_stages(class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
    let mut sites = Vec::new();
    for method in class.methods().filter(Method::has_code) {
        if method.name() == names::INIT {
            sites.extend(method.returns());
        }
    }
    let event = Event::default().this(TASK).argument(EXECUTOR, 0);
    let row = TASKS.row(&[REGISTERED]);
    plan.event(&sites, &event, &row)?;
    Ok(())
}
