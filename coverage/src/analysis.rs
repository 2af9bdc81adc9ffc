//! Computes counters from probes: executed instructions by line and branch.
//!
//! The control flow of [`crate::flow`] is traversed once more. A hit probe covers the branch that it lies on, and
//! backwards every instruction with a single way to it. An instruction is covered if one of its branches is. It has a
//! branch counter if it has at least two branches.

mod graph;
mod implied;
mod inlined;
mod input;
mod outcomes;
mod ranges;

use std::borrow::Cow;

use graph::Graph;
pub use implied::{add_implied, implied_probes, may_be_long};
use inlined::Inlined;
use outcomes::Outcomes;
pub(crate) use ranges::{line_ranges, probe_ranges};

use crate::class::{ClassDescription, CodeDescription, MethodDescription};
use crate::filter::{self, Counting, FilterContext, Nodes};
use crate::flow::{InstructionKind, Labels, Subroutine};
use crate::model::{ClassCoverage, MethodCoverage};
use crate::source_map;

/// The reason why a class cannot be analysed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// The execution data belongs to another class file.
    #[error(
        "expected {expected} probes in class {class} (id {id:016x}), found {found} in the execution data. It was recorded with another version of the class or by another tool"
    )]
    ProbeCount {
        /// Internal name of the class.
        class: String,
        /// Its id.
        id: u64,
        /// Number of probes in its methods.
        expected: usize,
        /// Number of probes in the execution data.
        found: usize,
    },
}

/// Counts the instructions of `class` that `probes` marks as executed; without probes all are missed.
///
/// The result leaves out methods without code, methods that filters leave out completely, and methods with
/// subroutines (see [`unmeasured`]).
///
/// # Errors
/// [`AnalysisError::ProbeCount`] if the class has more or fewer probes.
pub fn analyze(
    class: &ClassDescription<'_>,
    probes: Option<&[bool]>,
) -> Result<ClassCoverage, AnalysisError> {
    analyze_with_lines(class, probes, &[])
}

/// Counts as [`analyze`], with data about started lines: a truth value for each line start, in code order, or an
/// empty slice.
///
/// Instructions that must have run before or on a started line count as executed, even if an exception ended the
/// line. These are the code that leads to it, and the line itself up to the first instruction that can throw or
/// branch.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_with_lines(
    class: &ClassDescription<'_>,
    probes: Option<&[bool]>,
    lines: &[bool],
) -> Result<ClassCoverage, AnalysisError> {
    count(Counting::Jacoco, class, probes, lines)
}

/// Counts as [`analyze_with_lines`], with the counters of JaCoCo or those of the source.
///
/// The agent leaves out probes of long methods that later probes imply; here they count as executed with those.
///
/// # Errors
/// As [`analyze`].
pub fn analyze_as(
    counting: Counting,
    class: &ClassDescription<'_>,
    probes: Option<&[bool]>,
    lines: &[bool],
) -> Result<ClassCoverage, AnalysisError> {
    let with_implied = probes.map(|probes| with_implied(class, probes));
    count(counting, class, with_implied.as_deref(), lines)
}

fn count(
    counting: Counting,
    class: &ClassDescription<'_>,
    probes: Option<&[bool]>,
    lines: &[bool],
) -> Result<ClassCoverage, AnalysisError> {
    let mut analyzer = Analyzer {
        counting,
        class,
        probes,
        next_probe: 0,
        lines,
        next_line: 0,
        labels: Labels::default(),
        inlined: Inlined::of(class),
    };
    let mut coverage = ClassCoverage::new(class.id, class.name);
    coverage.signature = class.signature.map(str::to_owned);
    coverage.super_name = class.super_name.map(str::to_owned);
    coverage.interfaces = class.interfaces.iter().map(|&name| name.into()).collect();
    coverage.source_file = class.source_file.map(str::to_owned);
    let mut fragments = Vec::new();
    for method in class.methods {
        let Some(Ok(analysed)) = method
            .code
            .as_ref()
            .map(|code| analyzer.method(method, code))
        else {
            continue;
        };
        let aspects = match counting {
            Counting::Jacoco => Vec::new(),
            Counting::Source => filter::advice_of(method),
        };
        if aspects.is_empty() {
            coverage.add_method(analysed);
        } else {
            fragments.extend(inlined::advice(&aspects, &analysed));
        }
    }
    coverage.fragments = analyzer.inlined.fragments();
    coverage.fragments.append(&mut fragments);
    let wrong = |expected, found| {
        Err(AnalysisError::ProbeCount {
            class: class.name.to_string(),
            id: class.id,
            expected,
            found,
        })
    };
    match probes {
        Some(probes) if probes.len() != analyzer.next_probe => {
            wrong(analyzer.next_probe, probes.len())
        }
        _ if !lines.is_empty() && lines.len() != analyzer.next_line => {
            wrong(analyzer.next_line, lines.len())
        }
        _ => Ok(coverage),
    }
}

