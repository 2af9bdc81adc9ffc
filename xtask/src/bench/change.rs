//! `cargo xtask bench change`: the cost for a program of changes of its classes while it runs.
//!
//! A thread calls the methods of a thousand classes as fast as it can, until the compiler has seen them all. Then 1,
//! 100 or 1,000 of the classes are changed so that their calls are counted, and are changed back. HotSpot discards the
//! compiled code that depends on them, and compiles it anew. Measured are the longest safepoint in the JVM's log; the
//! thread's lowest speed within 20 ms, beside the same before; and the time until the thread keeps its final speed.
//! Speed is work per second of CPU time, so other programs hardly change it.

use crate::bench::attach::{ended, load, total};
use crate::bench::figures::quantile_of_times;
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::plugins;
use crate::workspace::{Workspace, output_of, say};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// JVMs for each number of classes and JDK
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

const BUSY: &str = include_str!("change/Busy.java");
/// The numbers of changed classes, and their methods.
const CHANGES: [(usize, &[&str]); 3] = [
    (1, &["load.C0.*"]),
    (100, &["load.C?.*", "load.C??.*"]),
    (1_000, &["load.C*.*"]),
];
/// Running time of the program before, so that the compiler is done with it.
const WARM_UP: Duration = Duration::from_secs(5);
/// Observation time after the begin of a change.
const AFTER: Duration = Duration::from_secs(6);
/// The reference speed is that of the last piece of this length, or of the piece before a change.
const LEVEL: Duration = Duration::from_secs(1);
/// Length of the piece for the lowest speed.
const SHORT: Duration = Duration::from_millis(20);
/// Length of the pieces for the recovery: from then on, all of them have this share of the final speed.
const PIECE: Duration = Duration::from_millis(100);
const SHARE: f64 = 0.8;

/// The observations of one change.
struct Observation {
    command: Duration,
    safepoint: Duration,
    /// The lowest speed of a short piece, as a share of the speed before; and the same before.
    least: f64,
    least_before: f64,
    settled: Duration,
}

/// Measures on each full JDK from 17 up and prints a table for each.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    plugins::run(workspace)?;
    for jdk in &jdks::measured()? {
        say(format!("bench change: {} rounds on {jdk}", options.rounds));
        let bench = Bench::prepare(workspace, jdk)?;
        println!("\nChange of classes, JDK {}: medians", jdk.feature);
        println!(
            "{:<24}{:>12}{:>20}{:>18}{:>18}{:>14}",
            "", "command", "longest safepoint", "slowest 20 ms", "(before)", "as fast after"
        );
        for (classes, methods) in CHANGES {
            let mut seen: [Vec<Observation>; 2] = Default::default();
            for _ in 0..options.rounds {
                for (seen, found) in seen.iter_mut().zip(bench.once(methods)?) {
                    seen.push(found);
                }
            }
            for (seen, what) in seen.iter().zip(["changed", "changed back"]) {
                print!("{}", row(&format!("{classes} {what}"), seen));
            }
        }
    }
    Ok(())
}

struct Bench<'a> {
    jdk: &'a Jdk,
    command: PathBuf,
    folder: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(workspace: &Workspace, jdk: &'a Jdk) -> Result<Self> {
        let folder = folder::emptied(workspace, "change", jdk)?;
        let sources = folder.join("sources");
        std::fs::create_dir_all(&sources)?;
        std::fs::write(sources.join("Busy.java"), BUSY)?;
        std::fs::write(sources.join("Load.java"), load())?;
        let mut javac = Command::new(jdk.tool("javac"));
        javac.args(["--release", "17", "-d"]);
        javac.arg(folder.join("classes"));
        output_of(javac.args([sources.join("Busy.java"), sources.join("Load.java")]))?;
        Ok(Self {
            jdk,
            command: workspace.product("classhook"),
            folder,
        })
    }

    /// Measures the change of these methods' classes, and the change back, in a JVM of its own.
    fn once(&self, methods: &[&str]) -> Result<[Observation; 2]> {
        let mut jvm = Jvm::start(self.jdk, &self.folder)?;
        let pid = jvm.child.id().to_string();
        let names = methods.iter().map(|name| format!("\"{name}\""));
        let names = names.collect::<Vec<_>>().join(",");
        let mut attach = Command::new(&self.command);
        attach.args(["attach", &pid, "--plugin", "trace", "--plugin-settings"]);
        attach.arg(format!("{{\"mode\":\"count\",\"methods\":[{names}]}}"));
        attach.arg("--output").arg(&self.folder);
        let changed = jvm.meanwhile(&mut attach)?;
        let back = jvm.meanwhile(Command::new(&self.command).args(["off", &pid]))?;
        Ok([changed, back])
    }
}

