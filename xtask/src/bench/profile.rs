//! `cargo xtask bench profile`: what a server pays while it is profiled, beside the JVM's own recorder and async-profiler.
//!
//! A web server with a database answers the same number of requests in round after round, once in a JVM without an agent,
//! once more in such a one, and in JVMs with each profiler: samples of threads each 10 ms, and of allocations each 512 KB.
//! All JVMs live at the same time and take turns, round by round, in an order that changes; what is compared is the CPU
//! time of the whole process, compilers, collectors and profilers included, each round with that of the plain JVM next to
//! it.

use crate::bench::figures::{Cost, Figure};
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail};
use jvm::Jvm;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

mod events;
mod jvm;

/// How to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds that count
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Rounds before them
    #[arg(long, default_value_t = 20)]
    warm_up: u32,
    /// Requests in a round
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(1..))]
    requests: u32,
    /// Only the JDK of this release; may be repeated
    #[arg(long, value_name = "RELEASE")]
    jdk: Vec<u32>,
    /// What a single event costs, by kind, instead of the server
    #[arg(long, conflicts_with = "requests")]
    events: bool,
}

const SHOP: &str = include_str!("profile/Shop.java");
/// What the server is made of.
const LIBRARIES: [&str; 6] = [
    "h2",
    "jetty-server",
    "jetty-http",
    "jetty-io",
    "jetty-util",
    "slf4j-api",
];

/// What is put into the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Again,
    Classhook,
    Recorder,
    Async,
}

const VARIANTS: [(Variant, &str); 5] = [
    (Variant::None, "no agent"),
    (Variant::Again, "no agent, again"),
    (Variant::Classhook, "Classhook"),
    (Variant::Recorder, "JFR, settings=profile"),
    (Variant::Async, "async-profiler 4.5"),
];

/// Measures on each full JDK from 17 up and prints a table for each.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let is_wanted = |jdk: &Jdk| options.jdk.is_empty() || options.jdk.contains(&jdk.feature);
    for jdk in jdks::measured()?.iter().filter(|jdk| is_wanted(jdk)) {
        say(format!("bench profile: {} rounds on {jdk}", options.rounds));
        if options.events {
            events::measure(workspace, jdk, (options.warm_up, options.rounds))?;
            continue;
        }
        let bench = Bench::prepare(workspace, jdk)?;
        let times = bench.measure(options)?;
        print!("{}", table(jdk, options, &times));
        figures.extend(figures_of(jdk, &times));
    }
    Ok(figures)
}

/// The CPU times of the rounds of each variant, in the same order.
type Times = [Vec<Duration>; VARIANTS.len()];

struct Bench<'a> {
    jdk: &'a Jdk,
    agent: PathBuf,
    async_profiler: PathBuf,
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
            agent: workspace.product("libclasshook.so"),
            async_profiler: async_profiler(workspace, jdk, &folder)?,
            class_path: std::env::join_paths(&class_path)?,
            folder,
        })
    }

    fn measure(&self, options: &Options) -> Result<Times> {
        let mut jvms = Vec::new();
        for (variant, title) in VARIANTS {
            jvms.push(self.start(variant).context(title)?);
        }
        let mut times = Times::default();
        for round in 0..options.warm_up + options.rounds {
            for turn in 0..VARIANTS.len() {
                let at = (turn + round as usize) % VARIANTS.len();
                let time = jvms[at].round(options.requests).context(VARIANTS[at].1)?;
                if round >= options.warm_up {
                    times[at].push(time);
                }
            }
        }
        for (jvm, (_, title)) in jvms.into_iter().zip(VARIANTS) {
            jvm.end().context(title)?;
        }
        self.check()?;
        Ok(times)
    }

    /// What each profiler has written must be there: one that did nothing would cost nothing.
    fn check(&self) -> Result<()> {
        let longest = |end: &str| {
            let mut longest = 0;
            for file in std::fs::read_dir(&self.folder)? {
                let file = file?;
                if file.file_name().to_string_lossy().ends_with(end) {
                    longest = longest.max(file.metadata()?.len());
                }
            }
            Ok::<u64, anyhow::Error>(longest)
        };
        for (end, tool) in [
            (".observed", "Classhook"),
            ("recorder.jfr", "JFR"),
            ("async.jfr", "async-profiler"),
        ] {
            if longest(end)? < 10_000 {
                bail!(
                    "expected a recording of {tool} in {}",
                    self.folder.display()
                );
            }
        }
        Ok(())
    }

    fn start(&self, variant: Variant) -> Result<Jvm> {
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS").arg("-Xmx256m");
        let folder = self.folder.display();
        match variant {
            Variant::None | Variant::Again => {}
            Variant::Classhook => {
                let agent = self.agent.display();
                java.arg(format!(
                    "-agentpath:{agent}=output={folder},plugin=none,observe=cpu:10ms;allocations:524288"
                ));
            }
            Variant::Recorder => {
                java.arg(format!(
                    "-XX:StartFlightRecording=settings=profile,filename={folder}/recorder.jfr"
                ));
            }
            Variant::Async => {
                // It writes two kinds of events in the recorder's format alone.
                let library = self.async_profiler.display();
                java.arg(format!(
                    "-agentpath:{library}=start,event=itimer,interval=10ms,alloc=512k,file={folder}/async.jfr"
                ));
            }
        }
        java.arg("-cp").arg(&self.class_path).arg("Shop");
        Jvm::start(java, &self.folder)
    }
}

