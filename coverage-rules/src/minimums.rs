//! Minimum coverage: rules for the total, packages and classes, and their violations.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use class_selection::nearest;
use coverage::model::{BundleCoverage, Counter, CounterKind, Counters};
use errors::{Error, codes};
use globs::Glob;
use jvms::names::binary;

/// Percent, in ten-thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Percent(u32);

/// 100 percent.
const ALL: Percent = Percent(100 * 10_000);

/// Subject of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Scope {
    /// The sum of all classes.
    Whole,
    /// Each package that matches.
    Packages(Glob, String),
    /// Each class that matches.
    Classes(Glob, String),
}

/// One rule: the minimum ratio of one counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Minimum {
    scope: Scope,
    counter: CounterKind,
    percent: Percent,
}

impl FromStr for Minimum {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (what, percent) = text
            .rsplit_once('=')
            .ok_or("expected `COUNTER=PERCENT`, such as `line=80`")?;
        let percent = percent.trim().parse()?;
        let what = what.trim();
        let scoped = what
            .split_once(':')
            .filter(|(scope, _)| matches!(*scope, "bundle" | "package" | "class"));
        let Some((scope, rest)) = scoped else {
            let counter = counter(what)?;
            return Ok(Self {
                scope: Scope::Whole,
                counter,
                percent,
            });
        };
        if scope == "bundle" {
            let counter = counter(rest)?;
            return Ok(Self {
                scope: Scope::Whole,
                counter,
                percent,
            });
        }
        let (glob, counter) = match rest.rsplit_once(':') {
            Some((glob, word)) => (glob, counter(word)?),
            None => (rest, CounterKind::Line),
        };
        let compiled = Glob::parse_class(glob).map_err(|problem| format!("`{glob}` {problem}"))?;
        let glob = glob.to_owned();
        let scope = match scope {
            "package" => Scope::Packages(compiled, glob),
            _ => Scope::Classes(compiled, glob),
        };
        Ok(Self {
            scope,
            counter,
            percent,
        })
    }
}

fn counter(word: &str) -> Result<CounterKind, String> {
    let found = CounterKind::ALL
        .into_iter()
        .find(|kind| kind.name().eq_ignore_ascii_case(word));
    found.ok_or_else(|| {
        format!("`{word}` is no counter: expected instruction, branch, line, complexity, method or class, or `package:GLOB` or `class:GLOB`")
    })
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no percentage: expected a number from 0 to 100, such as 80 or 99.5"
            )
        };
        let digits = text.strip_suffix('%').unwrap_or(text);
        let (whole, part) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(part) || whole.len() > 3 || part.len() > 4 {
            return Err(wrong());
        }
        let number = format!("{whole}{part:0<4}").parse().map_err(|_| wrong())?;
        Some(Self(number))
            .filter(|percent| *percent <= ALL)
            .ok_or_else(wrong)
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.0 / 10_000, self.0 % 10_000);
        match part {
            0 => write!(f, "{whole}%"),
            part => write!(f, "{whole}.{}%", format!("{part:04}").trim_end_matches('0')),
        }
    }
}

impl Percent {
    /// Returns the covered ratio of a counter, rounded down, or nothing for an empty counter.
    fn of(counter: Counter) -> Option<Self> {
        let covered = u64::from(counter.covered) * u64::from(ALL.0);
        let percent = covered.checked_div(u64::from(counter.total()))?;
        u32::try_from(percent).ok().map(Self)
    }

    /// Rounds down to two digits behind the point.
    fn short(self) -> Self {
        Self(self.0 / 100 * 100)
    }
}

/// A subject that is covered less than a rule requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortfall {
    what: String,
    kind: CounterKind,
    least: Percent,
    found: Percent,
    counter: Counter,
}

/// Returns the violations of the rules in these bundles, which are parts of `all` or the same.
///
/// # Errors
/// If a rule matches no package or class (`H0671`).
pub fn check(
    rules: &[Minimum],
    bundles: &[BundleCoverage],
    all: &[BundleCoverage],
) -> Result<Vec<Shortfall>, Error> {
    let mut short = Vec::new();
    for rule in rules {
        if rule.subjects(all).is_empty() {
            return Err(rule.about_nothing(all));
        }
        let falls_short = |(what, counters): (String, Counters)| {
            let counter = counters.of(rule.counter);
            let found = Percent::of(counter).filter(|found| *found < rule.percent)?;
            let (kind, least) = (rule.counter, rule.percent);
            Some(Shortfall {
                what,
                kind,
                least,
                found,
                counter,
            })
        };
        short.extend(rule.subjects(bundles).into_iter().filter_map(falls_short));
    }
    Ok(short)
}

/// Formats the table of violations; empty if no rule is violated.
#[must_use]
pub fn table(short: &[Shortfall]) -> String {
    let Some(longest) = short.iter().map(|it| it.what.chars().count()).max() else {
        return String::new();
    };
    let width = longest.max("falls short".len());
    let mut text = format!(
        "{:<width$}  counter      least    found  covered\n",
        "falls short"
    );
    for it in short {
        let counter = it.kind.name().to_lowercase();
        let (least, found) = (it.least.to_string(), it.found.short().to_string());
        let (covered, total) = (it.counter.covered, it.counter.total());
        let _ = writeln!(
            text,
            "{:<width$}  {counter:<11}{least:>7}{found:>9}  {covered} of {total}",
            it.what
        ); // writing to a string cannot fail
    }
    text
}

impl Minimum {
    /// Returns the counter of the rule.
    #[must_use]
    pub fn counter(&self) -> CounterKind {
        self.counter
    }

