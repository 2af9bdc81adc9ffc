//! The table of parked threads: owners of the locks, and waiting times.

use std::collections::HashMap;
use std::fmt::Write;

use jvm_events::Recorded;

use super::rows::{Row, Table, named};
use crate::names::printable;
use crate::numbers::{counted, thousands};
use crate::table::duration;

/// Class, stack and owner of a row.
type Site = (u32, Option<u32>, Option<u32>);

/// Tabulates locks of `java.util.concurrent`, and other reasons for parking, by waiting time.
pub(super) fn table(recorded: &Recorded) -> Table<'static> {
    let mut sites: HashMap<Site, [u64; 4]> = HashMap::new();
    for row in &recorded.locks {
        let wait = &row.wait;
        let site = (wait.class, wait.node, row.holder);
        let [count, unfinished, total, longest] = sites.entry(site).or_default();
        *count += wait.count;
        *unfinished += wait.unfinished;
        *total += wait.total_ns;
        *longest = wait.longest_ns.max(*longest);
    }
    let [mut times, mut unfinished, mut nanos] = [0; 3];
    for [count, its_unfinished, total, _] in sites.values() {
        times += count;
        unfinished += its_unfinished;
        nanos += total;
    }
    let rows = sites.into_iter();
    let rows =
        rows.map(|((class, node, holder), numbers)| row(recorded, (class, node, holder), numbers));
    let mut heading = format!(
        "LOCKS: threads were parked {}, {} in all, sampled every 20 ms",
        counted(times, "time"),
        duration(nanos)
    );
    if unfinished > 0 {
        let unfinished = thousands(unfinished);
        let _ = write!(heading, "; {unfinished} of them went on at the end");
    }
    Table {
        heading,
        titles: &["count", "unfinished", "total", "longest"],
        name: "class of the lock",
        rows: rows.collect(),
        nothing: "no thread was parked for a lock",
        samples: None,
        whole: None,
    }
}

fn row(recorded: &Recorded, (class, node, holder): Site, numbers: [u64; 4]) -> Row {
    let [count, unfinished, total, longest] = numbers;
    let name = named(recorded.class(class));
    let name = match holder {
        Some(holder) => format!("{name}, held by \"{}\"", printable(recorded.thread(holder))),
        None => name,
    };
    Row {
        weight: total as f64,
        then: 0.0,
        cells: vec![
            thousands(count),
            thousands(unfinished),
            duration(total),
            duration(longest),
        ],
        node,
        name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jvm_events::recorded::{LockWait, Wait};

    #[test]
    fn waits_are_added_up_for_each_owner() {
        let wait = |thread, holder, total_ns| LockWait {
            wait: Wait {
                thread,
                count: 1,
                total_ns,
                longest_ns: total_ns,
                ..Wait::default()
            },
            holder,
        };
        let recorded = Recorded {
            threads: vec!["a".to_owned(), "b\u{202e}".to_owned()],
            classes: vec!["a.Lock".to_owned()],
            locks: vec![wait(0, Some(1), 5), wait(2, Some(1), 7), wait(0, None, 9)],
            ..Recorded::default()
        };
        let table = table(&recorded);
        assert!(
            table.heading.contains("3 times, 21 ns in all"),
            "{}",
            table.heading
        );
        let rows = table.rows.iter();
        let mut rows: Vec<_> = rows
            .map(|row| (row.name.as_str(), row.cells[2].as_str()))
            .collect();
        rows.sort_unstable();
        let held = "a.Lock, held by \"b\\u202e\"";
        assert_eq!(rows, [("a.Lock", "9 ns"), (held, "12 ns")]);
    }
}
