//! `cargo xtask bench profile`: the cost of profiling a server, beside the JVM's own recorder and async-profiler.
//!
//! A web server with a database answers the same number of requests in round after round, all in one JVM, since two
//! JVMs differ by some percent on their own. Rounds come in pairs, in random order: one with a profiler, attached
//! before and detached after it, and one without. All profilers sample threads every 10 ms, and allocations every 512
//! KB. Compared is the CPU time of the whole process within each pair, compilers, collectors and profilers included.
//! Pairs without a profiler in either round show the noise. The CPU time of a profiler's own threads is printed
//! separately.

use crate::bench::figures::{Cost, Figure};
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result};
use jvm::Jvm;
use profiler::Profiler;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

mod events;
mod jvm;
mod profiler;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Pairs of rounds that count, of each profiler; with --events, rounds
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Pairs before them, which do not count [default: 2, with --events 20]
    #[arg(long)]
    warm_up: Option<u32>,
    /// Requests in a round
    #[arg(long, default_value_t = 15_000, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Only the JDK of this release; may be repeated
    #[arg(long, value_name = "RELEASE")]
    jdk: Vec<u32>,
    /// Measure the cost of a single event, by kind, instead of the server
    #[arg(long, conflicts_with = "requests")]
    events: bool,
}

const SHOP: &str = include_str!("profile/Shop.java");
/// The server's libraries.
const LIBRARIES: [&str; 6] = [
    "h2",
    "jetty-server",
    "jetty-http",
    "jetty-io",
    "jetty-util",
    "slf4j-api",
];

/// Requests after a profiler was attached or detached, which do not count.
const SETTLING: u32 = 1_000;

/// Measures on each full JDK from 17 up and prints a table for each.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let is_wanted = |jdk: &Jdk| options.jdk.is_empty() || options.jdk.contains(&jdk.feature);
    for jdk in jdks::measured()?.iter().filter(|jdk| is_wanted(jdk)) {
        say(format!("bench profile: {} rounds on {jdk}", options.rounds));
        if options.events {
            let warm_up = options.warm_up.unwrap_or(20);
            events::measure(workspace, jdk, (warm_up, options.rounds))?;
            continue;
        }
        let bench = Bench::prepare(workspace, jdk)?;
        let times = bench.measure(options)?;
        print!("{}", table(jdk, options, &times));
        figures.extend(figures_of(jdk, &times));
    }
    Ok(figures)
}

/// The pairs of rounds, by profiler.
type Times = [Vec<Pair>; Profiler::ALL.len()];

/// The CPU times of two rounds.
#[derive(Clone, Copy, Default)]
struct Pair {
    with: Duration,
    /// The share of the profiler's own threads.
    own: Duration,
    without: Duration,
}

