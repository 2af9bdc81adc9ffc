//! `cargo xtask test`: runs every test, in one profile, binary after binary.
//!
//! Everything is built with the release profile, so that no dependency is compiled twice.
//! Crates that read untrusted bytes are built a second time for their own tests, with overflow checks and debug
//! assertions.
//! That build optimises little, because most of these crates take longer to build than to run.

mod binaries;
mod timings;

use crate::workspace::{Workspace, say, step};
use crate::{jdks, metadata, plugins, setup};
use anyhow::{Result, bail};
use binaries::Binary;
use timings::Timings;

/// Options of the tests.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Do not fetch anything: a missing dependency of a test fails that test
    #[arg(long)]
    pub offline: bool,
    /// Run every program on every JDK found, and the whole corpora, instead of a fixed part
    #[arg(long)]
    pub all: bool,
    /// Take the part with this number, such as that of a nightly run, instead of the fixed part
    #[arg(long, value_name = "NUMBER", conflicts_with = "all")]
    pub part: Option<u64>,
    /// Print the time of each test: the slowest on the terminal, all of them in target/test-timings.tsv
    #[arg(long)]
    pub timings: bool,
}

impl Options {
    /// The value of `CLASSHOOK_ROTATION`, unless the tests take their fixed part.
    fn rotation(&self) -> Option<String> {
        match self.all {
            true => Some("all".to_owned()),
            false => self.part.map(|part| part.to_string()),
        }
    }
}

/// The crates that are tested as users get them, without overflow checks: those of the agent, and those of the command,
/// which holds wasmtime's compiler.
const OF_THE_AGENT: [&str; 3] = ["plugin-code", "host", "hook-agent"];
const OF_THE_COMMAND: [&str; 3] = ["plugin-compiler", "cli", "e2e-tests"];

/// The agent's unit tests take longer to build than to run. The end-to-end tests use the agent of the release profile.
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
    let others = other_crates(workspace)?;
    let mut binaries = binaries::build(
        workspace,
        "the other crates, checked",
        &others,
        &checked(&others),
    )?;
    binaries.extend(binaries::build(
        workspace,
        "host and agent",
        &OF_THE_AGENT.map(str::to_owned),
        &TESTED_ALONE.map(str::to_owned),
    )?);
    binaries.extend(binaries::build(
        workspace,
        "command and compiler, end to end",
        &OF_THE_COMMAND.map(str::to_owned),
        &[],
    )?);
    // The longest comes last, so that its failures are at the end of the output.
    binaries.sort_by_key(Binary::is_end_to_end);
    let documents = run_documents(workspace, &others);
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

/// Runs the doctests of these crates.
fn run_documents(workspace: &Workspace, crates: &[String]) -> Result<()> {
    let mut command = workspace.cargo(["test", "--quiet", "--release", "--doc", "--no-fail-fast"]);
    binaries::packages(&mut command, crates);
    command.args(checked(crates));
    step("examples in the documentation", &mut command)
}

/// Runs the tests of one binary. Returns whether all passed.
fn run_one(
    workspace: &Workspace,
    binary: &Binary,
    options: &Options,
    timings: Option<&mut Timings>,
) -> Result<bool> {
    say(binary.title());
    let mut command = binary.command(workspace);
    if let Some(rotation) = options.rotation() {
        command.env("CLASSHOOK_ROTATION", rotation);
    }
    match timings {
        Some(timings) => timings.run(binary, command),
        None => Ok(command.status()?.success()),
    }
}

/// Returns every crate of the workspace that is tested with overflow checks, so that a new crate is tested without being
/// listed.
fn other_crates(workspace: &Workspace) -> Result<Vec<String>> {
    let all = metadata::packages(workspace)?.into_iter();
    let names = all.map(|package| package.name);
    Ok(names
        .filter(|name| !OF_THE_AGENT.contains(&name.as_str()))
        .filter(|name| !OF_THE_COMMAND.contains(&name.as_str()))
        .collect())
}

/// Settings of a checked build, in place of the profile's own.
const CHECKED: [&str; 3] = [
    "overflow-checks=true",
    "debug-assertions=true",
    "codegen-units=16",
];

/// Crates whose tests run longer than they are built: thousands of generated edits, and files of many megabytes.
const RUNS_LONG: [&str; 2] = ["classhook-rewriter", "probes"];

/// Crates below the checked ones that have tests of their own elsewhere. They are only built here, so quickly.
const ONLY_BUILT: [&str; 3] = ["plugin-code", "host", "plugin-compiler"];

/// Returns cargo's arguments that turn on overflow checks in these crates and not in their dependencies.
fn checked(crates: &[String]) -> Vec<String> {
    let of_crate = |name: &str| {
        let optimisation = match RUNS_LONG.contains(&name) {
            true => "opt-level=1",
            false => "opt-level=0",
        };
        CHECKED
            .into_iter()
            .chain([optimisation])
            .flat_map(|setting| profile_setting(name, setting))
            .collect::<Vec<_>>()
    };
    let tested = crates.iter().flat_map(|name| of_crate(name));
    let below = ONLY_BUILT.into_iter().flat_map(|name| {
        ["codegen-units=16", "opt-level=0"]
            .into_iter()
            .flat_map(move |setting| profile_setting(name, setting))
    });
    tested.chain(below).collect()
}

/// Returns cargo's arguments that change a setting of the profile for one crate.
fn profile_setting(name: &str, setting: &str) -> [String; 2] {
    [
        "--config".to_owned(),
        format!("profile.release.package.{name}.{setting}"),
    ]
}
