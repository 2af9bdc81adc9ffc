//! Lines, methods and classes.

use std::collections::BTreeMap;

use jvms::names;

use super::counter::{Counter, Counters, Status};
use super::decision::{Branch, Decision};

/// The coverage of a source line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LineCoverage {
    /// Instructions of the line.
    pub instructions: Counter,
    /// Branches of decisions on the line.
    pub branches: Counter,
}

impl LineCoverage {
    /// Returns the status of the line's instructions and branches.
    #[must_use]
    pub fn status(&self) -> Status {
        self.instructions.status().and(self.branches.status())
    }
}

/// Line coverage, by line number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lines {
    /// Sorted by line number.
    lines: Vec<(u32, LineCoverage)>,
    /// Number of starts of each line, if it was counted.
    #[expect(
        clippy::box_collection,
        reason = "few reports count, and each method has lines"
    )]
    begun: Option<Box<BTreeMap<u32, u64>>>,
}

impl Lines {
    /// Adds to line `number`. Adjusts the counter of lines; a missed line may become covered.
    fn add(&mut self, number: u32, added: LineCoverage, counter: &mut Counter) {
        let line = self.entry(number);
        let before = line.instructions;
        line.instructions += added.instructions;
        line.branches += added.branches;
        match (before.status(), added.instructions.status()) {
            (_, Status::Empty) => {}
            (Status::Empty, Status::NotCovered) => counter.missed += 1,
            (Status::Empty, _) => counter.covered += 1,
            (Status::NotCovered, Status::FullyCovered | Status::PartlyCovered) => {
                counter.missed = counter.missed.saturating_sub(1);
                counter.covered += 1;
            }
            _ => {}
        }
    }

    /// Returns the line, usually the last one or a new one: compilers emit code in the order of lines.
    fn entry(&mut self, number: u32) -> &mut LineCoverage {
        let end = self.lines.len();
        let place = match self.lines.last() {
            Some(&(last, _)) if last == number => Ok(end - 1),
            Some(&(last, _)) if last > number => self.place(number),
            _ => Err(end),
        };
        let place = place.unwrap_or_else(|place| {
            self.lines.insert(place, (number, LineCoverage::default()));
            place
        });
        &mut self.lines[place].1
    }

    /// Returns the index of a line, or its insertion index.
    fn place(&self, number: u32) -> Result<usize, usize> {
        self.lines
            .binary_search_by_key(&number, |&(number, _)| number)
    }

    /// Counts a line in the range of lines once, whatever its instructions. It is covered if any instruction is, or
    /// if `covered`. Returns the count before and after.
    pub(super) fn count_once(
        &mut self,
        number: u32,
        covered: bool,
    ) -> Option<(LineCoverage, LineCoverage)> {
        if !(self.first()?..=self.last()?).contains(&number) {
            return None;
        }
        let line = self.entry(number);
        let before = *line;
        let instructions = match covered || before.instructions.covered > 0 {
            true => Counter::COVERED,
            false => Counter::MISSED,
        };
        *line = LineCoverage {
            instructions,
            branches: Counter::EMPTY,
        };
        Some((before, *line))
    }

    /// Adds to the number of starts of a line.
    pub fn count(&mut self, number: u32, times: u64) {
        let begun = self.begun.get_or_insert_default();
        let count = begun.entry(number).or_default();
        *count = count.saturating_add(times);
    }

    /// Returns the number of starts of a line, if lines were counted.
    #[must_use]
    pub fn begun(&self, number: u32) -> Option<u64> {
        let begun = self.begun.as_ref()?;
        Some(begun.get(&number).copied().unwrap_or(0))
    }

    /// Returns the known number of executions of a line: at least 1 if an instruction was executed, else 0.
    #[must_use]
    pub fn executions(&self, number: u32) -> u64 {
        match self
            .line(number)
            .is_some_and(|line| line.instructions.covered > 0)
        {
            true => self.begun(number).unwrap_or(1).max(1),
            false => 0,
        }
    }