/// A number of rounds and of nanoseconds of CPU time, at a time.
#[derive(Clone, Copy)]
struct Sample {
    at: Instant,
    rounds: f64,
    nanos: f64,
}

impl Sample {
    /// Parses a line that the program has just printed.
    fn now(line: &str) -> Option<Self> {
        let (rounds, nanos) = line.split_once(' ')?;
        Some(Self {
            at: Instant::now(),
            rounds: rounds.parse().ok()?,
            nanos: nanos.parse().ok()?,
        })
    }
}

/// The program; it is ended on drop.
struct Jvm {
    child: Child,
    log: PathBuf,
    printed: Receiver<Sample>,
    samples: Vec<Sample>,
}

impl Jvm {
    fn start(jdk: &Jdk, folder: &Path) -> Result<Self> {
        let log = folder.join("safepoints.log");
        let mut java = Command::new(jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS")
            .arg(format!(
                "-Xlog:safepoint:file={}:none:filecount=0",
                log.display()
            ))
            .arg("-XX:+EnableDynamicAgentLoading")
            .arg("-cp")
            .arg(folder.join("classes"))
            .arg("Busy");
        let mut child = java.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let out = child.stdout.take().context("a pipe was asked for")?;
        let (sender, printed) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                let Some(sample) = Sample::now(&line) else {
                    return;
                };
                if sender.send(sample).is_err() {
                    return;
                }
            }
        });
        let mut jvm = Self {
            child,
            log,
            printed,
            samples: Vec::new(),
        };
        jvm.look_for(WARM_UP);
        ensure!(jvm.samples.len() > 100, "the program did not run");
        Ok(jvm)
    }

    fn look_for(&mut self, time: Duration) {
        thread::sleep(time);
        self.samples.extend(self.printed.try_iter());
    }

    fn safepoints(&self) -> Result<Vec<Duration>> {
        let text = std::fs::read_to_string(&self.log)?;
        Ok(text.lines().filter_map(total).collect())
    }

    /// Samples the program while a command changes its classes, and afterwards.
    fn meanwhile(&mut self, command: &mut Command) -> Result<Observation> {
        let known = self.safepoints()?.len();
        self.look_for(Duration::ZERO);
        let begun = Instant::now();
        let command = ended(command)?;
        self.look_for(AFTER.saturating_sub(begun.elapsed()));
        let longest = self.safepoints()?.into_iter().skip(known).max();
        let before = pieces(&self.samples, begun - LEVEL, begun, SHORT);
        let level = mean(&before);
        let after = pieces(&self.samples, begun, begun + AFTER, SHORT);
        let last = mean(&pieces(
            &self.samples,
            begun + AFTER - LEVEL,
            begun + AFTER,
            PIECE,
        ));
        let slow = pieces(&self.samples, begun, begun + AFTER, PIECE);
        let slow = slow
            .into_iter()
            .rposition(|speed| speed.is_some_and(|speed| speed < SHARE * last));
        let pieces_until = slow.map_or(0, |piece| piece + 1);
        Ok(Observation {
            command,
            safepoint: longest.unwrap_or_default(),
            least: least(&after) / level,
            least_before: least(&before) / level,
            settled: PIECE * u32::try_from(pieces_until)?,
        })
    }
}

