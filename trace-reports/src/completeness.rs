//! Checks a trace for missing data, and for outputs that it cannot provide.

use std::path::Path;

use errors::{Error, codes};
use probes::events::{Lost, SpanInfo, SpanMode, Trace};
use trace::losses;
use trace::numbers::counted;
use trace::recording::Recording;
use trace::slow::LostCalls;
use trace::summary::Summary;

use crate::recorded::traces;

/// The JSON lines that were written while calls were recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StreamedLines {
    /// Not requested.
    #[default]
    No,
    /// Written for this many calls.
    Calls(u64),
    /// Cut short by an error, which was reported.
    CutShort,
}

/// Checks that all events were recorded. Every output names the missing ones.
///
/// # Errors
/// `H0651` if data is missing.
pub fn is_complete(summary: &Summary) -> Result<(), Error> {
    let gaps = summary.incomplete.iter().map(ToString::to_string);
    let lost = losses::present(&summary.lost).map(|loss| loss.to_string());
    let mut missing = gaps.chain(lost).peekable();
    if missing.peek().is_none() {
        return Ok(());
    }
    let problem = Error::partial(codes::H0651, "the trace is incomplete");
    let problem = missing.fold(problem, |problem, found| problem.with("found", found));
    Err(problem.with("help", help(summary)))
}

/// Returns the help for missing data. Names of threads alone are no reason for other recordings of calls.
fn help(summary: &Summary) -> &'static str {
    let of_calls = Lost {
        thread_names: 0,
        ..summary.lost
    };
    match summary.incomplete.is_empty() && of_calls.is_none() {
        true => "their calls are whole; a shorter recording has fewer threads",
        false => {
            "make room where the agent writes (--output), or trace fewer methods, or use --aggregate"
        }
    }
}

/// Checks that every task with a recorded submission was followed, and that every caller was found.
///
/// # Errors
/// `H0651` if callers are unknown.
pub fn follows_all(lost: u64) -> Result<(), Error> {
    if lost == 0 {
        return Ok(());
    }
    let found = counted(lost, "unknown caller");
    let found = format!("{found}: too many tasks waited, or too many calls were open, at once");
    let problem = Error::partial(codes::H0651, "not all tasks were followed");
    Err(problem
        .with("found", found)
        .with("help", "these calls are shown without their caller"))
}

/// Checks that no tree of a slow call lacks calls.
///
/// # Errors
/// `H0651` if calls were dropped, because too many threads had calls at once.
pub fn has_whole_trees(lost: LostCalls) -> Result<(), Error> {
    if lost == LostCalls::default() {
        return Ok(());
    }
    let trees = (lost.incomplete > 0).then(|| {
        let trees = counted(lost.incomplete, "tree");
        format!("{trees}: earlier calls of the thread may be missing")
    });
    let open = (lost.open > 0).then(|| {
        let open = counted(lost.open, "call");
        format!("{open}: dropped while they were open, and shown only if they ended later")
    });
    let problem = Error::partial(codes::H0651, "not all trees of slow calls are complete");
    let found = trees.into_iter().chain(open);
    let problem = found.fold(problem, |problem, found| problem.with("found", found));
    Err(problem.with(
        "help",
        "too many threads had calls at once: record for a shorter time, or trace fewer methods",
    ))
}

/// Checks that the agent has changed a class of the JDK in which tasks are followed.
///
/// # Errors
/// `H0639` if not.
pub fn is_following(recordings: &[Recording]) -> Result<(), Error> {
    if recordings.is_empty() || traces(recordings).any(|trace| !trace.tasks.is_empty()) {
        return Ok(());
    }
    Err(Error::partial(codes::H0639, "no task was followed").with(
        "found",
        "no changed class of java.util.concurrent, and not java.lang.Thread",
    ))
}

