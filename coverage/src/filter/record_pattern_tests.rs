//! The tests that javac generates for a record pattern (JLS 14.30.2), and for the cases of a `switch` on the same
//! record.
//!
//! A pattern matches or does not: two branches, or one case of a `switch`. javac tests each component of a narrower
//! type. It tests each primitive component with a constant. If a component does not match, the `switch` starts again
//! after the case. Cases on one record become one case, with an inner `switch` on the components.

use std::collections::{HashMap, HashSet};

use jvms::opcode;

use super::context::FilterContext;
use super::nodes::Nodes;
use super::output::{FilterOutput, Replacement};
use super::record_pattern_code::{Test, finds_pattern, is_number, local};
use super::{record_pattern, record_pattern_ecj};
use crate::class::Operand;
use crate::flow::Labels;

/// The class that checks whether a primitive value can be converted without loss.
const CONVERSIONS: &str = "java/lang/runtime/ExactConversionsSupport";

pub(super) fn apply(context: &FilterContext<'_>, output: &mut FilterOutput) {
    let Some(labels) = context.labels else {
        return;
    };
    let nodes = context.nodes;
    let restarts = ignore_restarts(nodes, output);
    for handler in context.code.handlers {
        if let Some((first, last)) = record_pattern_ecj::handler(context, handler) {
            output.ignore(nodes, first, last);
        }
    }
    let tests = components(context);
    if tests.is_empty() {
        return;
    }
    let patterns = Patterns {
        nodes,
        labels,
        restarts,
        tests,
    };
    for &at in nodes.switches() {
        if patterns.is_of_source(at) && finds_pattern(nodes, nodes.previous_instruction(at)) {
            patterns.of_switch(at, output);
        }
    }
    let jumps = (0..nodes.len()).filter(|at| type_test(nodes, *at));
    for at in jumps.filter(|at| patterns.is_of_source(*at)) {
        patterns.of_instanceof(at, output);
    }
}

/// A branch: the index of the instruction, and the branch number.
type Edge = (usize, u32);

struct Patterns<'a> {
    nodes: &'a Nodes<'a>,
    labels: &'a Labels,
    /// First instructions of the code that restarts a `switch` after a case.
    restarts: HashSet<usize>,
    /// The tests of components, by the node of the accessor call.
    tests: HashMap<usize, Test>,
}

/// The paths through one pattern.
#[derive(Default)]
struct PatternPaths {
    /// The last branches before the guarded code.
    matched: Vec<Edge>,
    /// The branches of components that do not match.
    failed: Vec<Edge>,
    /// The tests on these paths.
    tests: Vec<Test>,
}