impl Drop for Jvm {
    fn drop(&mut self) {
        // The process may have ended by itself; an error has no consequence.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the thread's speed in pieces of this length, in rounds per nanosecond of CPU time; `None` where it hardly
/// ran.
fn pieces(samples: &[Sample], from: Instant, to: Instant, length: Duration) -> Vec<Option<f64>> {
    let mut speeds = Vec::new();
    let mut begin = from;
    while begin + length <= to {
        let end = begin + length;
        let [before, after] = [begin, end].map(|time| at(samples, time));
        let (rounds, nanos) = (after.0 - before.0, after.1 - before.1);
        let has_run = nanos > length.as_nanos() as f64 / 10.0;
        speeds.push(has_run.then(|| rounds / nanos));
        begin = end;
    }
    speeds
}

/// Returns rounds and nanoseconds of CPU time at a time, interpolated between two samples.
fn at(samples: &[Sample], time: Instant) -> (f64, f64) {
    let behind = samples.partition_point(|sample| sample.at <= time);
    let before = samples.get(behind.wrapping_sub(1));
    match (before, samples.get(behind)) {
        (Some(before), Some(next)) => {
            let part = (time - before.at).as_secs_f64() / (next.at - before.at).as_secs_f64();
            let between = |one: f64, other: f64| one + part * (other - one);
            (
                between(before.rounds, next.rounds),
                between(before.nanos, next.nanos),
            )
        }
        (Some(only), None) | (None, Some(only)) => (only.rounds, only.nanos),
        (None, None) => (0.0, 0.0),
    }
}

fn mean(speeds: &[Option<f64>]) -> f64 {
    let known: Vec<f64> = speeds.iter().copied().flatten().collect();
    known.iter().sum::<f64>() / known.len().max(1) as f64
}

fn least(speeds: &[Option<f64>]) -> f64 {
    speeds
        .iter()
        .copied()
        .flatten()
        .fold(f64::INFINITY, f64::min)
}

fn row(title: &str, seen: &[Observation]) -> String {
    let median = |of: fn(&Observation) -> Duration| {
        let times: Vec<Duration> = seen.iter().map(of).collect();
        quantile_of_times(&times, 50)
    };
    let share = |of: fn(&Observation) -> f64| {
        let mut shares: Vec<f64> = seen.iter().map(of).collect();
        shares.sort_by(f64::total_cmp);
        shares.get(shares.len() / 2).copied().unwrap_or(f64::NAN) * 100.0
    };
    let mut text = format!("{title:<24}");
    let _ = writeln!(
        text,
        "{:>9.0} ms{:>17.1} ms{:>16.0} %{:>16.0} %{:>11.0} ms",
        median(|seen| seen.command),
        median(|seen| seen.safepoint),
        share(|seen| seen.least),
        share(|seen| seen.least_before),
        median(|seen| seen.settled),
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speed_between_two_samples_is_in_proportion() {
        let begun = Instant::now();
        let sample = |ms: u64, rounds, busy: f64| Sample {
            at: begun + Duration::from_millis(ms),
            rounds,
            nanos: busy * 1e6,
        };
        let samples = [
            sample(0, 0.0, 0.0),
            sample(10, 100.0, 5.0),
            sample(20, 100.0, 15.0),
            sample(40, 100.0, 15.0),
        ];
        let ms = |ms| begun + Duration::from_millis(ms);
        let speeds = pieces(&samples, ms(0), ms(40), Duration::from_millis(10));
        assert_eq!(speeds, [Some(2e-5), Some(0.0), None, None]);
        assert_eq!((least(&speeds), mean(&speeds)), (0.0, 1e-5));
        assert_eq!(at(&samples, ms(5)), (50.0, 2.5e6));
        assert!(Sample::now("7").is_none() && Sample::now("7 8").is_some());
    }
}
