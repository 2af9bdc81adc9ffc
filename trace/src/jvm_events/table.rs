//! The tables of a recording as text: rows with their share and their stack, as HPROF has.

mod bias;
mod cpu;
mod locks;
mod references;
mod rows;
mod wall;

use std::collections::HashMap;
use std::fmt::Write as _;

use jvm_events::Recorded;

pub use bias::sampler_bias;

use rows::{Row, Table, named, percent};

use super::names::place;
use crate::names::printable;
use crate::numbers::{counted, thousands};
use crate::table::duration;

/// The layout of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Maximum number of rows of a table.
    pub rows: usize,
    /// Maximum number of frames of a stack below the tables; 0 leaves the stacks out.
    pub frames: usize,
}

/// Below this number of samples, shares are statistically weak, and a note warns the reader.
const FEW_SAMPLES: u64 = 50;

/// Returns the tables of one JVM.
#[must_use]
pub fn text(recorded: &Recorded, layout: Layout) -> String {
    let mut printed = Printed {
        recorded,
        layout,
        traces: Vec::new(),
        text: String::new(),
    };
    let subscription = &recorded.subscription;
    if let Some(interval) = subscription.cpu {
        printed.table(cpu::table(recorded, interval.as_millis()));
        printed.text.push_str(&cpu::shares(recorded));
        printed.text.push_str(&cpu::shared(recorded));
        printed.text.push_str(SAFEPOINTS);
    }
    if let Some(interval) = subscription.wall {
        printed.table(wall::table(recorded, interval.as_millis()));
        printed.text.push_str(&wall::states(recorded));
        printed.text.push_str(&wall::notes(recorded));
    }
    if subscription.allocations.is_some() {
        printed.table(allocations(recorded));
        printed.text.extend(sampler_bias(recorded));
    }
    if subscription.monitors {
        printed.table(waits(recorded, true));
        printed.table(waits(recorded, false));
        printed.table(locks::table(recorded));
        printed.deadlocks();
    }
    if subscription.exceptions {
        printed.table(exceptions(recorded));
    }
    if subscription.references {
        printed.table(references::table(recorded));
        printed.text.push_str(&references::others(recorded));
    }
    if subscription.collections {
        printed.text.push_str(&collections(recorded));
    }
    printed.traces();
    printed.text.push_str(&missing(recorded));
    printed.text
}

/// The note below CPU samples.
const SAFEPOINTS: &str = "samples are taken at safepoints (safepoint bias): a hot loop may appear at its end or in its caller;\nasync-profiler uses the kernel instead, and shows native code as well\n";

struct Printed<'a> {
    recorded: &'a Recorded,
    layout: Layout,
    /// The stacks of the printed rows, in the order of their numbers.
    traces: Vec<u32>,
    text: String,
}

