//! The decisions of a source file, for reports that name single branches.

use std::collections::BTreeMap;

use crate::model::{Branch, Counter, Outcome, PackageCoverage, SourceFileCoverage};

/// Maximum number of named branches that were never taken.
const MAX_NAMED: usize = 12;

/// The decisions of a source file by line, in the order of classes and methods.
pub(super) struct Decisions<'a>(BTreeMap<u32, Vec<&'a [Branch]>>);

impl<'a> Decisions<'a> {
    pub(super) fn of(package: &'a PackageCoverage, file: &SourceFileCoverage) -> Self {
        let mut decisions = BTreeMap::<u32, Vec<&[Branch]>>::new();
        let classes = package.classes.iter();
        let classes = classes.filter(|class| file.holds(class));
        for method in classes.flat_map(|class| &class.methods) {
            for (line, branches) in &method.decisions {
                decisions.entry(*line).or_default().push(branches);
            }
        }
        Self(decisions)
    }

    /// Returns the decisions of a line with these branches; `None` if they are unknown, as for inlined lines.
    pub(super) fn of_line(&self, number: u32, branches: Counter) -> Option<&[&'a [Branch]]> {
        let decisions = self.0.get(&number)?.as_slice();
        let all = || decisions.iter().copied().flatten();
        let counted = (branches.total() as usize, branches.covered as usize);
        let is_whole = (all().count(), all().filter(|branch| branch.taken).count()) == counted;
        is_whole.then_some(decisions)
    }

    /// Describes the branches of a line that were never taken: `true was never taken`.
    pub(super) fn never_taken(&self, number: u32, branches: Counter) -> Option<String> {
        let decisions = self.of_line(number, branches)?;
        let sentences = decisions.iter().zip(1..).filter_map(|(decision, place)| {
            let sentence = never_taken(decision)?;
            Some(match decisions.len() {
                1 => sentence,
                _ => format!("condition {place}: {sentence}"),
            })
        });
        let sentences: Vec<String> = sentences.collect();
        (!sentences.is_empty()).then(|| sentences.join("; "))
    }
}

/// Describes the branches of one decision that were never taken; `None` if all were taken.
fn never_taken(decision: &[Branch]) -> Option<String> {
    let missed = decision.iter().zip(1..).filter(|(branch, _)| !branch.taken);
    let (default, cases): (Vec<_>, Vec<_>) =
        missed.partition(|(branch, _)| branch.outcome == Outcome::Default);
    let missed = cases.into_iter().chain(default);
    let missed: Vec<String> = missed
        .map(|(branch, number)| name(&branch.outcome, number))
        .collect();
    let (count, names) = (
        missed.len(),
        missed.iter().take(MAX_NAMED).map(String::as_str),
    );
    let names = names.collect::<Vec<_>>().join(", ");
    match count {
        0 => None,
        _ if count == decision.len() => Some("never reached".to_owned()),
        1 => Some(format!("{names} was never taken")),
        2..=MAX_NAMED => Some(format!("{names} were never taken")),
        _ => Some(format!(
            "{names} and {} more were never taken",
            count - MAX_NAMED
        )),
    }
}

/// Names an outcome; an unknown one gets the branch number.
fn name(outcome: &Outcome, number: u32) -> String {
    match outcome {
        Outcome::True => "true".to_owned(),
        Outcome::False => "false".to_owned(),
        Outcome::Null => "null".to_owned(),
        Outcome::NotNull => "not null".to_owned(),
        Outcome::Default => "default".to_owned(),
        Outcome::Cases(names) => format!("case {names}"),
        Outcome::Line(line) => format!("the case at line {line}"),
        Outcome::Back(line) => format!("the way back to line {line}"),
        Outcome::On => "the way on".to_owned(),
        Outcome::Unknown => format!("branch {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(branches: &[(bool, Outcome)]) -> Vec<Branch> {
        let branch = |(taken, outcome): &(bool, Outcome)| Branch {
            taken: *taken,
            outcome: outcome.clone(),
        };
        branches.iter().map(branch).collect()
    }

    fn of_line(decisions: &[Vec<Branch>]) -> Option<String> {
        let mut branches = Counter::EMPTY;
        for branch in decisions.iter().flatten() {
            branches += match branch.taken {
                true => Counter::COVERED,
                false => Counter::MISSED,
            };
        }
        let all = decisions.iter().map(Vec::as_slice).collect();
        Decisions(BTreeMap::from([(7, all)])).never_taken(7, branches)
    }

    #[test]
    fn outcomes_that_never_occurred_are_named() {
        let condition = |holds, fails| decision(&[(holds, Outcome::True), (fails, Outcome::False)]);
        let case = |key: &str| Outcome::Cases(key.into());
        let switch = decision(&[
            (false, Outcome::Default),
            (true, case("1, 2")),
            (false, case("3")),
        ]);
        for (decisions, words) in [
            (vec![condition(true, true)], None),
            (vec![condition(false, true)], Some("true was never taken")),
            (vec![condition(true, false)], Some("false was never taken")),
            (vec![switch], Some("case 3, default were never taken")),
            (
                vec![
                    condition(true, true),
                    condition(false, true),
                    condition(false, false),
                ],
                Some("condition 2: true was never taken; condition 3: never reached"),
            ),
        ] {
            assert_eq!(of_line(&decisions).as_deref(), words);
        }
    }

    #[test]
    fn first_of_many_branches_are_named() {
        let mut cases = vec![(true, Outcome::Default)];
        cases.extend((1..=15).map(|key| (false, Outcome::Cases(key.to_string().into()))));
        let words = of_line(&[decision(&cases)]).unwrap();
        assert!(words.starts_with("case 1, case 2, "), "{words}");
        assert!(
            words.ends_with("case 12 and 3 more were never taken"),
            "{words}"
        );
    }

    #[test]
    fn branches_with_unknown_decisions_have_no_names() {
        let one = decision(&[(false, Outcome::True), (true, Outcome::False)]);
        let decisions = Decisions(BTreeMap::from([(7, vec![one.as_slice()])]));
        assert_eq!(decisions.never_taken(7, Counter::new(2, 2)), None);
        assert_eq!(decisions.never_taken(8, Counter::new(1, 1)), None);
    }
}
