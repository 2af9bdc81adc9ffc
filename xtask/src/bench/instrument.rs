//! `cargo xtask bench instrument`: instrumenting files before they run, beside JaCoCo's command line.
//!
//! Every class file of a JDK, as files in folders, and one large jar. Measured is the CPU time of the whole process,
//! interleaved. JaCoCo's runs on the JDK of the row.

use crate::bench::figures::{Cost, Figure};
use crate::bench::{folder, usage};
use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, say};
use crate::{plugins, setup};
use anyhow::{Context, Result, ensure};
use e2e_tests::corpus;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Options of the measurement.
#[derive(clap::Args)]
pub struct Options {
    /// Runs of each tool
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// The artifact with the large jar.
const JAR: &str = "kotlin-compiler";

/// Measures on each full JDK.
pub fn run(workspace: &Workspace, options: &Options) -> Result<Vec<Figure>> {
    plugins::run(workspace)?;
    let mut benches = Vec::new();
    for jdk in jdks::measured()? {
        benches.push(Bench {
            command: workspace.product("classhook"),
            jacoco: setup::artifact(workspace, "jacoco-cli")?,
            folder: folder::emptied(workspace, "instrument", &jdk)?,
            jdk,
        });
    }
    let jar = setup::artifact(workspace, JAR)?;
    let mut figures = Vec::new();
    for bench in &benches {
        let (rounds, jdk) = (options.rounds, &bench.jdk);
        say(format!("bench instrument: {rounds} rounds on {jdk}"));
        let classes = corpus::jdk_classes(jdk);
        let what = "all class files of the JDK: instrument, CPU time";
        figures.push(bench.measure(what, &classes, rounds)?);
        let what = "the jar of the Kotlin compiler: instrument, CPU time";
        figures.push(bench.measure(what, &jar, rounds)?);
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
    folder: PathBuf,
}

impl Bench {
    fn measure(&self, what: &str, input: &Path, rounds: u32) -> Result<Figure> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..rounds {
            let output = folder::another(&self.folder)?;
            let mut command = Command::new(&self.command);
            command.args(["instrument", "--out"]).arg(&output);
            command.arg(input);
            ours.push(once(&mut command, &output).context("Classhook")?);
            let output = folder::another(&self.folder)?;
            let mut command = Command::new(self.jdk.tool("java"));
            command.env_remove("JAVA_TOOL_OPTIONS").arg("-jar");
            command.arg(&self.jacoco).args(["instrument", "--dest"]);
            command.arg(&output).arg(input);
            theirs.push(once(&mut command, &output).context("JaCoCo")?);
        }
        Ok(Figure {
            bench: "instrument".to_owned(),
            jdk: self.jdk.feature,
            what: what.to_owned(),
            unit: "s".to_owned(),
            ours: Cost::of("Classhook", ours),
            peer: Cost::of("JaCoCo 0.8.15", theirs),
        })
    }
}

/// Returns the CPU time of a run, in seconds. A run without output is an error.
fn once(command: &mut Command, output: &Path) -> Result<f64> {
    let used = usage::of(command)?;
    let mut left = std::fs::read_dir(output)?;
    ensure!(left.next().is_some(), "it has written nothing");
    Ok(used.cpu.as_secs_f64())
}
