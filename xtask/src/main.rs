//! The project's tasks: `cargo xtask <task>`.
//!
//! Each task is a file of its own; this one only reads the command line.
//! A task says what it does in plain lines, one per step, and stops at the first step that fails.
//! Only [`setup`] uses the network.
//!
//! What it is not: part of the product.
//! Nothing here is needed to use Classhook, and nothing of the product depends on it.
//!
//! Start reading at [`ci`]: it is exactly what the CI runs.

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod bench;
mod ci;
mod corpus;
mod demo;
mod jdks;
mod maven_plugin;
mod metadata;
mod plugins;
mod runtime;
mod setup;
mod test;
mod tidy;
mod workspace;

use workspace::Workspace;

/// The tasks of this project.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Fetch what builds and tests need: the WebAssembly target, JVMs, test artifacts (uses the network)
    Setup(setup::Options),
    /// Build everything, then measure the bank example and javac with the coverage plugin
    Demo,
    /// Run every test (programs and corpora: the part of the day)
    Test(test::Options),
    /// Run exactly what the CI runs: fmt, clippy, tidy, doc, test
    Ci,
    /// Measure
    Bench(bench::Options),
    /// Build the plugins, precompile them and build the agent and the command around them
    Plugins,
    /// Build the Maven plugin into target/maven-repository, a folder in the layout of Maven's repositories
    MavenPlugin,
    /// Build the plugin of Gradle, against the installation in PATH, into the same folder
    GradlePlugin,
    /// Compile the runtime of classes instrumented before they run (needs a JDK 17)
    Runtime,
    /// Run the corpus tests on every class instead of the part of the day, and write docs/rewriter-corpus.csv and its summary in docs/rewriter.md
    Corpus,
    /// Check what a compiler does not: layers, circles among modules, sizes, unsafe, documentation links
    Tidy(tidy::Options),
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::find()?;
    match task {
        Task::Setup(options) => setup::run(&workspace, &options),
        Task::Demo => demo::run(&workspace),
        Task::Test(options) => test::run(&workspace, &options),
        Task::Ci => ci::run(&workspace),
        Task::Bench(options) => bench::run(&workspace, &options),
        Task::Plugins => plugins::run(&workspace),
        Task::MavenPlugin => maven_plugin::run(&workspace),
        Task::GradlePlugin => maven_plugin::run_for_gradle(&workspace),
        Task::Runtime => runtime::run(),
        Task::Corpus => corpus::run(&workspace),
        Task::Tidy(options) => tidy::run(&workspace, &options),
    }
}
