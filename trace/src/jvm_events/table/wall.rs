//! The wall-clock table: methods with the state of their threads.

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::stacks::NATIVE;
use jvm_events::thread_state::ThreadState;

use super::rows::{HeaviestStack, Row, Table, percent};
use crate::jvm_events::names::{NO_JAVA, method};
use crate::numbers::{counted, thousands};
use crate::table::duration;

/// Tabulates the methods of running or waiting threads, by the time of these threads.
pub(super) fn table(recorded: &Recorded, interval_ms: u128) -> Table<'static> {
    let mut methods: HashMap<(String, ThreadState), (u64, u64, HeaviestStack)> = HashMap::new();
    for row in &recorded.wall {
        let name = match recorded.stacks.innermost(row.node) {
            None => NO_JAVA.to_owned(),
            Some(frame) if frame.line == NATIVE => format!("{} (native)", method(frame)),
            Some(frame) => method(frame),
        };
        let (samples, nanos, hottest) = methods.entry((name, row.state)).or_default();
        *samples += row.samples;
        *nanos += row.nanos;
        hottest.see(row.node, row.nanos);
    }
    let methods = methods.into_iter();
    let rows = methods.map(|((name, state), (samples, nanos, hottest))| Row {
        weight: nanos as f64,
        then: samples as f64,
        cells: vec![
            thousands(samples),
            duration(nanos),
            state.title().to_owned(),
        ],
        node: hottest.node,
        name,
    });
    let samples: u64 = recorded.wall.iter().map(|row| row.samples).sum();
    let looks = &recorded.wall_looks;
    Table {
        heading: format!(
            "WALL CLOCK: {} in {} every {interval_ms} ms at up to {}, {} of all threads together",
            counted(samples, "sample"),
            counted(looks.count, "look"),
            counted(looks.threads, "thread"),
            duration(recorded.wall.iter().map(|row| row.nanos).sum())
        ),
        titles: &["count", "time", "state"],
        name: "method",
        rows: rows.collect(),
        nothing: "no data",
        samples: Some(samples),
        whole: None,
    }
}

/// Formats the shares of states as a line.
pub(super) fn states(recorded: &Recorded) -> String {
    let mut sums: HashMap<ThreadState, u64> = HashMap::new();
    for row in &recorded.wall {
        *sums.entry(row.state).or_default() += row.nanos;
    }
    let all: u64 = sums.values().sum();
    if all == 0 {
        return String::new();
    }
    let parts = ThreadState::ALL.iter().filter_map(|state| {
        let nanos = sums.get(state).filter(|nanos| **nanos > 0)?;
        let part = percent(*nanos as f64, all as f64);
        Some(format!("{part} {}", state.title()))
    });
    let parts: Vec<String> = parts.collect();
    format!("of the threads' time: {}\n", parts.join(", "))
}

/// Returns notes about threads that the samples do not show.
pub(super) fn notes(recorded: &Recorded) -> String {
    let looks = &recorded.wall_looks;
    let mut text = String::new();
    if looks.taken < looks.threads {
        text.push_str(&format!(
            "each look took {} at most, in turn; these stand for the time of all\n",
            counted(looks.taken, "thread")
        ));
    }
    if looks.carriers {
        text.push_str(
            "virtual threads are seen while carriers run them; those that wait have no thread, and are not in this table\n",
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::recorded::{Wall, WallLooks};
    use jvm_events::stacks::{Frame, Node, Stacks};

    #[test]
    fn method_has_a_row_for_each_state_of_its_threads() {
        let frame = Frame {
            class: "a/B".to_owned(),
            method: "run".to_owned(),
            line: 7,
            ..Frame::default()
        };
        let wall = |node, state, nanos| Wall {
            node,
            state,
            samples: 2,
            nanos,
            ..Wall::default()
        };
        let recorded = Recorded {
            stacks: Stacks {
                frames: vec![frame],
                nodes: vec![Node {
                    caller: None,
                    frame: 0,
                }],
                cut: 0,
            },
            threads: vec!["t".to_owned()],
            wall: vec![
                wall(Some(0), ThreadState::Parked, 600),
                wall(Some(0), ThreadState::Running, 300),
                wall(None, ThreadState::Native, 100),
                wall(Some(0), ThreadState::Running, 1_000),
            ],
            wall_looks: WallLooks {
                count: 4,
                threads: 5_000,
                taken: 16,
                carriers: true,
            },
            ..Recorded::default()
        };
        let table = table(&recorded, 10);
        let heading = "WALL CLOCK: 8 samples in 4 looks every 10 ms at up to 5,000 threads, 2.000 µs of all threads together";
        assert_eq!(table.heading, heading);
        let rows = table.rows.iter();
        let mut rows: Vec<_> = rows
            .map(|row| (row.weight as u64, row.cells[2].as_str(), row.name.as_str()))
            .collect();
        rows.sort_unstable();
        let expected = [
            (100, "in native code or I/O", NO_JAVA),
            (600, "parked", "a.B.run"),
            (1_300, "running", "a.B.run"),
        ];
        assert_eq!(rows, expected);
        let parts =
            "of the threads' time: 65.00% running, 5.00% in native code or I/O, 30.00% parked\n";
        assert_eq!(states(&recorded), parts);
        assert_eq!(notes(&recorded).lines().count(), 2);
        assert_eq!(notes(&Recorded::default()), "");
        assert_eq!(states(&Recorded::default()), "");
    }
}
