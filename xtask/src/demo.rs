//! `cargo xtask demo`: measures an example program and javac with the bundled coverage plugin.
//!
//! On each full JDK found: (a) the bank of `examples/bank`, (b) javac compiling that bank, which covers the module
//! `jdk.compiler`.
//! Reports of the first JDK are in `target/demo/{bank,javac}/html`, those of each further JDK N in
//! `target/demo/jdk-N/`.

use crate::jdks::{self, Jdk};
use crate::workspace::{Workspace, output_of, say, step};
use crate::{plugins, setup};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sets up, builds, measures, and prints the paths of the reports.
pub fn run(workspace: &Workspace) -> Result<()> {
    setup::for_building(workspace)?;
    plugins::run_bundled(workspace)?;
    let jdks = jdks::full();
    if jdks.is_empty() {
        bail!(
            "expected a JDK of version 11 or newer with javac (JAVA_HOME, PATH, /usr/lib/jvm), found none; \
             on Debian: apt-get install openjdk-17-jdk-headless"
        );
    }
    let folder = workspace.target("demo");
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("failed to empty {}", folder.display()))?;
    }
    let mut reports = Vec::new();
    for (place, jdk) in jdks.iter().enumerate() {
        let folder = if place == 0 {
            folder.clone()
        } else {
            folder.join(format!("jdk-{}", jdk.feature))
        };
        let demo = Demo {
            workspace,
            jdk,
            folder,
        };
        reports.push((jdk, demo.bank()?));
        reports.push((jdk, demo.javac()?));
    }
    for (jdk, report) in reports {
        say(format!(
            "report with JDK {}: {}",
            jdk.feature,
            report.display()
        ));
    }
    Ok(())
}

/// Returns the bank's sources for a JDK of this version; a release without records has a class instead.
pub fn bank_sources(workspace: &Workspace, feature: u32) -> Result<Vec<PathBuf>> {
    let mut sources = Vec::new();
    for folder in bank_folders(workspace, feature) {
        let folder = folder.join("bank");
        let entries = std::fs::read_dir(&folder)
            .with_context(|| format!("failed to read {}", folder.display()))?;
        for entry in entries {
            sources.push(entry?.path());
        }
    }
    sources.sort();
    Ok(sources)
}

fn bank_folders(workspace: &Workspace, feature: u32) -> [PathBuf; 2] {
    let bank = workspace.root().join("examples/bank");
    let transfer = if feature >= 17 { "src-17" } else { "src-11" };
    [bank.join("src"), bank.join(transfer)]
}

struct Demo<'a> {
    workspace: &'a Workspace,
    jdk: &'a Jdk,
    folder: PathBuf,
}

impl Demo<'_> {
    /// Measures the coverage of the bank's fixed day.
    fn bank(&self) -> Result<PathBuf> {
        let classes = self.folder.join("bank/classes");
        std::fs::create_dir_all(&classes)?;
        let sources = bank_sources(self.workspace, self.jdk.feature)?;
        output_of(
            Command::new(self.jdk.tool("javac"))
                .args(["-g", "-d"])
                .arg(&classes)
                .args(&sources),
        )?;
        let mut command = self.coverage("bank");
        for folder in bank_folders(self.workspace, self.jdk.feature) {
            command.arg("--sources").arg(folder);
        }
        command
            .arg("--")
            .arg(self.jdk.tool("java"))
            .arg("-cp")
            .arg(&classes)
            .arg("bank.Main");
        self.measure("the bank", command, "bank")
    }

    /// Measures the coverage of the module `jdk.compiler` while it compiles the bank.
    fn javac(&self) -> Result<PathBuf> {
        let out = self.folder.join("javac/classes");
        std::fs::create_dir_all(&out)?;
        let mut command = self.coverage("javac");
        command.args(["--classes", "jrt:jdk.compiler"]);
        let sources = self.jdk.home.join("lib/src.zip");
        if sources.is_file() {
            command.arg("--sources").arg(sources);
        }
        command.arg("--").arg(self.jdk.tool("java"));
        command.args([
            "-m",
            "jdk.compiler/com.sun.tools.javac.Main",
            "-proc:none",
            "-d",
        ]);
        command
            .arg(&out)
            .args(bank_sources(self.workspace, self.jdk.feature)?);
        self.measure("javac compiling the bank", command, "javac")
    }

    fn coverage(&self, name: &str) -> Command {
        let folder = self.folder.join(name);
        let mut command = Command::new(self.workspace.product("classhook"));
        command.arg("coverage");
        command
            .arg("--output")
            .arg(&folder)
            .arg("--html")
            .arg(folder.join("html"));
        command
    }

    fn measure(&self, what: &str, mut command: Command, name: &str) -> Result<PathBuf> {
        step(&format!("measuring {what} on {}", self.jdk), &mut command)?;
        let report = self.folder.join(name).join("html/index.html");
        expect_file(&report)?;
        Ok(report)
    }
}

fn expect_file(file: &Path) -> Result<()> {
    if !file.is_file() {
        bail!("expected a report at {}, found none", file.display());
    }
    Ok(())
}