    /// Adds all lines of `other`.
    pub(super) fn merge(&mut self, other: &Self, counter: &mut Counter) {
        self.lines.reserve(other.lines.len());
        for &(number, line) in &other.lines {
            self.add(number, line, counter);
        }
        for (&number, &times) in other.begun.iter().flat_map(|begun| begun.iter()) {
            self.count(number, times);
        }
    }

    /// Returns the coverage of line `number`, if it has instructions or branches.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&LineCoverage> {
        let (_, line) = &self.lines[self.place(number).ok()?];
        Some(line)
    }

    /// Returns the lowest line number.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.lines.first().map(|&(number, _)| number)
    }

    /// Returns the highest line number.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.lines.last().map(|&(number, _)| number)
    }

    /// Iterates over all non-empty lines, by number.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &LineCoverage)> {
        let lines = self.lines.iter().map(|(number, line)| (*number, line));
        lines.filter(|(_, line)| line.status() != Status::Empty)
    }

    /// Iterates over the lines without line 0, which compilers assign to code outside the source.
    pub fn of_source(&self) -> impl Iterator<Item = (u32, &LineCoverage)> {
        self.iter().filter(|(number, _)| *number > 0)
    }

    /// Returns the number of non-empty lines.
    #[must_use]
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Checks whether all lines are empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// A method: filled by [`increment`](Self::increment), completed by [`close`](Self::close).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MethodCoverage {
    /// Unqualified name, e.g. `<init>`.
    pub name: String,
    /// Method descriptor (JVMS 4.3.3).
    pub descriptor: String,
    /// The `Signature` attribute (JVMS 4.7.9).
    pub signature: Option<String>,
    /// All counters; classes stay empty.
    pub counters: Counters,
    /// Lines of the method.
    pub lines: Lines,
    /// Number of starts of its first line, if it was counted.
    entries: Option<u64>,
    /// The decisions with their lines, in code order.
    pub(crate) decisions: Vec<(u32, Decision)>,
}

impl MethodCoverage {
    /// Creates a method with empty counters.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        descriptor: impl Into<String>,
        signature: Option<String>,
    ) -> Self {
        Self {
            name: name.into(),
            descriptor: descriptor.into(),
            signature,
            ..Self::default()
        }
    }

    /// Adds an instruction, its branches (empty for less than two) and its line, if known.
    pub fn increment(&mut self, instructions: Counter, branches: Counter, line: Option<u32>) {
        let added = LineCoverage {
            instructions,
            branches,
        };
        self.add_run(line, added);
        self.add_decision(branches);
    }

    /// Adds the sums of several instructions of one line, without their decisions.
    pub(crate) fn add_run(&mut self, line: Option<u32>, added: LineCoverage) {
        if let Some(number) = line {
            self.lines.add(number, added, &mut self.counters.line);
        }
        self.counters.instruction += added.instructions;
        self.counters.branch += added.branches;
    }

    /// Adds the complexity of an instruction with these branches.
    pub(crate) fn add_decision(&mut self, branches: Counter) {
        if branches.total() > 1 {
            let covered = branches.covered.saturating_sub(1);
            let missed = branches.total().saturating_sub(covered).saturating_sub(1);
            self.counters.complexity += Counter::new(missed, covered);
        }
    }

    /// Adds the branches of an instruction as a decision.
    pub(crate) fn decide(&mut self, line: u32, branches: impl Iterator<Item = Branch>) {
        self.decisions.push((line, branches.collect()));
    }

    /// Counts the method itself, after all its instructions.
    pub fn close(&mut self) {
        let executed = self.counters.instruction.covered > 0;
        let method = if executed {
            Counter::COVERED
        } else {
            Counter::MISSED
        };
        self.counters.method += method;
        self.counters.complexity += method;
    }

    /// Returns the known number of executions of the method: at least 1 if an instruction was executed, else 0. If a
    /// method starts with a loop, each iteration counts.
    #[must_use]
    pub fn executions(&self) -> u64 {
        match self.counters.method.covered {
            0 => 0,
            _ => self.entries.unwrap_or(1).max(1),
        }
    }

    /// Checks whether the method has instructions to cover.
    #[must_use]
    pub fn contains_code(&self) -> bool {
        self.counters.instruction.total() > 0
    }

    /// Returns the lowest line number.
    #[must_use]
    pub fn first_line(&self) -> Option<u32> {
        self.lines.first()
    }

    /// Returns the first line in the source file; line 0 is none.
    #[must_use]
    pub fn first_source_line(&self) -> Option<u32> {
        self.lines.of_source().next().map(|(number, _)| number)
    }
}