fn with_implied<'p>(class: &ClassDescription<'_>, probes: &'p [bool]) -> Cow<'p, [bool]> {
    let mut probes = Cow::Borrowed(probes);
    if probes.contains(&true) && implied::may_lack_probes(class) {
        add_implied(class, probes.to_mut());
    }
    probes
}

/// Checks whether a compiler has copied lines of other classes into this one.
#[must_use]
pub fn has_inlined_lines(class: &ClassDescription<'_>) -> bool {
    let mut methods = class.methods.iter();
    !source_map::foreign(class).is_empty()
        || methods.any(|method| !filter::advice_of(method).is_empty())
}

/// Returns the number of probes in the methods of a class.
#[must_use]
pub fn probe_count(class: &ClassDescription<'_>) -> usize {
    probe_ranges(class).last().map_or(0, |range| range.end)
}

/// Finds the methods without probes because they contain subroutines (`jsr`, `ret`; JVMS 6.5), with the bci of the
/// first one.
pub fn unmeasured<'a>(
    class: &'a ClassDescription<'a>,
) -> impl Iterator<Item = (&'a MethodDescription<'a>, Subroutine)> {
    class.methods.iter().filter_map(|method| {
        let mut instructions = method.code.as_ref()?.instructions.iter();
        let first = instructions.find(|instruction| {
            InstructionKind::of(instruction.opcode) == InstructionKind::Subroutine
        })?;
        let subroutine = Subroutine {
            bci: first.bci,
            opcode: first.opcode,
        };
        Some((method, subroutine))
    })
}

/// Maximum code length of a method in bytes (JVMS 4.7.3).
const LONGEST: usize = 65_535;
/// Length of the shortest probe in bytes.
const SHORTEST: usize = 5;

/// Finds the methods that are too long even with the fewest and shortest probes, and their minimum length with these.
pub fn without_room<'a>(
    class: &'a ClassDescription<'a>,
) -> impl Iterator<Item = (&'a MethodDescription<'a>, usize)> {
    let length = |method: &MethodDescription<'_>, probes: usize| {
        let code = method.code.as_ref()?;
        let last = usize::from(code.instructions.last()?.bci);
        let length = last + 1 + probes * SHORTEST;
        (length > LONGEST).then_some(length)
    };
    // An instruction has at most one probe before and one after it.
    let most = |method: &MethodDescription<'_>| {
        let code = method.code.as_ref();
        code.map_or(0, |code| code.instructions.len() * 2)
    };
    let mut methods = class.methods.iter();
    let ranges = match methods.any(|method| length(method, most(method)).is_some()) {
        true => probe_ranges(class),
        false => Vec::new(),
    };
    let methods = class.methods.iter().zip(ranges);
    methods.filter_map(move |(method, probes)| {
        length(method, probes.len())?;
        let implied = implied::count(method.code.as_ref()?, &probes);
        Some((method, length(method, probes.len() - implied)?))
    })
}

struct Analyzer<'a> {
    counting: Counting,
    class: &'a ClassDescription<'a>,
    probes: Option<&'a [bool]>,
    next_probe: usize,
    /// `true` for each line that was started.
    lines: &'a [bool],
    next_line: usize,
    labels: Labels,
    inlined: Inlined<'a>,
}

impl Analyzer<'_> {
    fn method(
        &mut self,
        method: &MethodDescription<'_>,
        code: &CodeDescription<'_>,
    ) -> Result<MethodCoverage, Subroutine> {
        input::mark(&mut self.labels, code)?;
        let nodes = Nodes::new(code);
        let mut graph = Graph::new(code);
        self.next_probe = graph.walk(&nodes, &self.labels, self.probes, self.next_probe);
        if !self.lines.is_empty() {
            self.begin_lines(&mut graph);
        }
        let context = FilterContext {
            class: self.class,
            method,
            code,
            nodes: &nodes,
            labels: Some(&self.labels),
        };
        let output = filter::apply_all(self.counting, &context);
        graph.merge(&output);
        graph.replace_branches(&output);
        let mut coverage = MethodCoverage::new(
            method.name,
            method.descriptor,
            method.signature.map(str::to_owned),
        );
        let outcomes = Outcomes {
            method,
            code,
            is_kotlin: self.class.is_kotlin(),
        };
        let of_branches = |index| match output.replacement(index) {
            Some(by) => outcomes.of_replacement(index, by),
            None => outcomes.of(index),
        };
        graph.count(&output, of_branches, &mut coverage);
        if !self.inlined.is_empty() {
            graph
                .lines()
                .for_each(|(line, covered)| self.inlined.add(line, covered));
        }
        coverage.close();
        Ok(coverage)
    }

    fn begin_lines(&mut self, graph: &mut Graph<'_>) {
        for bci in self.labels.line_starts() {
            let begun = self.lines.get(self.next_line);
            self.next_line += 1;
            if begun.copied().unwrap_or_default() {
                graph.begin_line(bci, &self.labels);
            }
        }
    }
}

#[cfg(test)]
mod tests;
