//! Checks of a machine, or of a running JVM, for problems of Classhook.
//!
//! Only a successful trial makes a finding good: a JVM starts, a running JVM answers, a file is
//! written. The trials delete their files.
//!
//! | function | checks |
//! |---|---|
//! | [`of_machine`] | the agent in a new JVM, the compiler of plugins, folders, clock, environment, tools |
//! | [`of_jvm`] | whether an agent can be loaded into a running JVM, and which other agents it has |
//! | [`text`], [`fn@json`] | the findings for people, and for programs |
//!
//! ```
//! use environment_checks::{Finding, State, json, text};
//!
//! let finding = Finding {
//!     what: "cache",
//!     state: State::Bad,
//!     found: "/root/.cache: read-only".to_owned(),
//!     advice: Some("make it writable".to_owned()),
//! };
//! assert_eq!(
//!     text(&[finding.clone()]),
//!     "bad     cache  /root/.cache: read-only\n               -> make it writable\n"
//! );
//! assert_eq!(json(&[finding])[0]["state"], "bad");
//!
//! // A JVM is checked over its attach protocol, and this process is none.
//! let own = std::process::id().cast_signed();
//! assert_eq!(environment_checks::of_jvm(own).unwrap_err().code(), "H0502");
//! ```
#![forbid(unsafe_code)]

mod first_message;
mod hit_trial;
mod jvm;
mod machine;
mod write_check;

use std::fmt::Write as _;

use errors::Error;
pub use jvm::of_jvm;
pub use machine::of_machine;
use serde_json::{Value, json};

/// Result of one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No problem.
    Good,
    /// Missing; only the subject of the advice needs it.
    Absent,
    /// A problem that stops Classhook or distorts results.
    Bad,
}

/// One checked item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Name of the item: `agent`, `java`, `cache`.
    pub what: &'static str,
    /// Result of the check.
    pub state: State,
    /// Description of the item.
    pub found: String,
    /// Remedy.
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

    /// Returns the same finding under another name, for an item that depends on it.
    fn about(self, what: &'static str) -> Self {
        Self { what, ..self }
    }

    /// Returns a finding for a problem with which another command would fail.
    fn refused(what: &'static str, problem: &Error) -> Self {
        let found = format!("{}: {}", problem.code(), problem.summary());
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

/// Formats one line per finding, and one line below it per advice.
#[must_use]
pub fn text(findings: &[Finding]) -> String {
    let width = findings.iter().map(|finding| finding.what.len()).max();
    let width = width.unwrap_or_default();
    let mut text = String::new();
    for finding in findings {
        let mark = mark(finding.state);
        // writing to a string cannot fail
        let _ = writeln!(
            text,
            "{mark:<6}  {:<width$}  {}",
            finding.what,
            escape::line(&finding.found)
        );
        if let Some(advice) = &finding.advice {
            let _ = writeln!(
                text,
                "{:<6}  {:<width$}  -> {}",
                "",
                "",
                escape::line(advice)
            );
        }
    }
    text
}

/// Formats the findings as an array of objects.
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
    fn findings_are_columns_with_advice_below() {
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
