//! Steps of tasks, which one thread submits and another runs. An event file holds them as events in rows of a table.

use std::sync::Arc;

use super::{Moment, SpanInfo, Value};

/// The table whose rows are steps of tasks.
pub const TASKS: &str = "_tasks";
/// Name of the value that holds the task.
const TASK: &str = "task";

/// A step in the life of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A thread submits it. A later run takes the earliest of several submissions.
    Submitted,
    /// As [`Step::Submitted`]; submissions of it until its run are part of this one.
    Registered,
    /// As [`Step::Registered`], for all its runs.
    Scheduled,
    /// The last submission is void.
    Withdrawn,
    /// A thread begins to run it.
    Begun,
    /// A thread begins to run it for the last time, unless it is submitted again.
    BegunLast,
    /// The run ends.
    Ended,
}

/// A step of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskStep {
    /// Java's id of the acting thread.
    pub thread: u64,
    /// True if that thread is virtual.
    pub is_virtual: bool,
    /// The time: nanoseconds since the start.
    pub nanos: u64,
    /// The step.
    pub step: Step,
    /// The task; `None` for the innermost one that the thread runs.
    pub task: Option<Task>,
}

/// The known identity of a task. Different tasks may have the same class and identity hash.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Task {
    /// Internal name of its class; for an enum constant, its name.
    pub class: Arc<str>,
    /// Its identity hash code; 0 for an enum constant.
    pub identity: u32,
}

impl Step {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "submitted" => Self::Submitted,
            "registered" => Self::Registered,
            "scheduled" => Self::Scheduled,
            "withdrawn" => Self::Withdrawn,
            "begun" => Self::Begun,
            "begun-last" => Self::BegunLast,
            "ended" => Self::Ended,
            _ => return None,
        })
    }
}

/// Checks whether the events of a place are steps of tasks.
#[must_use]
pub fn is_of_tasks(place: &SpanInfo) -> bool {
    let row = place.row.as_ref().filter(|_| place.event.is_some());
    row.is_some_and(|row| row.table == TASKS)
}

impl TaskStep {
    /// Decodes an event of this place. `None` if it is no step, for example because the object is no task.
    #[must_use]
    pub fn of(moment: &Moment, is_virtual: bool, place: &SpanInfo) -> Option<Self> {
        let step = Step::of(place.row.as_ref()?.cells.first()?)?;
        let mut task = None;
        for (name, capture) in place.shown.iter().zip(moment.captures.iter()) {
            match (name == TASK, &capture.value) {
                (true, Value::Object { class, identity }) => {
                    let (class, identity) = (Arc::clone(class), *identity);
                    task = Some(Task { class, identity });
                }
                (true, Value::Constant(name)) => {
                    let class = name.as_str().into();
                    task = Some(Task { class, identity: 0 });
                }
                // A value that a task requires is absent.
                (true, _) | (false, Value::Null) => return None,
                (false, _) => {}
            }
        }
        if task.is_none() && step != Step::Ended {
            return None;
        }
        Some(Self {
            thread: moment.thread,
            is_virtual,
            nanos: moment.nanos,
            step,
            task,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::{Capture, CaptureSource, EventInfo, TableRow};

    fn place(step: &str, shown: &[&str]) -> SpanInfo {
        SpanInfo {
            row: Some(TableRow {
                table: TASKS.to_owned(),
                cells: vec![step.to_owned()],
                ..TableRow::default()
            }),
            event: Some(EventInfo::default()),
            shown: shown.iter().map(|name| (*name).to_owned()).collect(),
            ..SpanInfo::default()
        }
    }

    fn step_of(place: &SpanInfo, values: &[Value]) -> Option<(Step, Option<Task>)> {
        let captures = (0..).zip(values).map(|(slot, value)| Capture {
            source: CaptureSource::Shown(slot),
            value: value.clone(),
        });
        let moment = Moment {
            thread: 3,
            place: 1,
            nanos: 7,
            captures: captures.collect(),
        };
        let step = TaskStep::of(&moment, false, place)?;
        assert_eq!((step.thread, step.nanos), (3, 7));
        Some((step.step, step.task))
    }

    #[test]
    fn events_of_the_table_are_task_steps_if_they_have_a_task() {
        let object = Value::Object {
            class: "a/Task".into(),
            identity: 9,
        };
        let task = Some(Task {
            class: "a/Task".into(),
            identity: 9,
        });
        let begun = place("begun", &["task"]);
        assert!(is_of_tasks(&begun) && !is_of_tasks(&SpanInfo::default()));
        assert_eq!(
            step_of(&begun, std::slice::from_ref(&object)),
            Some((Step::Begun, task.clone()))
        );
        assert_eq!(step_of(&begun, &[Value::Null]), None);
        assert_eq!(step_of(&begun, &[]), None);
        let ended = place("ended", &[]);
        assert_eq!(step_of(&ended, &[]), Some((Step::Ended, None)));
        let stage = place("registered", &["task", "executor"]);
        let executor = object.clone();
        assert_eq!(
            step_of(&stage, &[object.clone(), executor]),
            Some((Step::Registered, task))
        );
        assert_eq!(step_of(&stage, &[object, Value::Null]), None);
        let constant = Some((
            Step::Submitted,
            Some(Task {
                class: "ONE".into(),
                identity: 0,
            }),
        ));
        let submitted = place("submitted", &["task"]);
        assert_eq!(
            step_of(&submitted, &[Value::Constant("ONE".to_owned())]),
            constant
        );
        assert_eq!(step_of(&place("other", &[]), &[]), None);
    }
}