struct Bench<'a> {
    jdk: &'a Jdk,
    profilers: profiler::Profilers,
    class_path: OsString,
    folder: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(workspace: &Workspace, jdk: &'a Jdk) -> Result<Self> {
        let folder = folder::emptied(workspace, "profile", jdk)?;
        std::fs::create_dir_all(&folder)?;
        let source = folder.join("Shop.java");
        std::fs::write(&source, SHOP)?;
        let libraries = LIBRARIES
            .iter()
            .map(|name| setup::artifact(workspace, name));
        let mut class_path = libraries.collect::<Result<Vec<PathBuf>>>()?;
        let classes = folder.join("classes");
        let mut javac = Command::new(jdk.tool("javac"));
        javac.args(["--release", "17", "-d"]).arg(&classes);
        javac
            .arg("--class-path")
            .arg(std::env::join_paths(&class_path)?);
        javac.args(["--add-modules", "jdk.management"]);
        output_of(javac.arg(&source))?;
        class_path.push(classes);
        Ok(Self {
            jdk,
            profilers: profiler::Profilers::prepare(workspace, jdk, &folder)?,
            class_path: std::env::join_paths(&class_path)?,
            folder,
        })
    }

    fn measure(&self, options: &Options) -> Result<Times> {
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS").arg("-Xmx256m");
        java.arg("-cp").arg(&self.class_path).arg("Shop");
        let mut jvm = Jvm::start(java, &self.folder)?;
        let mut times = Times::default();
        let warm_up = options.warm_up.unwrap_or(2);
        for round in 0..warm_up + options.rounds {
            for turn in 0..Profiler::ALL.len() {
                let at = (turn + round as usize) % Profiler::ALL.len();
                let profiler = Profiler::ALL[at];
                let pair = self.pair(&mut jvm, profiler, options.requests);
                let pair = pair.context(profiler.title())?;
                if round >= warm_up {
                    times[at].push(pair);
                }
            }
        }
        jvm.end()?;
        Ok(times)
    }

    /// Runs a round with a profiler and one without, one after the other.
    fn pair(&self, jvm: &mut Jvm, profiler: Profiler, requests: u32) -> Result<Pair> {
        let is_first = getrandom::u32()? % 2 == 0;
        let mut pair = Pair::default();
        for is_profiled in [is_first, !is_first] {
            if !is_profiled {
                jvm.round(SETTLING)?;
                pair.without = jvm.round(requests)?;
                continue;
            }
            let session = self.profilers.begin(profiler, jvm.pid())?;
            jvm.round(SETTLING)?;
            let before = profiler.cpu_time(jvm.pid())?;
            pair.with = jvm.round(requests)?;
            pair.own = profiler.cpu_time(jvm.pid())?.saturating_sub(before);
            session.end()?;
        }
        Ok(pair)
    }
}

/// Returns the time with a profiler as a multiple of that without, for each pair.
fn ratios(pairs: &[Pair]) -> Vec<f64> {
    let ratio = |pair: &Pair| pair.with.as_secs_f64() / pair.without.as_secs_f64();
    pairs.iter().map(ratio).collect()
}

fn table(jdk: &Jdk, options: &Options, times: &Times) -> String {
    let mut text = format!(
        "\nserver on JDK {}: CPU time of {} requests\n{:<24}{:>10}{:>12}{:>20}{:>16}{:>20}\n",
        jdk.feature,
        options.requests,
        "",
        "ms",
        "of without",
        "quartiles",
        "own threads",
        "quartiles"
    );
    for (profiler, pairs) in Profiler::ALL.iter().zip(times) {
        let title = profiler.title();
        let with = Cost::of_times(title, pairs.iter().map(|pair| pair.with)).median;
        let ratio = Cost::of(title, ratios(pairs));
        let own = |pair: &Pair| 100.0 * pair.own.as_secs_f64() / pair.with.as_secs_f64();
        let own = Cost::of(title, pairs.iter().map(own));
        let quartiles = [
            format!("{:.3} to {:.3}", ratio.low, ratio.high),
            format!("{:.2} to {:.2}", own.low, own.high),
        ];
        let [of_ratio, of_own] = quartiles;
        let line = format!(
            "{title:<24}{with:>10.1}{:>12.3}{of_ratio:>20}{:>14.2} %{of_own:>20}\n",
            ratio.median, own.median
        );
        text.push_str(&line);
    }
    text
}

fn figures_of(jdk: &Jdk, times: &Times) -> Vec<Figure> {
    let costs = Profiler::ALL.iter().zip(times);
    let mut costs = costs.map(|(profiler, pairs)| Cost::of(profiler.title(), ratios(pairs)));
    let Some(ours) = costs.next() else {
        return Vec::new();
    };
    let figure = |peer| Figure {
        bench: "profile".to_owned(),
        jdk: jdk.feature,
        what: "a server that is profiled: CPU time of a request".to_owned(),
        unit: "of no agent".to_owned(),
        ours: ours.clone(),
        peer,
    };
    costs.map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_within_their_pair() {
        let pair = |times: [u64; 2]| {
            let [with, without] = times.map(Duration::from_millis);
            Pair {
                with,
                without,
                ..Pair::default()
            }
        };
        let found = ratios(&[pair([101, 100]), pair([206, 200])]);
        assert!((found[0] - 1.01).abs() < 1e-9 && (found[1] - 1.03).abs() < 1e-9);
    }
}
