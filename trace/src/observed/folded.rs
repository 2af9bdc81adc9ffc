//! Folded stacks: `caller;callee number`, the format of `flamegraph.pl` and its kin.

use std::collections::HashMap;

use observations::Recorded;

use super::names::{NO_JAVA, method};

/// What the widths of a flame graph stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// CPU time in nanoseconds.
    Cpu,
    /// Bytes allocated.
    Allocations,
    /// Nanoseconds in front of monitors.
    Contended,
    /// Things thrown.
    Exceptions,
}

impl Weight {
    /// Those of which something may have been recorded, the first first.
    #[must_use]
    pub fn of(recorded: &Recorded) -> Option<Self> {
        let subscription = &recorded.subscription;
        let kinds = [
            (subscription.cpu.is_some(), Self::Cpu),
            (subscription.allocations.is_some(), Self::Allocations),
            (subscription.monitors, Self::Contended),
            (subscription.exceptions, Self::Exceptions),
        ];
        let kind = kinds.into_iter().find(|(is_on, _)| *is_on);
        kind.map(|(_, weight)| weight)
    }

    /// What is counted.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Contended => "ns",
            Self::Allocations => "bytes",
            Self::Exceptions => "exceptions",
        }
    }

    /// A title for it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU time, all threads together",
            Self::Allocations => "Bytes allocated, estimated from samples",
            Self::Contended => "Time in front of monitors, all threads together",
            Self::Exceptions => "Exceptions thrown",
        }
    }

    /// The stacks with what they weigh.
    fn rows(self, recorded: &Recorded) -> Vec<(Option<u32>, u64)> {
        match self {
            Self::Cpu => recorded
                .cpu
                .iter()
                .map(|row| (row.node, row.cpu_ns))
                .collect(),
            Self::Allocations => {
                let rows = recorded.allocations.iter();
                rows.map(|row| (row.node, row.bytes.round() as u64))
                    .collect()
            }
            Self::Contended => {
                let rows = recorded.contended.iter();
                rows.map(|row| (row.node, row.total_ns)).collect()
            }
            Self::Exceptions => {
                let rows = recorded.exceptions.iter();
                rows.map(|row| (row.node, row.count)).collect()
            }
        }
    }
}

/// One line for each stack of each JVM, in the order of the text.
#[must_use]
pub fn lines(all: &[Recorded], weight: Weight) -> Vec<String> {
    let mut sums: HashMap<String, u64> = HashMap::new();
    for recorded in all {
        for (node, number) in weight.rows(recorded) {
            *sums.entry(path(recorded, node)).or_default() += number;
        }
    }
    let mut lines: Vec<String> = (sums.into_iter())
        .filter(|(_, number)| *number > 0)
        .map(|(path, number)| format!("{path} {number}"))
        .collect();
    lines.sort_unstable();
    lines
}

fn path(recorded: &Recorded, node: Option<u32>) -> String {
    let mut names: Vec<String> = (recorded.stacks.path(node))
        .map(|frame| method(frame).replace(';', ","))
        .collect();
    if names.is_empty() {
        return NO_JAVA.to_owned();
    }
    names.reverse();
    names.join(";")
}
