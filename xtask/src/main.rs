//! The project's tasks: `cargo xtask <task>`.
//!
//! Each task has a file of its own; this file only reads the command line.
//! A task prints one line for each step, and stops at the first step that fails.
//! Only [`setup`] uses the network.
//!
//! No user of Classhook needs these tasks, and no crate of the product depends on them.
//!
//! Start reading at [`ci`], which runs exactly the checks of the CI.

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod bench;
mod ci;
mod corpus;
mod demo;
mod dist;
mod docs;
mod guide;
mod jdks;
mod maven_plugin;
mod metadata;
mod nightly;
mod plugins;
mod release_check;
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
    /// Fetch the dependencies of builds and tests: the WebAssembly target, JVMs, test artifacts (uses the network)
    Setup(setup::Options),
    /// Build the product, then measure the bank example and javac with the coverage plugin
    Demo,
    /// Run every test, with a fixed part of the programs and corpora
    Test(test::Options),
    /// Run exactly the checks of the CI: fmt, clippy, tidy, doc, test
    Ci,
    /// Run every test, with another part of the programs and corpora each day
    Nightly(nightly::Options),
    /// Measure Classhook beside its peers
    Bench(bench::Options),
    /// Build the command and the agent, with the bundled plugins
    Build,
    /// Like build, and also build the plugins of the examples and the tests
    Plugins,
    /// Build the Maven plugin into target/maven-repository, in the layout of a Maven repository
    MavenPlugin,
    /// Build the Gradle plugin into the same folder, against the Gradle in PATH
    GradlePlugin,
    /// Build the files of a release into dist/, for every Linux (uses the network)
    Dist(dist::Options),
    /// Compare the versions in crates, changelog, documents and scripts
    ReleaseCheck(release_check::Options),
    /// Compile the classes in Java that the command carries (needs a JDK 17)
    Runtime,
    /// Run the corpus tests on every class, and write docs/rewriter-corpus.csv and its summary in docs/rewriter.md
    Corpus,
    /// Build the guide in target/book, check its links, and build the documentation of all crates in target/doc
    Docs,
    /// Check rules that no compiler checks: layers, circles among modules, sizes, unsafe code, links in documents
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
        Task::Nightly(options) => nightly::run(&workspace, &options),
        Task::Bench(options) => bench::run(&workspace, &options),
        Task::Build => plugins::run_bundled(&workspace),
        Task::Plugins => plugins::run(&workspace),
        Task::MavenPlugin => maven_plugin::run(&workspace),
        Task::GradlePlugin => maven_plugin::run_for_gradle(&workspace),
        Task::Dist(options) => dist::run(&workspace, &options),
        Task::ReleaseCheck(options) => release_check::run(&workspace, &options),
        Task::Runtime => runtime::run(),
        Task::Corpus => corpus::run(&workspace),
        Task::Docs => guide::run(&workspace).and_then(|()| docs::run(&workspace)),
        Task::Tidy(options) => tidy::run(&workspace, &options),
    }
}
