//! `cargo xtask bench coverage`: the cost of coverage, for whole runs ([`whole_runs`]) and for programs over time.
//!
//! A program does the same work in round after round, in a JVM of its own: without an agent, with JaCoCo, and with
//! Classhook, which records hits by calls or by stores. Measured is the CPU time of a round of the working thread, in
//! three phases: from its start to five seconds, from three to ten seconds, and later. The seconds are CPU time of that
//! thread, so that all JVMs have done about as much on a busy machine. JVMs are interleaved, so that a machine that
//! gets busy disturbs all alike. The first row, a second measurement without an agent, shows the noise.
//!
//! With G1 a store costs more if it leads from one region of old objects into another. So a program is faster or slower
//! depending on the addresses of its oldest objects, which any earlier allocation moves. The JVMs therefore use the
//! parallel collector, unless G1 is requested.

mod whole_runs;

use crate::bench::figures::{Cost, Figure, quantile_of_times};
use crate::bench::folder;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// JVMs for each figure; of whole runs three times as many
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,
    /// Seconds of CPU time after which a round counts as late
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(10..))]
    late: u32,
    /// Late rounds of each JVM
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// The garbage collector of the JVMs
    #[arg(long, value_enum, default_value_t = Collector::Parallel)]
    collector: Collector,
    /// Only this program; may be repeated
    #[arg(long, value_name = "NAME")]
    program: Vec<String>,
    /// Only the JDK of this release; may be repeated
    #[arg(long, value_name = "RELEASE")]
    jdk: Vec<u32>,
}

impl Options {
    fn wants(&self, program: &str) -> bool {
        self.program.is_empty() || self.program.iter().any(|name| name == program)
    }
}

/// A garbage collector.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Collector {
    Parallel,
    G1,
}

impl Collector {
    fn option(self) -> &'static str {
        match self {
            Self::Parallel => "-XX:+UseParallelGC",
            Self::G1 => "-XX:+UseG1GC",
        }
    }
}

const STEADY: &str = include_str!("coverage/Steady.java");

/// The programs, and the artifact that each needs.
const PROGRAMS: [(&str, Option<&str>); 5] = [
    ("h2", Some("h2")),
    ("rhino", Some("rhino")),
    ("saxon", Some("saxon")),
    ("javac", None),
    ("gson", Some("gson")),
];

/// A program that does the same work in round after round.
struct Program {
    name: &'static str,
    jar: Option<PathBuf>,
}

/// A phase of a program's life, in seconds of CPU time of its thread.
struct Phase {
    title: &'static str,
    from: u32,
    to: u32,
}

/// The agent of the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Jacoco,
    Stores,
    Classhook,
}

const VARIANTS: [(Variant, &str); 5] = [
    (Variant::None, "no agent"),
    (Variant::None, "no agent, again"),
    (Variant::Jacoco, "JaCoCo 0.8.15"),
    (Variant::Stores, "Classhook, hits=stores"),
    (Variant::Classhook, "Classhook"),
];

/// Measures on each full JDK from 17 up and prints a table for each program.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let jacoco = setup::artifact(workspace, "jacoco-agent")?;
    let is_wanted = |jdk: &Jdk| options.jdk.is_empty() || options.jdk.contains(&jdk.feature);
    for jdk in jdks::measured()?.iter().filter(|jdk| is_wanted(jdk)) {
        say(format!(
            "bench coverage: {} JVMs each on {jdk}, {:?} collector",
            options.processes, options.collector
        ));
        let bench = Bench::prepare(workspace, jdk, &jacoco, options)?;
        figures.extend(bench.whole_runs(workspace)?);
        for (name, artifact) in PROGRAMS {
            if options.wants(name) {
                let jar = artifact.map(|name| setup::artifact(workspace, name));
                let jar = jar.transpose()?;
                figures.extend(bench.measure(&Program { name, jar })?);
            }
        }
    }
    Ok(figures)
}

struct Bench<'a> {
    jdk: &'a Jdk,
    agent: PathBuf,
    jacoco: &'a Path,
    folder: PathBuf,
    options: &'a Options,
}

impl<'a> Bench<'a> {
    fn prepare(
        workspace: &Workspace,
        jdk: &'a Jdk,
        jacoco: &'a Path,
        options: &'a Options,
    ) -> Result<Self> {
        let folder = folder::emptied(workspace, "coverage", jdk)?;
        std::fs::create_dir_all(&folder)?;
        let source = folder.join("Steady.java");
        std::fs::write(&source, STEADY)?;
        let mut javac = Command::new(jdk.tool("javac"));
        output_of(javac.arg("-d").arg(folder.join("classes")).arg(&source))?;
        Ok(Self {
            jdk,
            agent: workspace.product("libclasshook.so"),
            jacoco,
            folder,
            options,
        })
    }

    fn whole_runs(&self, workspace: &Workspace) -> Result<Vec<Figure>> {
        let mut figures = Vec::new();
        let bench = whole_runs::Bench {
            workspace,
            jdk: self.jdk,
            folder: &self.folder,
        };
        for program in whole_runs::programs(workspace, &self.folder)? {
            if self.options.wants(program.name) {
                figures.extend(bench.measure(&program, 3 * self.options.processes)?);
            }
        }
        Ok(figures)
    }

