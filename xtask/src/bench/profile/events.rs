//! `cargo xtask bench profile --events`: the cost of a single event, by kind.
//!
//! A program causes a number of events of one kind in round after round, in three JVMs: without an agent, with the
//! agent but no subscriber, and with a recording of these events. The JVMs take turns. Compared is the CPU time of all
//! Java threads, which include the recording one.

use super::jvm::Jvm;
use crate::bench::figures::Cost;
use crate::bench::folder;
use crate::jdks::Jdk;
use crate::workspace::{Workspace, output_of};
use anyhow::{Context, Result, bail};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = include_str!("Events.java");

/// A kind of event: its name in the program, the option that records it, and the number in a round. The queue must have
/// room for all events of a round.
const KINDS: [(&str, &str, u32); 5] = [
    ("allocations", "allocations:0", 20_000),
    ("exceptions", "exceptions", 20_000),
    ("monitors", "monitors", 1_000),
    ("contention", "monitors", 1_000),
    ("collections", "collections", 50),
];
/// Without an agent, with an idle agent, and with a recording.
const VARIANTS: usize = 3;

/// Measures each kind, and prints a table.
pub fn measure(workspace: &Workspace, jdk: &Jdk, (warm_up, rounds): (u32, u32)) -> Result<()> {
    let folder = folder::emptied(workspace, "profile-events", jdk)?;
    std::fs::create_dir_all(&folder)?;
    let source = folder.join("Events.java");
    std::fs::write(&source, PROGRAM)?;
    let mut javac = Command::new(jdk.tool("javac"));
    javac.args(["--release", "17", "-d"]);
    output_of(javac.arg(folder.join("classes")).arg(&source))?;
    println!(
        "\nevents on JDK {}: CPU time of one, in nanoseconds\n{:<14}{:>10}{:>16}{:>12}{:>12}{:>24}",
        jdk.feature, "", "no agent", "nobody listens", "of none", "recorded", "more (quartiles)"
    );
    for kind in KINDS {
        let times = EventBench::of(kind, workspace, jdk, &folder)
            .rounds((warm_up, rounds))
            .context(kind.0)?;
        print!("{}", line(kind.0, &times));
    }
    Ok(())
}

/// The CPU time of an event in nanoseconds, by variant and round.
type Times = [Vec<f64>; VARIANTS];

struct EventBench<'a> {
    name: &'static str,
    recorded: &'static str,
    count: u32,
    agent: std::path::PathBuf,
    jdk: &'a Jdk,
    folder: &'a Path,
}

impl<'a> EventBench<'a> {
    fn of(
        (name, recorded, count): (&'static str, &'static str, u32),
        workspace: &Workspace,
        jdk: &'a Jdk,
        folder: &'a Path,
    ) -> Self {
        Self {
            name,
            recorded,
            count,
            agent: workspace.product("libclasshook.so"),
            jdk,
            folder,
        }
    }

    fn rounds(&self, (warm_up, rounds): (u32, u32)) -> Result<Times> {
        let output = self.folder.join(self.name);
        let agent = format!(
            "-agentpath:{}=output={},plugin=none",
            self.agent.display(),
            output.display()
        );
        let listening = format!("{agent},jvm-events={}", self.recorded);
        let mut jvms = Vec::new();
        for argument in [None, Some(agent), Some(listening)] {
            jvms.push(self.start(argument)?);
        }
        let mut times = Times::default();
        for round in 0..warm_up + rounds {
            for turn in 0..VARIANTS {
                let at = (turn + round as usize) % VARIANTS;
                let time = jvms[at].round(self.count)?;
                if round >= warm_up {
                    times[at].push(nanoseconds(time) / f64::from(self.count));
                }
            }
        }
        jvms.into_iter().try_for_each(Jvm::end)?;
        self.check(&output, warm_up + rounds)?;
        Ok(times)
    }

    fn start(&self, agent: Option<String>) -> Result<Jvm> {
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS").args(["-Xmx64m"]);
        java.args(agent).arg("-cp");
        java.arg(self.folder.join("classes"))
            .args(["Events", self.name]);
        Jvm::start(java, self.folder)
    }

    /// Checks that all events were recorded and none was lost, because a lost event costs nothing.
    fn check(&self, output: &Path, rounds: u32) -> Result<()> {
        let mut files = std::fs::read_dir(output)?
            .collect::<std::io::Result<Vec<_>>>()?
            .into_iter();
        let file = files.find(|file| file.path().extension().is_some_and(|it| it == "jvm-events"));
        let file = file.with_context(|| format!("no recording in {}", output.display()))?;
        let recording: serde_json::Value = serde_json::from_slice(&std::fs::read(file.path())?)?;
        let (rows, number) = match self.name {
            "allocations" => ("allocations", "samples"),
            "exceptions" => ("exceptions", "count"),
            "contention" => ("contended", "count"),
            "collections" => ("collections", ""),
            _ => ("waits", "count"),
        };
        let rows = recording[rows].as_array().into_iter().flatten();
        // Each collection has a row of its own.
        let found: u64 = rows.map(|row| row[number].as_u64().unwrap_or(1)).sum();
        let lost = recording["lost"]["events"].as_u64();
        let caused = u64::from(rounds) * u64::from(self.count);
        if lost != Some(0) || found < caused {
            bail!(
                "expected {caused} events recorded and none lost, found {found}, and lost {lost:?}"
            );
        }
        Ok(())
    }
}

fn nanoseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// Returns the additional cost of an event in a variant compared with no agent, by round.
fn more(times: &Times, variant: usize) -> impl Iterator<Item = f64> {
    times[variant]
        .iter()
        .zip(&times[0])
        .map(|(with, none)| with - none)
}

fn line(name: &str, times: &Times) -> String {
    let median = |variant: usize| Cost::of("", times[variant].iter().copied()).median;
    let quiet = times[1]
        .iter()
        .zip(&times[0])
        .map(|(with, none)| with / none);
    let quiet = Cost::of("", quiet).median;
    let more = Cost::of("", more(times, 2));
    let range = format!("{:.0} ({:.0} to {:.0})", more.median, more.low, more.high);
    format!(
        "{name:<14}{:>10.0}{:>16.0}{quiet:>12.2}{:>12.0}{range:>24}\n",
        median(0),
        median(1),
        median(2)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_of_an_event_is_the_difference_of_adjacent_rounds() {
        let times = [
            vec![100.0, 200.0],
            vec![100.0, 210.0],
            vec![1_100.0, 1_700.0],
        ];
        assert_eq!(more(&times, 2).collect::<Vec<_>>(), [1_000.0, 1_500.0]);
        assert!(line("exceptions", &times).contains("1250 (1125 to 1375)"));
    }
}