/// Checks that the lines hold every call that was ever in the event files.
///
/// # Errors
/// `H0651` if the oldest were dropped before they were read.
pub fn is_streamed(recordings: &[Recording], streamed: StreamedLines) -> Result<(), Error> {
    let StreamedLines::Calls(streamed) = streamed else {
        return Ok(());
    };
    let all = |trace: &Trace| trace.single.calls() + trace.single.moments() + trace.lost.oldest;
    let missing = traces(recordings).map(all).sum::<u64>();
    let missing = missing.saturating_sub(streamed);
    if missing == 0 || traces(recordings).all(|trace| trace.lost.oldest == 0) {
        return Ok(());
    }
    let missing = counted(missing, "call");
    let found = format!("{missing} dropped from the event file before being read");
    Err(
        Error::partial(codes::H0651, "the JSON lines are incomplete")
            .with("found", found)
            .with(
                "help",
                "allow longer event files (--max-size), or trace fewer methods",
            ),
    )
}

/// Checks for single calls, which the output at `path` needs.
///
/// # Errors
/// `H0636`.
pub fn has_calls(recordings: &[Recording], path: &Path) -> Result<(), Error> {
    let has_some = |trace: &Trace| {
        // A condition that no call matches is a valid result.
        trace.single.calls() > 0 || trace.spans.values().any(|span| !span.when.is_empty())
    };
    if traces(recordings).any(has_some) {
        return Ok(());
    }
    let keeps_calls = |span: &SpanInfo| span.mode == SpanMode::Events;
    let mut spans = traces(recordings).flat_map(|trace| trace.spans.values());
    Err(match spans.all(keeps_calls) {
        true => without_any_call(path),
        false => without_calls(path),
    })
}

/// As [`has_calls`], for an output that shows events, too.
pub(crate) fn has_calls_or_events(recordings: &[Recording], path: &Path) -> Result<(), Error> {
    // An event that was never reached is a valid result.
    if traces(recordings).any(|trace| !trace.places.is_empty()) {
        return Ok(());
    }
    has_calls(recordings, path)
}

fn without_any_call(path: &Path) -> Error {
    let message = format!("{} shows calls, and none was recorded", path.display());
    Error::mistake(codes::H0636, message).with(
        "help",
        "the methods were not called: record for longer, or record methods that are called",
    )
}

/// Returns the error for a path or an option that needs single calls, if none are recorded.
#[must_use]
pub fn without_calls(path: &Path) -> Error {
    let message = format!(
        "{} needs single calls, and none are recorded",
        path.display()
    );
    Error::mistake(codes::H0636, message).with(
        "help",
        "record without --aggregate and --count, and methods that are called",
    )
}

/// Checks that each JVM has written the end of its file.
///
/// # Errors
/// `H0651` with those that have not.
pub fn are_finished<'t>(traces: impl IntoIterator<Item = &'t Trace>) -> Result<(), Error> {
    let mut cut = traces
        .into_iter()
        .filter(|trace| !trace.complete)
        .peekable();
    if cut.peek().is_none() {
        return Ok(());
    }
    let problem = Error::partial(codes::H0651, "the output is incomplete");
    Err(cut.fold(problem, |problem, trace| {
        problem.with("found", not_finished(trace.meta.pid))
    }))
}

/// Describes the loss for a JVM that has not written the end of its file.
#[must_use]
pub fn not_finished(pid: u32) -> String {
    format!("the JVM {pid} was killed, and its unwritten data is lost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::summary::Order;

    #[test]
    fn trace_with_lost_calls_is_incomplete_unless_requested() {
        let complete = |lost: Lost| {
            let trace = Trace {
                lost,
                ..Trace::default()
            };
            is_complete(&Summary::of(&[trace], Order::Calls))
        };
        let none = Lost::default();
        for lost in [
            Lost { full: 7, ..none },
            Lost { sums: 7, ..none },
            Lost {
                untracked: 7,
                ..none
            },
            Lost { unended: 7, ..none },
        ] {
            let problem = complete(lost).expect_err("incomplete");
            assert_eq!(problem.code(), "H0651");
            assert!(problem.to_string().contains("7 calls: "), "{problem}");
        }
        let names = complete(Lost {
            thread_names: 7,
            ..none
        });
        let problem = names.expect_err("incomplete").to_string();
        assert!(problem.contains("7 thread names: "), "{problem}");
        assert!(problem.contains("their calls are whole"), "{problem}");
        let asked = Lost {
            filtered: 7,
            oldest: 7,
            ..none
        };
        assert!(complete(asked).is_ok());
    }
}
