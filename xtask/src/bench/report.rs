//! `cargo xtask bench report`: the report of all classes of a JDK, beside JaCoCo's command line.
//!
//! javac compiles a program, measured by JaCoCo's agent. Both tools make HTML, XML and CSV from its execution data and
//! every class file of the JDK. Measured are the CPU time of the whole process, interleaved, its duration, and its peak
//! memory.

use crate::bench::figures::{Cost, Figure};
use crate::bench::usage::{self, Usage};
use crate::bench::{folder, startup};
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, ensure};
use e2e_tests::corpus;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Reports of each tool
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

const BYTES_IN_MEGABYTE: f64 = 1e6;

/// Measures on each full JDK.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let jdks = jdks::measured()?.into_iter();
    // Each has its folder before the measurement begins, and no folder is removed in between: on ext4, files that are
    // created after others were removed take several times as long.
    let benches = jdks.map(|jdk| Bench::prepare(jdk, workspace));
    let benches: Vec<Bench> = benches.collect::<Result<_>>()?;
    let mut figures = Vec::new();
    for bench in &benches {
        let (rounds, jdk) = (options.rounds, &bench.jdk);
        say(format!("bench report: {rounds} rounds on {jdk}"));
        figures.extend(bench.measure(rounds)?);
    }
    for bench in &benches {
        std::fs::remove_dir_all(&bench.folder)?;
    }
    Ok(figures)
}

struct Bench {
    jdk: Jdk,
    command: PathBuf,
    jacoco: PathBuf,
    classes: PathBuf,
    recorded: PathBuf,
    folder: PathBuf,
}

impl Bench {
    /// Creates an empty folder, and records a run in it.
    fn prepare(jdk: Jdk, workspace: &Workspace) -> Result<Self> {
        let folder = folder::emptied(workspace, "report", &jdk)?;
        std::fs::create_dir_all(&folder)?;
        let bench = Self {
            command: workspace.product("classhook"),
            jacoco: setup::artifact(workspace, "jacoco-cli")?,
            classes: corpus::jdk_classes(&jdk),
            recorded: folder.join("jacoco.exec"),
            folder,
            jdk,
        };
        bench.record(workspace)?;
        Ok(bench)
    }

    fn record(&self, workspace: &Workspace) -> Result<()> {
        let agent = setup::artifact(workspace, "jacoco-agent")?;
        let sources = crate::demo::bank_sources(workspace, self.jdk.feature)?;
        let mut java = Command::new(self.jdk.tool("java"));
        java.env_remove("JAVA_TOOL_OPTIONS").arg(format!(
            "-javaagent:{}=destfile={}",
            agent.display(),
            self.recorded.display()
        ));
        java.args(startup::JAVAC).arg(self.folder.join("classes"));
        output_of(java.args(sources))?;
        Ok(())
    }

    fn measure(&self, rounds: u32) -> Result<Vec<Figure>> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let mut command = Command::new(&self.command);
            command.arg("report").arg(&self.recorded);
            ours.push(self.once(command, "--classes").context("Classhook")?);
            let mut command = Command::new(self.jdk.tool("java"));
            command.env_remove("JAVA_TOOL_OPTIONS").arg("-jar");
            command.arg(&self.jacoco).arg("report").arg(&self.recorded);
            theirs.push(self.once(command, "--classfiles").context("JaCoCo")?);
        }
        let figure = |what: &str, unit: &str, value: fn(&Usage) -> f64| Figure {
            bench: "report".to_owned(),
            jdk: self.jdk.feature,
            what: format!("HTML, XML and CSV of all classes of the JDK: {what}"),
            unit: unit.to_owned(),
            ours: Cost::of("Classhook", ours.iter().map(value)),
            peer: Cost::of("JaCoCo 0.8.15", theirs.iter().map(value)),
        };
        Ok(vec![
            figure("CPU time", "s", |used| used.cpu.as_secs_f64()),
            figure("time", "s", |used| used.wall.as_secs_f64()),
            figure("most memory", "MB", |used| {
                used.peak as f64 / BYTES_IN_MEGABYTE
            }),
        ])
    }

    /// Runs the command on the class files. A run without a report is an error.
    fn once(&self, mut command: Command, classes: &str) -> Result<Usage> {
        let output = folder::another(&self.folder)?;
        let file = |name: &str| output.join(name);
        command.arg(classes).arg(&self.classes);
        command.arg("--html").arg(file("html"));
        command.arg("--xml").arg(file("report.xml"));
        command.arg("--csv").arg(file("report.csv"));
        let used = usage::of(&mut command)?;
        for name in ["html/index.html", "report.xml", "report.csv"] {
            ensure!(is_filled(&file(name)), "it has written no {name}");
        }
        Ok(used)
    }
}

fn is_filled(file: &Path) -> bool {
    file.metadata().is_ok_and(|found| found.len() > 0)
}