impl Printed<'_> {
    fn table(&mut self, mut table: Table<'_>) {
        let _ = writeln!(self.text, "{}", table.heading);
        if table.rows.is_empty() {
            let _ = writeln!(self.text, "  {}", table.nothing);
            return;
        }
        let order = |one: &Row, other: &Row| {
            let weights = other.weight.total_cmp(&one.weight);
            let weights = weights.then_with(|| other.then.total_cmp(&one.then));
            weights.then_with(|| one.name.cmp(&other.name))
        };
        table.rows.sort_by(order);
        let total: f64 = table.rows.iter().map(|row| row.weight).sum();
        let total = table.whole.map_or(total, |whole| total.max(whole));
        let mut lines = vec![head(&table)];
        let mut sum = 0.0;
        for (rank, row) in table.rows.iter().take(self.layout.rows).enumerate() {
            sum += row.weight;
            let mut line = vec![
                (rank + 1).to_string(),
                percent(row.weight, total),
                percent(sum, total),
            ];
            line.extend(row.cells.iter().cloned());
            line.push(self.trace(row.node));
            line.push(row.name.clone());
            lines.push(line);
        }
        self.text.push_str(&aligned(&lines));
        let more = table.rows.len().saturating_sub(self.layout.rows);
        if more > 0 {
            let _ = writeln!(self.text, "… and {}", counted(more as u64, "more row"));
        }
        if let Some(samples @ 1..FEW_SAMPLES) = table.samples {
            // Two standard deviations of a share of one half, the maximum: 2 · √(¼ / n).
            let off = (100.0 / (samples as f64).sqrt()).round();
            let _ = writeln!(
                self.text,
                "few samples: with {samples}, the share of a row may be {off} points off; record longer, or use a shorter interval"
            );
        }
    }

    /// Writes the deadlocked threads.
    fn deadlocks(&mut self) {
        for (number, deadlock) in self.recorded.deadlocks.iter().enumerate() {
            let threads = counted(deadlock.threads.len() as u64, "thread");
            let _ = writeln!(self.text, "DEADLOCK {}: {threads}", number + 1);
            let next = deadlock.threads.iter().cycle().skip(1);
            for (one, owner) in deadlock.threads.iter().zip(next) {
                let [thread, owner] =
                    [one, owner].map(|stuck| printable(self.recorded.thread(stuck.thread)));
                let class = named(self.recorded.class(one.class));
                let trace = self.trace(one.node);
                let what = match one.is_lock {
                    true => "waits for a lock of",
                    false => "waits to enter a monitor of",
                };
                let _ = writeln!(
                    self.text,
                    "  \"{thread}\" {what} {class}, which \"{owner}\" owns; trace {trace}"
                );
            }
        }
    }

    /// Returns the number of a stack.
    fn trace(&mut self, node: Option<u32>) -> String {
        let Some(node) = node else {
            return "-".to_owned();
        };
        let known = self.traces.iter().position(|known| *known == node);
        let at = known.unwrap_or_else(|| {
            self.traces.push(node);
            self.traces.len() - 1
        });
        (at + 1).to_string()
    }

    /// Writes the stacks with their numbers.
    fn traces(&mut self) {
        if self.layout.frames == 0 {
            return;
        }
        for (number, node) in self.traces.iter().enumerate() {
            let _ = writeln!(self.text, "trace {}:", number + 1);
            let mut frames = self.recorded.stacks.path(Some(*node));
            for frame in frames.by_ref().take(self.layout.frames) {
                let _ = writeln!(self.text, "  {}", place(frame));
            }
            let more = frames.count();
            if more > 0 {
                let _ = writeln!(self.text, "  … {} more", more);
            }
        }
    }
}

fn head(table: &Table<'_>) -> Vec<String> {
    let titles = ["rank", "self", "accum"].iter();
    let titles = titles.chain(table.titles).chain(["trace"].iter());
    let titles = titles.map(|title| (*title).to_owned());
    titles.chain([table.name.to_owned()]).collect()
}

/// Tabulates classes and stacks by allocated bytes, or by live bytes.
fn allocations(recorded: &Recorded) -> Table<'static> {
    let is_live = recorded.subscription.live;
    let mut sites: HashMap<(u32, Option<u32>), [f64; 4]> = HashMap::new();
    for row in &recorded.allocations {
        let site = sites.entry((row.class, row.node)).or_default();
        let add = [row.live_bytes, row.live_objects, row.bytes, row.objects];
        site.iter_mut().zip(add).for_each(|(sum, add)| *sum += add);
    }
    let rows = sites.into_iter().map(|((class, node), sums)| Row {
        weight: if is_live { sums[0] } else { sums[2] },
        then: sums[2],
        cells: match is_live {
            true => sums.iter().map(|sum| rounded(*sum)).collect(),
            false => sums[2..].iter().map(|sum| rounded(*sum)).collect(),
        },
        node,
        name: named(recorded.class(class)),
    });
    let samples: u64 = recorded.allocations.iter().map(|row| row.samples).sum();
    let every = match recorded.subscription.allocations {
        None | Some(0) => "each allocation".to_owned(),
        Some(bytes) => format!(
            "one for each {} bytes of a thread, on average",
            thousands(u64::from(bytes))
        ),
    };
    Table {
        heading: format!(
            "ALLOCATION SITES{}: {}, {every}",
            if is_live {
                " BY LIVE OBJECTS AT THE END"
            } else {
                ""
            },
            counted(samples, "sample")
        ),
        titles: match is_live {
            true => &["live bytes", "live objects", "bytes", "objects"],
            false => &["bytes", "objects"],
        },
        name: "class",
        rows: rows.collect(),
        nothing: "no data",
        samples: Some(samples).filter(|_| recorded.subscription.allocations != Some(0)),
        whole: None,
    }
}

