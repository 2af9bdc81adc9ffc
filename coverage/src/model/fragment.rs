//! Lines that were inlined elsewhere. They count once, in the class that declares them, and are covered if any copy
//! was executed.

use std::collections::BTreeMap;

use crate::filter::has_advice;

use super::counter::{Counter, Counters, Status};
use super::node::{ClassCoverage, Fragment, LineCoverage, Lines};

/// Counts the lines of all fragments, including `others`, in the classes that declare them.
pub(super) fn apply_all(classes: &mut BTreeMap<String, ClassCoverage>, others: Vec<Fragment>) {
    let mut all = BTreeMap::<String, BTreeMap<u32, bool>>::new();
    let own = classes.values_mut();
    let own = own.flat_map(|class| std::mem::take(&mut class.fragments));
    for fragment in own.collect::<Vec<_>>().into_iter().chain(others) {
        if fragment.is_advice && !classes.get(&fragment.class).is_some_and(is_aspect) {
            continue;
        }
        let lines = all.entry(fragment.class).or_default();
        for (number, covered) in fragment.lines {
            *lines.entry(number).or_default() |= covered;
        }
    }
    for (name, lines) in all {
        if let Some(class) = classes.get_mut(&name) {
            apply(class, &lines);
        }
    }
}

fn is_aspect(class: &ClassCoverage) -> bool {
    has_advice(class.methods.iter().map(|method| method.name.as_str()))
}

fn apply(class: &mut ClassCoverage, lines: &BTreeMap<u32, bool>) {
    let mut methods = Counters::default();
    for method in &mut class.methods {
        let applied = apply_to_node(&mut method.lines, &mut method.counters, lines);
        if applied {
            method.counters.method = match method.counters.instruction.covered > 0 {
                true => Counter::COVERED,
                false => Counter::MISSED,
            };
            method.counters.complexity = method.counters.method;
        }
        methods += method.counters;
    }
    apply_to_node(&mut class.lines, &mut class.counters, lines);
    class.counters.complexity = methods.complexity;
    class.counters.method = methods.method;
    // This includes classes without code.
    class.counters.class = match methods.method.covered > 0 {
        true => Counter::COVERED,
        false => Counter::MISSED,
    };
}

/// Counts the lines in a node; returns `true` if one belongs to it.
fn apply_to_node(node: &mut Lines, counters: &mut Counters, lines: &BTreeMap<u32, bool>) -> bool {
    let mut applied = false;
    for (&number, &covered) in lines {
        if let Some((before, now)) = node.count_once(number, covered) {
            exchange(counters, before, now);
            applied = true;
        }
    }
    applied
}

/// Counts these instructions as one line.
fn once(instructions: Counter) -> Counter {
    match instructions.status() {
        Status::Empty => Counter::EMPTY,
        Status::NotCovered => Counter::MISSED,
        Status::PartlyCovered | Status::FullyCovered => Counter::COVERED,
    }
}

fn exchange(counters: &mut Counters, before: LineCoverage, now: LineCoverage) {
    counters.instruction = counters.instruction.without(before.instructions) + now.instructions;
    counters.branch = counters.branch.without(before.branches);
    counters.line = counters.line.without(once(before.instructions)) + now.instructions;
}
