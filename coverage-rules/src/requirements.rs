//! Coverage requirements: minimums and rules from files, and their verdict.

use std::fmt::Write as _;
use std::path::PathBuf;

use coverage::model::{BundleCoverage, CounterKind};
use errors::{Error, Warning, Warnings, codes};

use crate::minimums::{self, Minimum, Shortfall};
use crate::rule::{Names, Rule};

/// Parsed requirements.
#[derive(Debug, Clone, Default)]
pub struct Requirements {
    minimums: Vec<Minimum>,
    rules: Vec<Rule>,
}

impl Requirements {
    /// Joins minimums with the rules of files.
    ///
    /// # Errors
    /// As [`crate::read`].
    pub fn read(minimums: &[Minimum], files: &[PathBuf]) -> Result<Self, Error> {
        let rules = files.iter().map(|path| crate::read(path));
        let rules: Vec<Vec<Rule>> = rules.collect::<Result<_, _>>()?;
        Ok(Self {
            minimums: minimums.to_vec(),
            rules: rules.concat(),
        })
    }

    /// Returns the number of rules.
    #[must_use]
    pub fn count(&self) -> usize {
        self.minimums.len() + self.rules.len()
    }

    /// Checks all rules against these bundles, which may be parts of `all`.
    ///
    /// # Errors
    /// If no class was measured, a rule in our own form matches nothing (`H0671`), or a rule needs
    /// a counter that a part lacks.
    pub fn check(
        &self,
        bundles: &[BundleCoverage],
        all: &[BundleCoverage],
        warnings: &mut Warnings,
    ) -> Result<Verdict, Error> {
        if self.count() > 0 && all.iter().all(|bundle| bundle.classes().next().is_none()) {
            return Err(nothing_measured());
        }
        if !std::ptr::eq(bundles, all) && self.ask_for(CounterKind::Complexity) {
            return Err(no_complexity());
        }
        let short = minimums::check(&self.minimums, bundles, all)?;
        let mut violations = Vec::new();
        for rule in &self.rules {
            match (rule.check(all), &rule.names) {
                (Some(_), _) => violations.extend(rule.check(bundles).unwrap_or_default()),
                (None, Names::Globs { .. }) => return Err(about_nothing(rule)),
                (None, Names::Wildcards { .. }) => warnings.add(checks_nothing(rule)),
            }
        }
        Ok(Verdict {
            rules: self.count(),
            short,
            violations,
        })
    }
}

impl Requirements {
    fn ask_for(&self, counter: CounterKind) -> bool {
        let limits = self.rules.iter().flat_map(|rule| &rule.limits);
        self.minimums.iter().any(|rule| rule.counter() == counter)
            || limits.into_iter().any(|limit| limit.counter == counter)
    }
}

fn no_complexity() -> Error {
    Error::mistake(
        codes::H0673,
        "no rule can limit the complexity of changed lines",
    )
    .with("expected", "line, branch, instruction, method or class")
    .with(
        "help",
        "complexity belongs to whole methods: check it without --diff",
    )
}

/// Returns the error for an empty measurement, which fulfils no rule.
fn nothing_measured() -> Error {
    Error::mistake(codes::H0671, "no class was measured, so no rule can be checked")
        .with("expected", "at least one class with instructions")
        .with("found", "none")
        .with(
            "help",
            "check that the program ran with the plugin coverage, and that --classes and --select name its classes",
        )
}

const ABOUT_NOTHING: &str = "this rule matches no name of a measured element";

fn about_nothing(rule: &Rule) -> Error {
    Error::mistake(codes::H0671, ABOUT_NOTHING).with("at", rule.origin.clone())
}

/// As in JaCoCo, such a rule holds.
fn checks_nothing(rule: &Rule) -> Warning {
    Warning::new(codes::H0677, ABOUT_NOTHING)
        .with("at", rule.origin.clone())
        .with("note", "the rule holds, as in JaCoCo's check")
}

/// The result of the rules.
#[derive(Debug)]
pub struct Verdict {
    rules: usize,
    short: Vec<Shortfall>,
    violations: Vec<String>,
}

impl Verdict {
    /// Formats the violations, or a line that all rules hold; empty without rules.
    #[must_use]
    pub fn table(&self) -> String {
        if self.short.is_empty() && self.violations.is_empty() {
            return match self.rules {
                0 => String::new(),
                1 => "the rule holds\n".to_owned(),
                count => format!("all {count} rules hold\n"),
            };
        }
        let mut text = minimums::table(&self.short);
        for violation in &self.violations {
            let _ = writeln!(text, "{}", escape::line(violation)); // writing to a string cannot fail
        }
        text
    }

    /// Returns the violations as an error.
    ///
    /// # Errors
    /// `H0673`, with exit code 4.
    pub fn problem(&self) -> Result<(), Error> {
        let message = match (self.short.len(), self.violations.len()) {
            (0, 0) => return Ok(()),
            (count, 0) => {
                format!(
                    "{} of --fail-under",
                    counted(count, "value falls short", "values fall short")
                )
            }
            (short, violations) => {
                counted(short + violations, "rule is violated", "rules are violated")
            }
        };
        Err(Error::shortfall(codes::H0673, message))
    }
}

/// Returns the number with words of one or of several.
fn counted(count: usize, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        count => format!("{count} {several}"),
    }
}
