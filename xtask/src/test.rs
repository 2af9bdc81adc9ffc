//! `cargo xtask test` and the packages behind it.
//!
//! The pure crates are tested with the dev profile, whose arithmetic is checked for overflow.
//! Everything that needs wasmtime is tested with the release profile, so that wasmtime is compiled once.

use crate::workspace::{Workspace, say, step};
use crate::{jdks, metadata, plugins, setup};
use anyhow::Result;

/// How to test.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Do not fetch anything: what a test needs and is not there fails that test
    #[arg(long)]
    pub offline: bool,
}

/// What is tested with wasmtime below it; all other crates are pure.
const WITH_HOST: [&str; 3] = ["host", "hook-agent", "cli"];
/// A real JVM per case.
const END_TO_END: &str = "e2e-tests";

/// Sets up, builds and runs every test.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if !options.offline {
        setup::run(workspace, &setup::Options::default())?;
    }
    plugins::run(workspace)?;
    tests(workspace)
}

/// Runs every test; of the corpora a fixed tenth.
fn tests(workspace: &Workspace) -> Result<()> {
    for jdk in jdks::all() {
        say(format!("testing with {jdk}"));
    }
    let mut pure = workspace.cargo(["test", "--quiet", "--no-fail-fast"]);
    packages(&mut pure, &pure_crates(workspace)?);
    step("tests of the pure crates", &mut pure)?;

    let mut host = workspace.cargo(["test", "--quiet", "--release", "--no-fail-fast"]);
    packages(&mut host, &WITH_HOST);
    step("tests of host, agent and command", &mut host)?;

    let mut end_to_end = workspace.cargo(["test", "--quiet", "--release", "--no-fail-fast"]);
    packages(&mut end_to_end, &[END_TO_END]);
    step("end-to-end tests, one JVM per case", &mut end_to_end)
}

/// Every crate of the workspace that needs no wasmtime, so that a new one is tested without being listed.
fn pure_crates(workspace: &Workspace) -> Result<Vec<String>> {
    let all = metadata::packages(workspace)?.into_iter();
    let names = all.map(|package| package.name);
    Ok(names
        .filter(|name| !WITH_HOST.contains(&name.as_str()) && name != END_TO_END)
        .collect())
}

fn packages(command: &mut std::process::Command, names: &[impl AsRef<str>]) {
    for name in names {
        command.args(["-p", name.as_ref()]);
    }
}
