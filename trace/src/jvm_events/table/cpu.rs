//! The table of CPU time: methods of Java threads, and the threads without Java code.

use std::collections::HashMap;

use jvm_events::Recorded;
use jvm_events::recorded::Cpu;
use jvm_events::stacks::NATIVE;
use jvm_events::system_threads::Work;

use super::rows::{HeaviestStack, Row, Table, percent};
use crate::jvm_events::names::{NO_JAVA, method};
use crate::numbers::{counted, thousands};
use crate::table::duration;

/// Tabulates methods by the CPU time as innermost frame, and the threads without Java code. Shares are relative to
/// the CPU time of the process.
pub(super) fn table(recorded: &Recorded, interval_ms: u128) -> Table<'static> {
    let samples: u64 = recorded.cpu.iter().map(|row| row.samples).sum();
    let rows = of_java(recorded).into_iter().chain(of_system(recorded));
    Table {
        heading: format!(
            "CPU SAMPLES: {} in {} every {interval_ms} ms, {} of CPU time",
            counted(samples, "sample"),
            counted(recorded.turns, "look"),
            duration(process(recorded))
        ),
        titles: &["count", "cpu"],
        name: "method",
        rows: rows.collect(),
        nothing: "no data",
        samples: Some(samples),
        whole: Some(process(recorded) as f64),
    }
}

fn of_java(recorded: &Recorded) -> Vec<Row> {
    let mut methods: HashMap<String, (u64, u64, HeaviestStack)> = HashMap::new();
    for row in &recorded.cpu {
        let innermost = recorded.stacks.innermost(row.node);
        let name = match innermost {
            None => NO_JAVA.to_owned(),
            Some(frame) if frame.line == NATIVE => format!("{} (native)", method(frame)),
            Some(frame) => method(frame),
        };
        let (samples, nanos, hottest) = methods.entry(name).or_default();
        *samples += row.samples;
        *nanos += row.cpu_ns;
        hottest.see(row.node, row.cpu_ns);
    }
    let methods = methods.into_iter();
    let row = |(name, (samples, nanos, hottest)): (String, (u64, u64, HeaviestStack))| Row {
        weight: nanos as f64,
        then: 0.0,
        cells: vec![thousands(samples), duration(nanos)],
        node: hottest.node,
        name,
    };
    methods.map(row).collect()
}

fn of_system(recorded: &Recorded) -> Vec<Row> {
    let works = by_work(recorded).into_iter();
    let row = |(work, nanos): (Work, u64)| Row {
        weight: nanos as f64,
        then: 0.0,
        cells: vec!["-".to_owned(), duration(nanos)],
        node: None,
        name: work.title().to_owned(),
    };
    works.map(row).collect()
}

/// Returns the CPU time of the threads without Java code.
fn by_work(recorded: &Recorded) -> HashMap<Work, u64> {
    let mut works: HashMap<Work, u64> = HashMap::new();
    for row in &recorded.system {
        *works.entry(row.work).or_default() += row.cpu_ns;
    }
    works
}

/// Returns the CPU time of the process, at least that of all rows.
fn process(recorded: &Recorded) -> u64 {
    let java = recorded.cpu.iter().map(|row| row.cpu_ns);
    let system = recorded.system.iter().map(|row| row.cpu_ns);
    let rows: u64 = java.chain(system).sum();
    recorded.process_cpu_ns.map_or(rows, |all| all.max(rows))
}

/// Formats the shares of Java code, native methods and the JVM's own threads as a line.
pub(super) fn shares(recorded: &Recorded) -> String {
    let all = process(recorded);
    if all == 0 || recorded.process_cpu_ns.is_none() {
        return String::new();
    }
    let (mut code, mut native, mut unseen) = (0, 0, 0);
    for row in &recorded.cpu {
        *match recorded.stacks.innermost(row.node) {
            None => &mut unseen,
            Some(frame) if frame.line == NATIVE => &mut native,
            Some(_) => &mut code,
        } += row.cpu_ns;
    }
    let works = by_work(recorded);
    let of = |work| works.get(&work).copied().unwrap_or(0);
    let parts = [
        ("Java code", code),
        ("native methods", native),
        ("threads not seen in Java code", unseen),
        ("GC threads", of(Work::Gc)),
        ("JIT compiler threads", of(Work::Jit)),
        ("other threads of the JVM", of(Work::Vm)),
        ("Classhook", of(Work::Agent)),
        ("threads not known by name", of(Work::Other)),
    ];
    let parts = parts.iter().filter(|(_, nanos)| *nanos > 0);
    let parts = parts.map(|(name, nanos)| format!("{} {name}", percent(*nanos as f64, all as f64)));
    let parts: Vec<String> = parts.collect();
    format!("of the process: {}\n", parts.join(", "))
}

/// Describes the share of the CPU time that is distributed by estimate.
pub(super) fn shared(recorded: &Recorded) -> String {
    let sum = |of: fn(&Cpu) -> u64| -> u64 { recorded.cpu.iter().map(of).sum() };
    match (sum(|row| row.shared_ns), sum(|row| row.cpu_ns)) {
        (0, _) => String::new(),
        (shared, all) => format!(
            "{} ({}) was used by threads after they were last seen, and is shared among the stacks at which each was seen\n",
            duration(shared),
            percent(shared as f64, all as f64)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::recorded::System;
    use jvm_events::stacks::{Frame, Node, Stacks};

    #[test]
    fn shares_are_relative_to_the_process_and_native_time_is_separate() {
        let frame = |method: &str, line| Frame {
            class: "a/B".to_owned(),
            method: method.to_owned(),
            line,
            ..Frame::default()
        };
        let node = |frame| Node {
            caller: None,
            frame,
        };
        let cpu = |node, cpu_ns| Cpu {
            node,
            samples: 100,
            cpu_ns,
            ..Cpu::default()
        };
        let system = |work, cpu_ns| System {
            thread: 0,
            work,
            cpu_ns,
        };
        let recorded = Recorded {
            stacks: Stacks {
                frames: vec![frame("run", 7), frame("deflate", NATIVE)],
                nodes: vec![node(0), node(1)],
                cut: 0,
            },
            threads: vec!["t".to_owned()],
            cpu: vec![cpu(Some(0), 50_000), cpu(Some(1), 10_000)],
            system: vec![system(Work::Gc, 20_000), system(Work::Gc, 5_000)],
            process_cpu_ns: Some(100_000),
            ..Recorded::default()
        };
        let table = table(&recorded, 10);
        let rows = table.rows.iter();
        let mut rows: Vec<_> = rows.map(|row| (row.name.as_str(), row.weight)).collect();
        rows.sort_by(|one, other| other.1.total_cmp(&one.1));
        let expected = [
            ("a.B.run", 50_000.0),
            ("[GC threads]", 25_000.0),
            ("a.B.deflate (native)", 10_000.0),
        ];
        assert_eq!(rows, expected);
        assert_eq!(table.whole, Some(100_000.0));
        assert!(
            table.heading.ends_with("100.0 µs of CPU time"),
            "{}",
            table.heading
        );
        let shares = "of the process: 50.00% Java code, 10.00% native methods, 25.00% GC threads\n";
        assert_eq!(super::shares(&recorded), shares);
    }
}