impl Patterns<'_> {
    /// Checks whether a jump or `switch` is not the test of a component.
    fn is_of_source(&self, at: usize) -> bool {
        self.tests.values().all(|test| test.to != at)
    }

    /// Replaces the branches of a `switch` by those of the source's cases.
    fn of_switch(&self, at: usize, output: &mut FilterOutput) {
        let Some(index) = self.nodes.instruction_index(at) else {
            return;
        };
        let mut all = PatternPaths::default();
        for (branch, target) in self.branches(at) {
            let first = self.nodes.skip_to_instruction(target);
            let first = first.and_then(|first| self.nodes.instruction_index(first));
            if !first.is_some_and(|first| output.is_ignored(first)) {
                self.walk(target, (index, branch), &mut all);
            }
        }
        if all.tests.is_empty() {
            return;
        }
        let mut cases = Replacement::default();
        for (case, (instruction, branch)) in all.matched.iter().enumerate() {
            cases.add(case, *instruction, *branch);
        }
        output.replace(index, cases);
        self.ignore(&all.tests, output);
    }

    /// Replaces the branches of an `instanceof` test by two, independent of the components.
    fn of_instanceof(&self, at: usize, output: &mut FilterOutput) {
        let Some((index, matches)) = self
            .nodes
            .instruction_index(at)
            .zip(matching(self.nodes, at))
        else {
            return;
        };
        let Some(first) = self.following(at, matches) else {
            return;
        };
        let mut paths = PatternPaths::default();
        self.walk(first, (index, matches), &mut paths);
        if paths.tests.is_empty() {
            return;
        }
        paths.failed.push((index, 1 - matches));
        let mut outcomes = Replacement::default();
        for branch in 0..2 {
            let edges = if branch == matches {
                &paths.matched
            } else {
                &paths.failed
            };
            for (instruction, number) in edges {
                outcomes.add(branch as usize, *instruction, *number);
            }
        }
        output.replace(index, outcomes);
        self.ignore(&paths.tests, output);
    }

    fn ignore(&self, tests: &[Test], output: &mut FilterOutput) {
        for test in tests {
            output.ignore(self.nodes, test.from, test.end);
        }
    }

    /// Follows a pattern from the node that `edge` leads to.
    fn walk(&self, from: usize, edge: Edge, paths: &mut PatternPaths) {
        let (mut next, mut edge) = (self.nodes.skip_to_instruction(from), edge);
        while let Some(at) = next {
            let test = self.tests.get(&at);
            if test.is_some_and(|test| paths.tests.iter().any(|known| known.to == test.to)) {
                break; // no compiler emits a jump back to it
            }
            next = match test {
                Some(test) if self.nodes.switch_labels(test.to).is_some() => {
                    return self.walk_switch(*test, paths);
                }
                Some(test) => {
                    let Some((index, matches)) = self
                        .nodes
                        .instruction_index(test.to)
                        .zip(matching(self.nodes, test.to))
                    else {
                        break;
                    };
                    paths.tests.push(*test);
                    paths.failed.push((index, 1 - matches));
                    edge = (index, matches);
                    self.following(test.to, matches)
                }
                None if is_end(self.nodes.instruction(at).map(|at| &at.operand))
                    || self.nodes.opcode(at).is_some_and(leaves) =>
                {
                    break;
                }
                None => self.nodes.next_instruction(at),
            };
        }
        paths.matched.push(edge);
    }

    /// Follows the cases on one record.
    fn walk_switch(&self, test: Test, paths: &mut PatternPaths) {
        let Some(index) = self.nodes.instruction_index(test.to) else {
            return;
        };
        paths.tests.push(test);
        for (branch, target) in self.branches(test.to) {
            let first = self.nodes.skip_to_instruction(target);
            match first.is_some_and(|first| self.restarts.contains(&first)) {
                true => paths.failed.push((index, branch)),
                false => self.walk(target, (index, branch), paths),
            }
        }
    }

    /// Returns the target instruction of this branch of a jump.
    fn following(&self, at: usize, branch: u32) -> Option<usize> {
        match branch {
            0 => self.nodes.next_instruction(at),
            _ => self.nodes.skip_to_instruction(self.nodes.jump_label(at)?),
        }
    }

    /// Returns the branches of a `switch` and their target nodes.
    fn branches(&self, at: usize) -> Vec<(u32, usize)> {
        let Some(Operand::Switch { default, cases }) =
            self.nodes.instruction(at).map(|at| &at.operand)
        else {
            return Vec::new();
        };
        let targets = std::iter::once(*default).chain(cases.iter().map(|(_, target)| *target));
        let branches = self.labels.switch_branches(targets).into_iter();
        branches
            .filter_map(|(branch, target)| Some((branch, self.nodes.label(target)?)))
            .collect()
    }
}

/// Checks whether an instruction ends the code of a pattern.
fn is_end(operand: Option<&Operand<'_>>) -> bool {
    matches!(
        operand,
        Some(Operand::Target(_) | Operand::Switch { .. }) | None
    )
}

/// Checks whether an instruction leaves the method.
fn leaves(opcode: u8) -> bool {
    matches!(opcode, opcode::IRETURN..=opcode::RETURN | opcode::ATHROW)
}

/// Returns the branch of a jump that is taken if the preceding value is true.
fn matching(nodes: &Nodes<'_>, jump: usize) -> Option<u32> {
    match nodes.opcode(jump)? {
        opcode::IFEQ => Some(0),
        opcode::IFNE => Some(1),
        _ => None,
    }
}

/// Checks whether a jump follows an `instanceof`.
fn type_test(nodes: &Nodes<'_>, at: usize) -> bool {
    let before = || nodes.opcode(nodes.previous_instruction(at)?);
    matching(nodes, at).is_some() && before() == Some(opcode::INSTANCEOF)
}