    fn phases(&self) -> [Phase; 3] {
        let late = self.options.late;
        let phase = |title, from, to| Phase { title, from, to };
        [
            phase("the first 5 s", 0, 5),
            phase("seconds 3 to 10", 3, 10),
            phase("later", late, u32::MAX),
        ]
    }

    fn measure(&self, program: &Program) -> Result<Vec<Figure>> {
        // The rounds of each JVM, by variant.
        let mut runs: [Vec<Vec<Duration>>; VARIANTS.len()] = Default::default();
        for _ in 0..self.options.processes {
            for ((variant, title), runs) in VARIANTS.iter().zip(&mut runs) {
                let ends = self.once(program, *variant);
                runs.push(ends.with_context(|| format!("{}, {title}", program.name))?);
            }
        }
        let mut figures = Vec::new();
        for phase in self.phases() {
            let times = runs.each_ref().map(|runs| {
                let rounds = runs.iter().map(|ends| mean_round(ends, &phase));
                rounds.collect::<Vec<Duration>>()
            });
            print_table(program, self.jdk, &phase, &times);
            figures.extend(self.figures(program.name, &phase, &times));
        }
        Ok(figures)
    }

    fn figures(
        &self,
        program: &str,
        phase: &Phase,
        times: &[Vec<Duration>; VARIANTS.len()],
    ) -> Vec<Figure> {
        let cost = |wanted: Variant| {
            let all = VARIANTS.iter().zip(times);
            let mut found = all.filter(|((variant, _), _)| *variant == wanted);
            let (title, times) = found
                .next()
                .map_or(("", [].as_slice()), |((_, title), times)| {
                    (title, times.as_slice())
                });
            Cost::of_times(title, times.iter().copied())
        };
        let figure = |peer| Figure {
            bench: "coverage".to_owned(),
            jdk: self.jdk.feature,
            what: format!("{program}, {}: CPU time of a round", phase.title),
            unit: "ms".to_owned(),
            ours: cost(Variant::Classhook),
            peer: cost(peer),
        };
        [Variant::None, Variant::Jacoco].map(figure).into()
    }

    /// Returns the times at which the rounds of one JVM ended.
    fn once(&self, program: &Program, variant: Variant) -> Result<Vec<Duration>> {
        let out = self.folder.join("out");
        if out.exists() {
            std::fs::remove_dir_all(&out)?;
        }
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS");
        java.arg(self.options.collector.option());
        let (agent, out) = (self.agent.display(), out.display());
        match variant {
            Variant::None => {}
            Variant::Jacoco => {
                let jacoco = self.jacoco.display();
                java.arg(format!("-javaagent:{jacoco}=destfile={out}/jacoco.exec"));
            }
            Variant::Stores => {
                java.arg(format!("-agentpath:{agent}=output={out},hits=stores"));
            }
            Variant::Classhook => {
                java.arg(format!("-agentpath:{agent}=output={out}"));
            }
        }
        let classes = self.folder.join("classes");
        let class_path = std::env::join_paths(program.jar.iter().chain([&classes]))?;
        let numbers = [self.options.late, self.options.rounds].map(|number| number.to_string());
        java.arg("-cp")
            .arg(class_path)
            .args(["Steady", program.name]);
        let printed = output_of(java.args(numbers))?;
        let time = |line: &str| Ok(Duration::from_nanos(line.trim().parse()?));
        printed.lines().map(time).collect()
    }
}

/// Returns the mean CPU time of the rounds that begin in a phase. The first round includes the thread's start.
fn mean_round(ends: &[Duration], phase: &Phase) -> Duration {
    let [from, to] = [phase.from, phase.to].map(|seconds| Duration::from_secs(seconds.into()));
    let begins = std::iter::once(Duration::ZERO).chain(ends.iter().copied());
    let rounds = begins.zip(ends);
    let inside = rounds.filter(|(begin, _)| (from..to).contains(begin));
    let (count, sum) = inside.fold((0, Duration::ZERO), |(count, sum), (begin, end)| {
        (count + 1, sum + end.saturating_sub(begin))
    });
    sum / u32::max(count, 1)
}

fn print_table(
    program: &Program,
    jdk: &Jdk,
    phase: &Phase,
    times: &[Vec<Duration>; VARIANTS.len()],
) {
    let (name, release, phase) = (program.name, jdk.feature, phase.title);
    println!("\n{name} on JDK {release}, {phase}: CPU time of a round, ms");
    println!("{:<28}{:>9}{:>20}{:>8}", "", "median", "quartiles", "ratio");
    let [none, ..] = times;
    let base = quantile_of_times(none, 50);
    for ((_, title), times) in VARIANTS.iter().zip(times) {
        let [low, median, high] = [25, 50, 75].map(|percent| quantile_of_times(times, percent));
        let quartiles = format!("{low:.2} to {high:.2}");
        let ratio = median / base;
        println!("{title:<28}{median:>9.2}{quartiles:>20}{ratio:>8.3}");
    }
}
