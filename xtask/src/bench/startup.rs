//! `cargo xtask bench startup`: what an agent adds to the start of a JVM.
//!
//! Measured is the CPU time, user and system, of the whole process, as the kernel accounts it when the process ends.
//! Rounds are interleaved: each runs every variant once, so that a machine that gets busy disturbs all alike.
//! All agents only record: none writes a report.

use crate::bench::figures::{Cost, Figure, milliseconds, quantile_of_times};
use crate::bench::usage;
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How to measure.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds for each JDK and program
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Runs the measurement on each full JDK from 17 up, and prints one table for each program.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut figures = Vec::new();
    let jacoco = setup::artifact(workspace, "jacoco-agent")?;
    for jdk in &jdks::measured()? {
        say(format!("bench startup: {} rounds on {jdk}", options.rounds));
        let folder = workspace
            .target("bench")
            .join(format!("startup-{}", jdk.feature));
        let bench = Bench::prepare(workspace, jdk, &jacoco, folder)?;
        for program in [bench.trivial()?, bench.javac(workspace)?] {
            let times = bench.measure(&program, options.rounds)?;
            print!("{}", table(jdk, &program, &times));
            figures.extend(of_jacoco(jdk, &program, &times));
        }
    }
    Ok(figures)
}

/// What is put into the JVM.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Variant {
    None,
    Fresh,
    Warm,
    Jacoco,
}

const VARIANTS: [Variant; 4] = [
    Variant::None,
    Variant::Fresh,
    Variant::Warm,
    Variant::Jacoco,
];

impl Variant {
    fn title(self) -> &'static str {
        match self {
            Self::None => "no agent",
            Self::Fresh => "Classhook, no cache",
            Self::Warm => "Classhook, warm cache",
            Self::Jacoco => "JaCoCo 0.8.15",
        }
    }
}

/// A program to start: the JVM's arguments.
struct Program {
    title: &'static str,
    arguments: Vec<String>,
}

/// javac in a JVM of its own; its output folder and sources follow.
pub const JAVAC: [&str; 4] = [
    "-m",
    "jdk.compiler/com.sun.tools.javac.Main",
    "-proc:none",
    "-d",
];

struct Bench<'a> {
    jdk: &'a Jdk,
    agent: PathBuf,
    jacoco: &'a Path,
    folder: PathBuf,
}

impl<'a> Bench<'a> {
    fn prepare(
        workspace: &Workspace,
        jdk: &'a Jdk,
        jacoco: &'a Path,
        folder: PathBuf,
    ) -> Result<Self> {
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        for below in ["classes", "sources", "out", "warm"] {
            std::fs::create_dir_all(folder.join(below))?;
        }
        Ok(Self {
            jdk,
            agent: workspace.product("libclasshook.so"),
            jacoco,
            folder,
        })
    }

    fn trivial(&self) -> Result<Program> {
        let source = self.folder.join("Trivial.java");
        std::fs::write(
            &source,
            "public class Trivial { public static void main(String[] a) { System.out.println(\"hello\"); } }\n",
        )?;
        let classes = self.folder.join("classes");
        output_of(
            Command::new(self.jdk.tool("javac"))
                .args(["--release", "17", "-d"])
                .args([&classes, &source]),
        )?;
        let arguments = [
            "-cp".to_owned(),
            classes.display().to_string(),
            "Trivial".to_owned(),
        ];
        Ok(Program {
            title: "a trivial program",
            arguments: arguments.into(),
        })
    }

    /// javac on three copies of the bank example, which is 24 files.
    fn javac(&self, workspace: &Workspace) -> Result<Program> {
        let mut arguments: Vec<String> = JAVAC.map(str::to_owned).into();
        arguments.push(self.folder.join("out").display().to_string());
        for copy in 1..=3 {
            let package = format!("bank{copy}");
            let folder = self.folder.join("sources").join(&package);
            std::fs::create_dir_all(&folder)?;
            for source in crate::demo::bank_sources(workspace, self.jdk.feature)? {
                let text = std::fs::read_to_string(&source)?
                    .replace("package bank;", &format!("package {package};"));
                let file = folder.join(source.file_name().unwrap_or_default());
                std::fs::write(&file, text)?;
                arguments.push(file.display().to_string());
            }
        }
        Ok(Program {
            title: "javac compiling 24 files",
            arguments,
        })
    }