/// Finds the tests of the components of all record patterns.
fn components(context: &FilterContext<'_>) -> HashMap<usize, Test> {
    let nodes = context.nodes;
    let handlers = context.code.handlers.iter();
    let tests = handlers.filter_map(|handler| {
        let call = nodes.skip_to_instruction(nodes.label(handler.start)?)?;
        let test = if record_pattern::is_handler(context, handler) {
            test_of(nodes, call)?
        } else {
            record_pattern_ecj::handler(context, handler)?;
            record_pattern_ecj::test_of(nodes, call)?
        };
        Some((call, test))
    });
    tests.collect()
}

/// Finds the test of the component that an accessor returns.
fn test_of(nodes: &Nodes<'_>, call: usize) -> Option<Test> {
    let mut store = nodes.next_instruction(call)?;
    if nodes.opcode(store)? == opcode::CHECKCAST {
        store = nodes.next_instruction(store)?;
    }
    let component = local(nodes, store, opcode::ISTORE..=opcode::ASTORE)?;
    let next = nodes.next_instruction(store)?;
    if nodes.opcode(next)? == opcode::ICONST_0 {
        return switch_of(nodes, next, component);
    }
    let is_loaded = local(nodes, next, opcode::ILOAD..=opcode::ALOAD)? == component;
    let mut from = next;
    let mut condition = nodes.next_instruction(next)?;
    match nodes.opcode(condition)? {
        opcode::INSTANCEOF => {}
        opcode::INVOKESTATIC if nodes.member(condition)?.owner == CONVERSIONS => {}
        opcode::ISTORE..=opcode::ASTORE => {
            condition = nodes.next_instruction(condition)?;
            from = condition;
            if nodes.opcode(condition)? != opcode::ICONST_1 {
                return None;
            }
        }
        _ => return None,
    }
    let to = nodes.next_instruction(condition)?;
    matching(nodes, to)?;
    is_loaded.then_some(Test { from, to, end: to })
}

/// Finds a `switch` over the types of a component, which starts with its index.
fn switch_of(nodes: &Nodes<'_>, zero: usize, component: u16) -> Option<Test> {
    let store = nodes.next_instruction(zero)?;
    local(nodes, store, opcode::ISTORE..=opcode::ISTORE)?;
    let load = nodes.next_instruction(store)?;
    let is_loaded = local(nodes, load, opcode::ILOAD..=opcode::ALOAD)? == component;
    let to = nodes.next_instruction(found_behind(nodes, load)?)?;
    nodes.switch_labels(to)?;
    is_loaded.then_some(Test {
        from: zero,
        to,
        end: to,
    })
}

/// Returns the call in the code that finds the case of a pattern; the code starts with the value.
fn found_behind(nodes: &Nodes<'_>, value: usize) -> Option<usize> {
    local(nodes, value, opcode::ILOAD..=opcode::ALOAD)?;
    let mut index = nodes.next_instruction(value)?;
    if nodes.opcode(index)? == opcode::INVOKESTATIC && nodes.member(index)?.name == "valueOf" {
        index = nodes.next_instruction(index)?;
    }
    local(nodes, index, opcode::ILOAD..=opcode::ILOAD)?;
    let call = nodes.next_instruction(index)?;
    finds_pattern(nodes, Some(call)).then_some(call)
}

/// Leaves out the code that restarts a `switch` over patterns after a case, because a component or the guard does not
/// match. Returns its first instructions.
fn ignore_restarts(nodes: &Nodes<'_>, output: &mut FilterOutput) -> HashSet<usize> {
    let mut restarts = HashSet::new();
    if !nodes.has(opcode::INVOKEDYNAMIC) {
        return restarts;
    }
    let gotos = (0..nodes.len()).filter(|at| nodes.opcode(*at) == Some(opcode::GOTO));
    for goto in gotos {
        let first = restart(nodes, goto).or_else(|| record_pattern_ecj::restart(nodes, goto));
        if let Some(first) = first {
            output.ignore(nodes, first, goto);
            restarts.insert(first);
        }
    }
    restarts
}

/// Finds the instruction that sets the index before a jump to the code that finds the case.
fn restart(nodes: &Nodes<'_>, goto: usize) -> Option<usize> {
    let value = nodes.skip_to_instruction(nodes.jump_label(goto)?)?;
    found_behind(nodes, value)?;
    let store = nodes.previous_instruction(goto)?;
    local(nodes, store, opcode::ISTORE..=opcode::ISTORE)?;
    let number = nodes.previous_instruction(store)?;
    is_number(nodes, number).then_some(number)
}