/// Copies of lines of one class.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fragment {
    /// Internal name of the class that declares the lines.
    pub(crate) class: String,
    /// The lines; `true` if a copy was executed.
    pub(crate) lines: BTreeMap<u32, bool>,
    /// `true` for lines of advice, which only aspects have.
    pub(crate) is_advice: bool,
}

/// The methods whose results come from other versions of a class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CarriedOver {
    /// Number of methods whose code equals that of an executed version.
    pub same: u32,
    /// Number of methods with probes.
    pub methods: u32,
}

/// A class: the sum of its methods.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassCoverage {
    /// CRC-64 of the class file.
    pub id: u64,
    /// Internal name (JVMS 4.2.1).
    pub name: String,
    /// The `Signature` attribute (JVMS 4.7.9).
    pub signature: Option<String>,
    /// Internal name of the super class.
    pub super_name: Option<String>,
    /// Internal names of the direct super interfaces.
    pub interfaces: Vec<String>,
    /// The `SourceFile` attribute (JVMS 4.7.10).
    pub source_file: Option<String>,
    /// The number of its source file among several of this package and name, from 1; 0 if the name is unique.
    pub source_copy: u16,
    /// Methods with instructions, in class file order.
    pub methods: Vec<MethodCoverage>,
    /// All counters.
    pub counters: Counters,
    /// Lines of all methods.
    pub lines: Lines,
    /// `true` if execution data exists for a class of this name with another id.
    pub no_match: bool,
    /// The results carried over from classes of this name with other ids, if requested.
    pub carried_over: Option<CarriedOver>,
    /// Number of methods that the user excluded from the class.
    pub excluded: u32,
    /// Inlined lines of other classes, or of this one.
    pub(crate) fragments: Vec<Fragment>,
}

