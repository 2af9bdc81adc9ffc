//! `cargo xtask test`: every test, in one profile, binary after binary.
//!
//! Everything is built with the release profile, so that no dependency is compiled twice.
//! The crates that work on untrusted bytes are built a second time with overflow checks and debug assertions, and their
//! own tests run on that; with little optimisation, because most is built longer than it runs.

mod binaries;
mod timings;

use crate::workspace::{Workspace, say, step};
use crate::{jdks, metadata, plugins, setup};
use anyhow::{Result, bail};
use binaries::Binary;
use timings::Timings;

/// How to test.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Do not fetch anything: what a test needs and is not there fails that test
    #[arg(long)]
    pub offline: bool,
    /// Every program on every JDK found, and the corpora whole, instead of the part whose turn it is today
    #[arg(long)]
    pub all: bool,
    /// Say how long each test took: the slowest on the terminal, all of them in target/test-timings.tsv
    #[arg(long)]
    pub timings: bool,
}

/// What is tested with wasmtime below it, as it is handed out; all other crates are pure.
const AS_HANDED_OUT: [&str; 5] = ["plugin-code", "host", "hook-agent", "cli", "e2e-tests"];

/// What has wasmtime's own compiler below it, and is therefore built apart.
const COMPILER: &str = "plugin-compiler";

/// The agent's own tests are of small parts, and longer built than run; end to end it is tested as it is handed out.
const TESTED_ALONE: [&str; 2] = ["--config", "profile.release.package.hook-agent.opt-level=0"];

/// Sets up, builds and runs every test.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    if !options.offline {
        setup::run(workspace, &setup::Options::default())?;
    }
    plugins::run(workspace)?;
    for jdk in jdks::all() {
        say(format!("testing with {jdk}"));
    }
    let pure = pure_crates(workspace)?;
    let mut binaries = binaries::build(
        workspace,
        "the pure crates, checked",
        &pure,
        &checked(&pure),
    )?;
    let handed_out: Vec<String> = AS_HANDED_OUT.map(str::to_owned).into();
    binaries.extend(binaries::build(
        workspace,
        "host, agent, command, end to end",
        &handed_out,
        &TESTED_ALONE.map(str::to_owned),
    )?);
    binaries.extend(binaries::build(
        workspace,
        "the compiler of plugins",
        &[COMPILER.to_owned()],
        &[],
    )?);
    // The longest comes last, so that what failed of it stands at the end.
    binaries.sort_by_key(Binary::is_end_to_end);
    let documents = run_documents(workspace, &pure);
    let mut timings = options.timings.then(Timings::default);
    let mut failed = Vec::new();
    for binary in &binaries {
        if !run_one(workspace, binary, options, timings.as_mut())? {
            failed.push(binary.title());
        }
    }
    if let Some(timings) = timings {
        timings.report(workspace)?;
    }
    if !failed.is_empty() {
        bail!("tests failed in {}", failed.join(", "));
    }
    documents
}

/// Runs the examples in the documentation of these crates.
fn run_documents(workspace: &Workspace, crates: &[String]) -> Result<()> {
    let mut command = workspace.cargo(["test", "--quiet", "--release", "--doc", "--no-fail-fast"]);
    binaries::packages(&mut command, crates);
    command.args(checked(crates));
    step("examples in the documentation", &mut command)
}

/// Runs the tests of one binary; whether all passed.
fn run_one(
    workspace: &Workspace,
    binary: &Binary,
    options: &Options,
    timings: Option<&mut Timings>,
) -> Result<bool> {
    say(binary.title());
    let mut command = binary.command(workspace);
    if options.all {
        command.env("CLASSHOOK_ROTATION", "all");
    }
    match timings {
        Some(timings) => timings.run(binary, command),
        None => Ok(command.status()?.success()),
    }
}

/// Every crate of the workspace that needs no wasmtime, so that a new one is tested without being listed.
fn pure_crates(workspace: &Workspace) -> Result<Vec<String>> {
    let all = metadata::packages(workspace)?.into_iter();
    let names = all.map(|package| package.name);
    Ok(names
        .filter(|name| !AS_HANDED_OUT.contains(&name.as_str()) && name != COMPILER)
        .collect())
}

/// What a checked build of a crate has instead of the profile's own settings.
const CHECKED: [&str; 3] = [
    "overflow-checks=true",
    "debug-assertions=true",
    "codegen-units=16",
];

/// What runs longer than it is built: thousands of generated edits, and files of many megabytes.
const RUNS_LONG: [&str; 2] = ["rewriter", "probes"];

/// Arguments for cargo: arithmetic of these crates is checked for overflow; what they depend on stays as it is.
fn checked(crates: &[String]) -> Vec<String> {
    let mut arguments = Vec::new();
    for name in crates {
        let optimisation = match RUNS_LONG.contains(&name.as_str()) {
            true => "opt-level=1",
            false => "opt-level=0",
        };
        for setting in CHECKED.into_iter().chain([optimisation]) {
            arguments.push("--config".to_owned());
            arguments.push(format!("profile.release.package.{name}.{setting}"));
        }
    }
    arguments
}