/// Class, stack and owner of a contended monitor, and the location of the owner.
type Monitor = (u32, Option<u32>, Option<u32>, Option<u32>);

/// Formats `a.Gate, held by "worker" at a.Gate.close:88`.
fn monitor_name(recorded: &Recorded, (class, _, owner, at): Monitor) -> String {
    let mut name = named(recorded.class(class));
    if let Some(owner) = owner {
        let _ = write!(name, ", held by \"{}\"", printable(recorded.thread(owner)));
    }
    let at = at.and_then(|at| recorded.stacks.frames.get(at as usize));
    if let Some(frame) = at {
        let _ = write!(name, " at {}", place(frame));
    }
    name
}

/// Tabulates monitors by waiting time.
fn waits(recorded: &Recorded, contended: bool) -> Table<'static> {
    let rows = match contended {
        true => &recorded.contended,
        false => &recorded.waits,
    };
    let mut sites: HashMap<Monitor, [u64; 4]> = HashMap::new();
    for row in rows {
        let monitor = (row.class, row.node, row.owner, row.owner_at);
        let [count, unfinished, total, longest] = sites.entry(monitor).or_default();
        *count += row.count;
        *unfinished += row.unfinished;
        *total += row.total_ns;
        *longest = row.longest_ns.max(*longest);
    }
    let times: u64 = rows.iter().map(|row| row.count).sum();
    let unfinished: u64 = rows.iter().map(|row| row.unfinished).sum();
    let nanos: u64 = rows.iter().map(|row| row.total_ns).sum();
    let rows = sites
        .into_iter()
        .map(|(monitor, [count, unfinished, total, longest])| Row {
            weight: total as f64,
            then: 0.0,
            cells: vec![
                thousands(count),
                thousands(unfinished),
                duration(total),
                duration(longest),
            ],
            node: monitor.1,
            name: monitor_name(recorded, monitor),
        });
    let rows = rows.collect();
    let (mut heading, nothing) = match contended {
        true => (
            format!(
                "CONTENDED MONITORS: threads waited {} to enter one, {} in all",
                counted(times, "time"),
                duration(nanos)
            ),
            "no thread waited to enter a monitor",
        ),
        false => (
            format!(
                "WAITS: {} of Object.wait, {} in all",
                counted(times, "call"),
                duration(nanos)
            ),
            "no thread waited in Object.wait",
        ),
    };
    if unfinished > 0 {
        let unfinished = thousands(unfinished);
        let _ = write!(heading, "; {unfinished} of them went on at the end");
    }
    Table {
        heading,
        titles: &["count", "unfinished", "total", "longest"],
        name: "class of the monitor",
        rows,
        nothing,
        samples: None,
        whole: None,
    }
}

/// Tabulates exceptions by class and location, and as caught or uncaught.
fn exceptions(recorded: &Recorded) -> Table<'static> {
    let mut sites: HashMap<(u32, Option<u32>, Option<u32>, bool), u64> = HashMap::new();
    for row in &recorded.exceptions {
        let site = (row.class, row.node, row.caught, row.swallowed);
        *sites.entry(site).or_default() += row.count;
    }
    let all = recorded.exceptions.iter();
    let times: u64 = all.clone().map(|row| row.count).sum();
    let swallowed: u64 = all.filter(|row| row.swallowed).map(|row| row.count).sum();
    let rows = sites
        .into_iter()
        .map(|((class, node, caught, swallowed), count)| {
            let caught = caught.and_then(|place| recorded.stacks.frames.get(place as usize));
            let caught = caught.map_or_else(
                || "not caught by Java code".to_owned(),
                |frame| {
                    let verb = if swallowed { "swallowed" } else { "caught" };
                    format!("{verb} by {}", place(frame))
                },
            );
            Row {
                weight: count as f64,
                then: 0.0,
                cells: vec![thousands(count)],
                node,
                name: format!("{}, {caught}", named(recorded.class(class))),
            }
        });
    Table {
        heading: match swallowed {
            0 => format!("EXCEPTIONS: {}", counted(times, "throw")),
            _ => format!(
                "EXCEPTIONS: {}, {} of them swallowed: their handlers never use them",
                counted(times, "throw"),
                thousands(swallowed)
            ),
        },
        titles: &["count"],
        name: "class",
        rows: rows.collect(),
        nothing: "nothing was thrown",
        samples: None,
        whole: None,
    }
}

