//! Folded stacks: `caller;callee number`, the format of `flamegraph.pl` and compatible tools.

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::thread_state::ThreadState;

use super::names::{NO_JAVA, method};
use crate::stacks::{Side, Stacks};

/// The quantity that the widths of a flame graph represent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// CPU time in nanoseconds.
    Cpu,
    /// Wall-clock time in nanoseconds; the outermost frame is the state.
    Wall,
    /// Bytes allocated.
    Allocations,
    /// Nanoseconds of waiting to enter monitors.
    Contended,
    /// Number of exceptions.
    Exceptions,
    /// JNI global references that were not deleted.
    References,
}

impl Weight {
    /// Returns the first quantity that the subscription includes.
    #[must_use]
    pub fn of(recorded: &Recorded) -> Option<Self> {
        let subscription = &recorded.subscription;
        let kinds = [
            (subscription.cpu.is_some(), Self::Cpu),
            (subscription.wall.is_some(), Self::Wall),
            (subscription.allocations.is_some(), Self::Allocations),
            (subscription.monitors, Self::Contended),
            (subscription.exceptions, Self::Exceptions),
            (subscription.references, Self::References),
        ];
        let kind = kinds.into_iter().find(|(is_on, _)| *is_on);
        kind.map(|(_, weight)| weight)
    }

    /// Returns the unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        match self {
            Self::Cpu | Self::Wall | Self::Contended => "ns",
            Self::Allocations => "bytes",
            Self::Exceptions => "exceptions",
            Self::References => "references",
        }
    }

    /// Returns the title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Cpu => "CPU time, all threads together",
            Self::Wall => "Wall-clock time, all threads together",
            Self::Allocations => "Bytes allocated, estimated from samples",
            Self::Contended => "Time in front of monitors, all threads together",
            Self::Exceptions => "Exceptions thrown",
            Self::References => "Global references of JNI that were not deleted",
        }
    }

    /// Returns the stacks with their weights.
    fn rows(self, recorded: &Recorded) -> Vec<(Option<u32>, u64)> {
        match self {
            Self::Cpu => recorded
                .cpu
                .iter()
                .map(|row| (row.node, row.cpu_ns))
                .collect(),
            Self::Wall => recorded
                .wall
                .iter()
                .map(|row| (row.node, row.nanos))
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
            Self::References => {
                let rows = recorded.references.iter().filter(|row| row.open > 0);
                rows.map(|row| (row.node, row.open)).collect()
            }
        }
    }
}

/// Adds the stacks of a JVM with their weights.
pub fn add(stacks: &mut Stacks, recorded: &Recorded, weight: Weight, side: Side) {
    if weight != Weight::Wall {
        add_below(stacks, recorded, None, weight.rows(recorded), side);
    }
    for state in ThreadState::ALL {
        let rows = recorded.wall.iter().filter(|row| row.state == state);
        let rows: Vec<_> = rows.map(|row| (row.node, row.nanos)).collect();
        if weight == Weight::Wall && !rows.is_empty() {
            let name = stacks.name(&format!("[{}]", state.title()));
            let root = stacks.below(None, name, 1);
            add_below(stacks, recorded, Some(root), rows, side);
        }
    }
    let system = recorded.system.iter().filter(|_| weight == Weight::Cpu);
    for row in system {
        let name = stacks.name(row.work.title());
        let place = stacks.below(None, name, 1);
        stacks.add(place, side, row.cpu_ns);
    }
}

/// Adds stacks below an optional outermost frame.
fn add_below(
    stacks: &mut Stacks,
    recorded: &Recorded,
    root: Option<u32>,
    rows: Vec<(Option<u32>, u64)>,
    side: Side,
) {
    let root_depth = usize::from(root.is_some());
    let mut is_on_path = vec![false; recorded.stacks.nodes.len()];
    for (node, _) in &rows {
        for node in recorded.stacks.nodes_of(*node) {
            // The callers of a node on a path are on it, too.
            if std::mem::replace(&mut is_on_path[node as usize], true) {
                break;
            }
        }
    }
    // For each node of the recording: its node in the tree, and its depth.
    let mut places: Vec<Option<(u32, usize)>> = vec![None; recorded.stacks.nodes.len()];
    let mut names: HashMap<u32, u32> = HashMap::new();
    for (number, node) in recorded.stacks.nodes.iter().enumerate() {
        let Some(frame) = recorded.stacks.frames.get(node.frame as usize) else {
            continue;
        };
        if !is_on_path[number] {
            continue;
        }
        let name = *names
            .entry(node.frame)
            .or_insert_with(|| stacks.name(&method(frame).replace(';', ",")));
        let caller = node.caller.filter(|caller| (*caller as usize) < number);
        let caller = caller.and_then(|caller| places[caller as usize]);
        let depth = caller.map_or(root_depth, |(_, depth)| depth) + 1;
        let caller = caller.map(|(place, _)| place).or(root);
        places[number] = Some((stacks.below(caller, name, depth), depth));
    }
    for (node, number) in rows {
        let place = node.and_then(|node| *places.get(node as usize)?);
        let place = match place {
            Some((place, _)) => place,
            None => {
                let name = stacks.name(NO_JAVA);
                stacks.below(root, name, root_depth + 1)
            }
        };
        stacks.add(place, side, number);
    }
}