/// The library, taken out of the jar of Maven Central that holds it.
fn async_profiler(workspace: &Workspace, jdk: &Jdk, folder: &Path) -> Result<PathBuf> {
    const LIBRARY: &str = "libs/libasyncProfiler-4.5-linux-x64.so";
    let jar = setup::artifact(workspace, "async-profiler")?;
    let mut unpack = Command::new(jdk.tool("jar"));
    output_of(unpack.current_dir(folder).arg("xf").arg(jar).arg(LIBRARY))?;
    Ok(folder.join(LIBRARY))
}

/// Each round's time as a multiple of that of the plain JVM in the same round.
fn ratios(times: &Times, of: usize) -> Vec<f64> {
    let pairs = times[of].iter().zip(&times[0]);
    pairs
        .map(|(time, none)| time.as_secs_f64() / none.as_secs_f64())
        .collect()
}

fn table(jdk: &Jdk, options: &Options, times: &Times) -> String {
    let mut text = format!(
        "\nserver on JDK {}: CPU time of {} requests\n{:<24}{:>10}{:>12}{:>20}\n",
        jdk.feature, options.requests, "", "ms", "of none", "quartiles"
    );
    for (at, (_, title)) in VARIANTS.iter().enumerate() {
        let time = Cost::of_times(title, times[at].iter().copied());
        let ratio = Cost::of(title, ratios(times, at));
        let quartiles = format!("{:.3} to {:.3}", ratio.low, ratio.high);
        let line = format!(
            "{title:<24}{:>10.1}{:>12.3}{quartiles:>20}\n",
            time.median, ratio.median
        );
        text.push_str(&line);
    }
    text
}

fn figures_of(jdk: &Jdk, times: &Times) -> Vec<Figure> {
    let cost = |wanted: Variant| {
        let mut all = VARIANTS.iter().enumerate();
        let found = all.find(|(_, (variant, _))| *variant == wanted);
        let (at, title) = found.map_or((0, ""), |(at, (_, title))| (at, *title));
        Cost::of(title, ratios(times, at))
    };
    let peers = [Variant::Again, Variant::Recorder, Variant::Async];
    let figure = |peer| Figure {
        bench: "profile".to_owned(),
        jdk: jdk.feature,
        what: "a server that is profiled: CPU time of a request".to_owned(),
        unit: "of no agent".to_owned(),
        ours: cost(Variant::Classhook),
        peer: cost(peer),
    };
    peers.map(figure).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_compared_with_the_plain_one_beside_them() {
        let mut times = Times::default();
        let millis = |all: [u64; 2]| all.map(Duration::from_millis).to_vec();
        times[0] = millis([100, 200]);
        times[2] = millis([101, 206]);
        let found = ratios(&times, 2);
        assert!((found[0] - 1.01).abs() < 1e-9 && (found[1] - 1.03).abs() < 1e-9);
    }
}