/// Summarises the pauses of collections.
fn collections(recorded: &Recorded) -> String {
    let all = &recorded.collections;
    let total: u64 = all.iter().map(|one| one.duration_ns).sum();
    let longest = all.iter().map(|one| one.duration_ns).max().unwrap_or(0);
    let number = counted(all.len() as u64, "collection");
    let mut text = format!("GARBAGE COLLECTIONS: {number} stopped the program");
    if !all.is_empty() {
        let share = percent(total as f64, recorded.duration_ns as f64);
        let _ = write!(
            text,
            " for {} in all ({share} of the time), {} at most",
            duration(total),
            duration(longest)
        );
    }
    text.push('\n');
    if all.is_empty() {
        text.push_str(
            "  concurrent collections, such as those of ZGC and Shenandoah, are not included\n",
        );
    }
    let last = all
        .iter()
        .rev()
        .find_map(|one| one.used_after.zip(one.heap_after));
    if let Some((used, heap)) = last {
        let _ = writeln!(
            text,
            "  after the last one {} of {} bytes of the heap were in use",
            thousands(used),
            thousands(heap)
        );
    }
    text
}

/// Describes the data that the tables lack, and the causes.
#[must_use]
pub fn missing(recorded: &Recorded) -> String {
    let lost = &recorded.lost;
    let lines = [
        (lost.events, "event", "came faster than they could be read"),
        (
            lost.rows,
            "event",
            "had more different stacks than the table holds",
        ),
        (
            lost.untracked,
            "sampled object",
            "could not be followed to the end",
        ),
        (
            lost.references,
            "JNI reference",
            "could not be followed: too many were open, or they came too fast",
        ),
        (
            recorded.stacks.cut,
            "stack",
            "lack outer frames, as the table of stacks is full",
        ),
    ];
    let mut text = String::new();
    for (number, what, cause) in lines.into_iter().filter(|(number, ..)| *number > 0) {
        let _ = writeln!(text, "lost: {} {cause}", counted(number, what));
    }
    if lost.moments > 0 {
        let _ = writeln!(
            text,
            "time line: {} had no room and are only in the tables",
            counted(lost.moments, "event")
        );
    }
    if lost.turns > 0 {
        let _ = writeln!(
            text,
            "late: {} at the threads left out; CPU time still covers the whole recording",
            counted(lost.turns, "look")
        );
    }
    if !recorded.complete {
        let _ = writeln!(
            text,
            "incomplete: the recording of JVM {} did not end: the JVM was killed, could not write the end, or still records",
            recorded.jvm.pid
        );
    }
    text
}

/// Checks whether missing data changes the numbers. Late samples do not: CPU time covers the whole recording.
#[must_use]
pub fn is_partial(recorded: &Recorded) -> bool {
    let lost = &recorded.lost;
    lost.events + lost.rows + lost.untracked + lost.references + recorded.stacks.cut > 0
        || !recorded.complete
}

/// Aligns cells in columns; the last column is left-aligned.
fn aligned(lines: &[Vec<String>]) -> String {
    let columns = lines.first().map_or(0, Vec::len);
    let width = |column: usize| {
        let cells = lines.iter().filter_map(|line| line.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for line in lines {
        let Some((last, cells)) = line.split_last() else {
            continue;
        };
        for (cell, width) in cells.iter().zip(&widths) {
            let _ = write!(text, "{cell:>width$}  ");
        }
        let _ = writeln!(text, "{last}");
    }
    text
}

fn rounded(number: f64) -> String {
    thousands(number.round() as u64)
}
