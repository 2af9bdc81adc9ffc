//! Tries everything that Classhook needs of this machine or of a running JVM.
//!
//! A finding is good only after a successful trial: a JVM starts, a running JVM answers, a file is written. The trials
//! delete their files.

mod jvm;
mod machine;
mod room;

use std::fmt::Write as _;

use serde_json::{Value, json};

pub use jvm::of_jvm;
pub use machine::of_machine;

use crate::problem::Problem;
use crate::show::name;

/// How it is with one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is as it should be.
    Good,
    /// It is not there, and only what the advice names needs it.
    Absent,
    /// It keeps Classhook from its work, or changes the results.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// `agent`, `java`, `cache`
    pub what: &'static str,
    /// How it is.
    pub state: State,
    /// What was found, in words.
    pub found: String,
    /// What to do.
    pub advice: Option<String>,
}

impl Finding {
    fn good(what: &'static str, found: impl Into<String>) -> Self {
        Self::new(what, State::Good, found, None)
    }

    fn absent(what: &'static str, found: impl Into<String>, advice: &str) -> Self {
        Self::new(what, State::Absent, found, Some(advice.to_owned()))
    }

    fn bad(what: &'static str, found: impl Into<String>, advice: impl Into<String>) -> Self {
        Self::new(what, State::Bad, found, Some(advice.into()))
    }

    /// The same, found about something else that depends on it.
    fn about(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// What another command would refuse with this problem.
    fn refused(what: &'static str, problem: &Problem) -> Self {
        let found = format!("{}: {}", problem.code(), problem.cause());
        Self::new(what, State::Bad, found, problem.help())
    }

    fn new(
        what: &'static str,
        state: State,
        found: impl Into<String>,
        advice: Option<String>,
    ) -> Self {
        let found = found.into();
        Self {
            what,
            state,
            found,
            advice,
        }
    }
}

/// A line for each finding, and one below it for its advice.
#[must_use]
pub fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.what.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let mark = mark(finding.state);
        // a string takes everything
        let _ = writeln!(
            text,
            "{mark:<6}  {:<width$}  {}",
            finding.what,
            name(&finding.found)
        );
        if let Some(advice) = &finding.advice {
            let _ = writeln!(text, "{:<6}  {:<width$}  -> {}", "", "", name(advice));
        }
    }
    text
}

/// The findings as an array of objects.
#[must_use]
pub fn json(findings: &[Finding]) -> Value {
    let object = |finding: &Finding| {
        json!({
            "what": finding.what,
            "state": mark(finding.state),
            "found": finding.found,
            "advice": finding.advice,
        })
    };
    findings.iter().map(object).collect()
}

fn mark(state: State) -> &'static str {
    match state {
        State::Good => "good",
        State::Absent => "absent",
        State::Bad => "bad",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_stand_in_columns_with_their_advice_below() {
        let findings = [
            Finding::good("java", "17.0.15"),
            Finding::bad("compiler", "not\u{1b}[2J there", "put it there"),
        ];
        let expected = "\
            good    java      17.0.15\n\
            bad     compiler  not\\u001b[2J there\n\
            \u{20}                 -> put it there\n";
        assert_eq!(text(&findings), expected);
        assert_eq!(json(&findings)[1]["state"], "bad");
    }
}