    /// CPU times by variant, in the order of [`VARIANTS`]; the first round only warms the machine's file cache.
    fn measure(&self, program: &Program, rounds: u32) -> Result<[Vec<Duration>; 4]> {
        let mut times: [Vec<Duration>; 4] = Default::default();
        for round in 0..=rounds {
            for (variant, times) in VARIANTS.iter().zip(&mut times) {
                let time = self.once(program, *variant)?;
                if round > 0 {
                    times.push(time);
                }
            }
        }
        Ok(times)
    }

    fn once(&self, program: &Program, variant: Variant) -> Result<Duration> {
        let scratch = tempfile::tempdir_in(&self.folder)?;
        let mut command = Command::new(self.jdk.tool("java"));
        let cache = if variant == Variant::Warm {
            self.folder.join("warm")
        } else {
            scratch.path().join("cache")
        };
        command
            .env("XDG_CACHE_HOME", cache)
            .env_remove("JAVA_TOOL_OPTIONS")
            .env_remove("JDK_JAVA_OPTIONS");
        let out = scratch.path().display();
        match variant {
            Variant::None => {}
            Variant::Fresh | Variant::Warm => {
                command.arg(format!("-agentpath:{}=output={out}", self.agent.display()));
            }
            Variant::Jacoco => {
                command.arg(format!(
                    "-javaagent:{}=destfile={out}/jacoco.exec",
                    self.jacoco.display()
                ));
            }
        }
        usage::of(command.args(&program.arguments))
            .map(|used| used.cpu)
            .with_context(|| format!("{}: {}", program.title, variant.title()))
    }
}

/// Medians, what each agent adds, and that as a share of what JaCoCo adds.
fn table(jdk: &Jdk, program: &Program, times: &[Vec<Duration>; 4]) -> String {
    let base = quantile_of_times(&times[0], 50);
    let added = |times: &[Duration]| quantile_of_times(times, 50) - base;
    let jacoco = added(&times[3]);
    let mut text = format!(
        "\n{} on JDK {}: CPU time of the process, ms\n",
        program.title, jdk.feature
    );
    let _ = writeln!(
        text,
        "{:<24}{:>9}{:>18}{:>9}{:>20}",
        "", "median", "quartiles", "added", "of JaCoCo's added"
    );
    for (variant, times) in VARIANTS.iter().zip(times) {
        let quartiles = format!(
            "{:.1} to {:.1}",
            quantile_of_times(times, 25),
            quantile_of_times(times, 75)
        );
        let _ = write!(
            text,
            "{:<24}{:>9.1}{:>18}",
            variant.title(),
            quantile_of_times(times, 50),
            quartiles
        );
        if *variant != Variant::None {
            let _ = write!(text, "{:>9.1}{:>20.2}", added(times), added(times) / jacoco);
        }
        text.push('\n');
    }
    text
}

/// What ours adds, beside what JaCoCo adds.
fn of_jacoco(jdk: &Jdk, program: &Program, times: &[Vec<Duration>; 4]) -> Vec<Figure> {
    let base = quantile_of_times(&times[0], 50);
    let added = |variant: Variant| {
        let titled = VARIANTS.iter().zip(times).find(|(of, _)| **of == variant);
        let times = titled.map(|(_, times)| times.as_slice());
        let times = times.unwrap_or_default().iter();
        let added = times.map(|time| milliseconds(*time) - base);
        Cost::of(variant.title(), added)
    };
    let figure = |ours: Variant| Figure {
        bench: "startup".to_owned(),
        jdk: jdk.feature,
        what: format!("{}: CPU time added", program.title),
        unit: "ms".to_owned(),
        ours: added(ours),
        peer: added(Variant::Jacoco),
    };
    [Variant::Fresh, Variant::Warm].map(figure).into()
}