    /// Returns the subjects of the rule, with their counters.
    fn subjects(&self, bundles: &[BundleCoverage]) -> Vec<(String, Counters)> {
        match &self.scope {
            Scope::Whole => {
                let mut total = Counters::default();
                bundles.iter().for_each(|it| total += it.counters);
                vec![("total".to_owned(), total)]
            }
            Scope::Packages(glob, _) => {
                let packages = bundles.iter().flat_map(|it| &it.packages);
                let packages = packages.filter(|it| glob.matches(&it.name));
                packages.map(|it| (shown(&it.name), it.counters)).collect()
            }
            Scope::Classes(glob, _) => {
                let classes = bundles.iter().flat_map(BundleCoverage::classes);
                let classes = classes.filter(|it| glob.matches(&it.name));
                let measured = classes.filter(|it| it.contains_code());
                measured.map(|it| (shown(&it.name), it.counters)).collect()
            }
        }
    }

    fn about_nothing(&self, bundles: &[BundleCoverage]) -> Error {
        let (what, glob, names): (_, _, Vec<String>) = match &self.scope {
            Scope::Packages(_, glob) => (
                "package",
                glob.as_str(),
                bundles
                    .iter()
                    .flat_map(|it| &it.packages)
                    .map(|it| binary(&it.name))
                    .collect(),
            ),
            Scope::Classes(_, glob) => (
                "class",
                glob.as_str(),
                bundles
                    .iter()
                    .flat_map(BundleCoverage::classes)
                    .map(|it| binary(&it.name))
                    .collect(),
            ),
            Scope::Whole => ("class", "", Vec::new()),
        };
        let problem = Error::mistake(
            codes::H0671,
            format!("a rule of --fail-under matches no {what}"),
        )
        .with("found", format!("{what}:{glob}"));
        match nearest::within(glob, &names).or_else(|| nearest::nearest(glob, &names)) {
            Some(nearest) => problem.with("nearest", nearest),
            None => problem,
        }
    }
}

/// Formats a name for the table.
fn shown(internal: &str) -> String {
    match internal {
        "" => "(unnamed package)".to_owned(),
        internal => escape::line(&binary(internal)).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use coverage::model::{BundleBuilder, ClassCoverage, MethodCoverage};

    use super::*;

    /// A class with this many lines, one instruction each.
    fn class(id: u64, name: &str, missed: u32, covered: u32) -> ClassCoverage {
        let mut method = MethodCoverage::new("run", "()V", None);
        for line in 1..=missed + covered {
            let one = if line <= missed {
                Counter::MISSED
            } else {
                Counter::COVERED
            };
            method.increment(one, Counter::EMPTY, Some(line));
        }
        method.close();
        let mut class = ClassCoverage::new(id, name);
        class.add_method(method);
        class
    }

    fn bundle() -> BundleCoverage {
        let mut builder = BundleBuilder::default();
        builder.add(class(1, "com/acme/core/Sum", 1, 9)).unwrap();
        builder
            .add(class(2, "com/acme/core/Unused", 10, 0))
            .unwrap();
        builder
            .add(class(3, "com/acme/web/Page", 0, 10_000))
            .unwrap();
        builder.build("x")
    }

    fn short(rules: &[&str]) -> Vec<(String, String)> {
        let rules: Vec<Minimum> = rules.iter().map(|rule| rule.parse().unwrap()).collect();
        let found = check(&rules, &[bundle()], &[bundle()]).unwrap().into_iter();
        found
            .map(|it| (it.what, it.found.short().to_string()))
            .collect()
    }

    #[test]
    fn rules_cover_the_total_packages_and_classes() {
        assert_eq!(
            short(&["line=99", "instruction=99.8", "bundle:class=50"]),
            []
        );
        assert_eq!(short(&["line=100"]), [("total".into(), "99.89%".into())]);
        assert_eq!(
            short(&["class:com.acme.**=90"]),
            [("com.acme.core.Unused".to_owned(), "0%".to_owned())]
        );
        assert_eq!(
            short(&[
                "package:com.acme.core:instruction=50",
                "package:com.acme.*=10"
            ]),
            [("com.acme.core".to_owned(), "45%".to_owned())]
        );
        assert_eq!(short(&["branch=100"]), [], "nothing to cover is enough");
    }

    #[test]
    fn violations_are_displayed_below_the_minimum() {
        let rules = ["class:com.acme.core.Sum=90.0001".parse().unwrap()];
        let table = table(&check(&rules, &[bundle()], &[bundle()]).unwrap());
        assert!(
            table.contains("com.acme.core.Sum  line       90.0001%      90%  9 of 10"),
            "{table}"
        );
    }

    #[test]
    fn rules_without_a_match_and_mistakes_are_refused() {
        let rules = ["class:com.acme=90".parse().unwrap()];
        let error = check(&rules, &[bundle()], &[bundle()]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("nearest  com.acme.** (3 classes)"),
            "{error}"
        );
        for (text, told) in [
            ("line", "COUNTER=PERCENT"),
            ("lines=80", "is no counter"),
            ("line=101", "from 0 to 100"),
            ("line=-1", "from 0 to 100"),
            ("line=8e1", "from 0 to 100"),
            ("class:=80", "names nothing"),
            ("class:a.**:lines=80", "is no counter"),
        ] {
            let error = text.parse::<Minimum>().unwrap_err();
            assert!(error.contains(told), "{text}: {error}");
        }
        assert_eq!("99.50%".parse::<Percent>().unwrap().to_string(), "99.5%");
    }
}