impl ClassCoverage {
    /// Creates a class without methods.
    #[must_use]
    pub fn new(id: u64, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            ..Self::default()
        }
    }

    /// Adds a closed method and updates the counters. A method without instructions is left out.
    pub fn add_method(&mut self, method: MethodCoverage) {
        if !method.contains_code() {
            return;
        }
        self.lines.merge(&method.lines, &mut self.counters.line);
        self.counters.add_but_lines(&method.counters);
        let executed = self.counters.method.covered > 0;
        self.counters.class = if executed {
            Counter::COVERED
        } else {
            Counter::MISSED
        };
        self.methods.push(method);
    }

    /// Removes methods and updates the counters; `false` if no method was removed.
    pub fn remove_methods(&mut self, is_removed: impl Fn(&MethodCoverage) -> bool) -> bool {
        if !self.methods.iter().any(&is_removed) {
            return false;
        }
        let methods = std::mem::take(&mut self.methods);
        (self.counters, self.lines) = Default::default();
        for method in methods {
            if !is_removed(&method) {
                self.add_method(method);
            }
        }
        true
    }

    /// Adds to the number of starts of a method's line.
    pub fn count(&mut self, method: &str, descriptor: &str, line: u32, times: u64) {
        if let Some(found) = self.method(method, descriptor) {
            found.lines.count(line, times);
            self.lines.count(line, times);
        }
    }

    /// Adds to the number of starts of a method's first line.
    pub fn count_entries(&mut self, method: &str, descriptor: &str, times: u64) {
        if let Some(found) = self.method(method, descriptor) {
            found.entries = Some(found.entries.unwrap_or(0).saturating_add(times));
        }
    }

    fn method(&mut self, name: &str, descriptor: &str) -> Option<&mut MethodCoverage> {
        let mut methods = self.methods.iter_mut();
        methods.find(|found| (&*found.name, &*found.descriptor) == (name, descriptor))
    }

    /// Checks whether the class has instructions to cover.
    #[must_use]
    pub fn contains_code(&self) -> bool {
        self.counters.instruction.total() > 0
    }

    /// Iterates over the internal names of classes whose inlined lines this class executed.
    pub fn inlined_from(&self) -> impl Iterator<Item = &str> {
        let executed = |fragment: &&Fragment| fragment.lines.values().any(|covered| *covered);
        let fragments = self.fragments.iter().filter(executed);
        fragments.map(|fragment| fragment.class.as_str())
    }

    /// Returns the internal name of the package, empty for the unnamed one.
    #[must_use]
    pub fn package(&self) -> &str {
        names::package(&self.name)
    }

    /// Returns the name without its package.
    #[must_use]
    pub fn simple_name(&self) -> &str {
        names::without_package(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn method(name: &str, instructions: &[(u32, u32, u32)]) -> MethodCoverage {
        let mut method = MethodCoverage::new(name, "()V", None);
        for &(line, missed, covered) in instructions {
            method.increment(Counter::new(missed, covered), Counter::EMPTY, Some(line));
        }
        method.close();
        method
    }

    #[test]
    fn line_becomes_covered_by_a_later_instruction() {
        let method = method("run", &[(5, 1, 0), (5, 0, 1), (5, 1, 0), (6, 1, 0)]);
        assert_eq!(method.counters.line, Counter::new(1, 1));
        assert_eq!(
            method.lines.line(5).map(LineCoverage::status),
            Some(Status::PartlyCovered)
        );
    }

    #[test]
    fn executions_are_the_counted_starts_of_covered_lines() {
        let mut class = ClassCoverage::new(1, "a/B");
        class.add_method(method("one", &[(5, 0, 1), (6, 1, 0)]));
        class.add_method(method("two", &[(5, 0, 1), (7, 0, 1)]));
        let executions =
            |class: &ClassCoverage| [5, 6, 7, 8].map(|line| class.lines.executions(line));
        assert_eq!(executions(&class), [1, 0, 1, 0]);
        assert_eq!(class.lines.begun(5), None);
        class.count("one", "()V", 5, 3);
        class.count("one", "()V", 6, 2);
        class.count("two", "()V", 5, 4);
        class.count("three", "()V", 7, 9);
        assert_eq!(executions(&class), [7, 0, 1, 0]);
        assert_eq!(class.lines.begun(5), Some(7));
        assert_eq!(class.methods[0].lines.executions(5), 3);
    }

    #[test]
    fn class_counts_as_if_removed_methods_had_never_existed() {
        let (mut all, mut one) = (ClassCoverage::new(1, "a/B"), ClassCoverage::new(1, "a/B"));
        all.add_method(method("one", &[(5, 1, 0), (6, 1, 0)]));
        all.add_method(method("two", &[(5, 0, 1)]));
        one.add_method(method("two", &[(5, 0, 1)]));
        assert!(!all.remove_methods(|method| method.name == "three"));
        assert!(all.remove_methods(|method| method.name == "one"));
        assert_eq!(all, one);
    }

    #[test]
    fn line_of_two_methods_counts_once() {
        let mut class = ClassCoverage::new(1, "a/B");
        class.add_method(method("one", &[(5, 1, 0)]));
        class.add_method(method("two", &[(5, 0, 1)]));
        assert_eq!(class.counters.line, Counter::new(0, 1));
        assert_eq!(class.counters.method, Counter::new(1, 1));
        assert_eq!(class.counters.class, Counter::COVERED);
    }

    #[test]
    fn complexity_counts_decisions_and_the_method() {
        let mut method = MethodCoverage::new("choose", "(I)V", None);
        method.increment(Counter::COVERED, Counter::new(1, 1), Some(1));
        method.increment(Counter::COVERED, Counter::new(3, 1), Some(2));
        method.increment(Counter::COVERED, Counter::new(0, 2), Some(3));
        method.close();
        assert_eq!(method.counters.complexity, Counter::new(4, 2));
    }

    #[test]
    fn method_without_instructions_is_left_out() {
        let mut class = ClassCoverage::new(1, "a/B");
        class.add_method(method("empty", &[]));
        assert!(class.methods.is_empty());
        assert_eq!(class.counters, Counters::default());
    }
}
