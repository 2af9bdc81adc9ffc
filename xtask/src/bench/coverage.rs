//! `cargo xtask bench coverage`: what coverage costs whole runs ([`whole_runs`]), and programs that have been running for a
//! while.
//!
//! The latter do the same work in round after round, each in a JVM of its own: without an agent, with JaCoCo, with
//! Classhook's probes as they are inserted, and with those taken out of hot code again. After a while the CPU time of
//! single rounds of the working thread is taken. JVMs are interleaved, so that a machine that gets busy disturbs all
//! alike; the first row, without an agent like the one that the others are compared with, says how much that is.
//!
//! With G1 a store costs more where it leads from one region of old objects into another, so that a program is faster or
//! slower by where its oldest objects happen to lie, which anything moves that is allocated before; so the JVMs have the
//! parallel collector, unless G1 is asked for.

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

/// How to measure.
#[derive(clap::Args)]
pub struct Options {
    /// JVMs for each figure; of whole runs three times as many
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    processes: u32,
    /// Seconds before the first round that counts; of javac 60 at least
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    warm_up: u32,
    /// Rounds of each JVM that count
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

/// The programs, the artifact that each needs, and how many seconds at least it runs until its code is as fast as it
/// becomes: javac takes half a minute from its start, and as long again after its classes are retransformed.
const PROGRAMS: [(&str, Option<&str>, u32); 5] = [
    ("h2", Some("h2"), 0),
    ("rhino", Some("rhino"), 0),
    ("saxon", Some("saxon"), 0),
    ("javac", None, 60),
    ("gson", Some("gson"), 0),
];

/// A program that does the same work in round after round.
struct Program {
    name: &'static str,
    jar: Option<PathBuf>,
    /// Seconds before the first round that counts.
    warm_up: u32,
}

/// What is put into the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Jacoco,
    Probes,
    Removed,
}

const VARIANTS: [(Variant, &str); 5] = [
    (Variant::None, "no agent"),
    (Variant::None, "no agent, again"),
    (Variant::Jacoco, "JaCoCo 0.8.15"),
    (Variant::Probes, "Classhook, self-remove=off"),
    (Variant::Removed, "Classhook"),
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
        for (name, artifact, warm_up) in PROGRAMS {
            if options.wants(name) {
                let jar = artifact.map(|name| setup::artifact(workspace, name));
                figures.extend(bench.measure(&Program {
                    name,
                    jar: jar.transpose()?,
                    warm_up: warm_up.max(options.warm_up),
                })?);
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

    fn measure(&self, program: &Program) -> Result<Vec<Figure>> {
        let mut times: [Vec<Duration>; VARIANTS.len()] = Default::default();
        for _ in 0..self.options.processes {
            for ((variant, title), times) in VARIANTS.iter().zip(&mut times) {
                let found = self.once(program, *variant);
                times.extend(found.with_context(|| format!("{}, {title}", program.name))?);
            }
        }
        let [none, ..] = &times;
        let base = quantile_of_times(none, 50);
        println!(
            "\n{} on JDK {}: CPU time of a round, ms",
            program.name, self.jdk.feature
        );
        println!("{:<28}{:>9}{:>20}{:>8}", "", "median", "quartiles", "ratio");
        for ((_, title), times) in VARIANTS.iter().zip(&times) {
            let [low, median, high] = [25, 50, 75].map(|percent| quantile_of_times(times, percent));
            let quartiles = format!("{low:.2} to {high:.2}");
            println!(
                "{title:<28}{median:>9.2}{quartiles:>20}{:>8.3}",
                median / base
            );
        }
        Ok(self.figures(program.name, &times))
    }

    fn figures(&self, program: &str, times: &[Vec<Duration>; VARIANTS.len()]) -> Vec<Figure> {
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
        let pairs = [
            (Variant::Removed, Variant::None),
            (Variant::Removed, Variant::Jacoco),
            (Variant::Probes, Variant::Jacoco),
        ];
        let figure = |(ours, peer)| Figure {
            bench: "coverage".to_owned(),
            jdk: self.jdk.feature,
            what: format!("{program} that has been running: CPU time of a round"),
            unit: "ms".to_owned(),
            ours: cost(ours),
            peer: cost(peer),
        };
        pairs.map(figure).into()
    }

    /// The times of the rounds of one JVM.
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
            Variant::Probes => {
                java.arg(format!("-agentpath:{agent}=output={out},self-remove=off"));
            }
            Variant::Removed => {
                java.arg(format!("-agentpath:{agent}=output={out}"));
            }
        }
        let classes = self.folder.join("classes");
        let class_path = std::env::join_paths(program.jar.iter().chain([&classes]))?;
        let numbers = [program.warm_up, self.options.rounds].map(|number| number.to_string());
        java.arg("-cp")
            .arg(class_path)
            .args(["Steady", program.name]);
        let printed = output_of(java.args(numbers))?;
        let time = |line: &str| Ok(Duration::from_nanos(line.trim().parse()?));
        printed.lines().map(time).collect()
    }
}
