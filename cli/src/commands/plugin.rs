//! `classhook plugin`: plugins of one's own.

pub mod add;
pub mod bench;
pub mod build;
pub mod inspect;
pub mod list;
pub mod new;
mod ready;
mod reloading;
pub mod remove;
pub mod run;
pub mod test;

use clap::{Args, Subcommand};

use crate::problem::Problem;

const AFTER_HELP: &str = "\
A project is a crate of Rust, which cargo compiles with the target wasm32-unknown-unknown, one in C for clang, one in
Python for componentize-py, or one in JavaScript for componentize-js.
Where PLUGIN is a folder, the project in it is built first.

Examples:
  classhook plugin new call-counter
  classhook plugin test call-counter --classes app.jar
  classhook plugin run call-counter -- java -jar app.jar
  classhook plugin run call-counter 4711 --for 30s
  classhook plugin add https://example.com/sql-timer.wasm --grant probes";

/// Makes, builds, tests and runs plugins.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Plugin {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a project with a plugin that counts calls, its tests, and the SDK
    New(new::New),
    /// Compile a project to a component
    Build(build::Build),
    /// Show what a plugin imports, needs and is
    Inspect(inspect::Inspect),
    /// Run a project's tests, then its component over classes
    Test(test::Test),
    /// Show what a plugin costs for a class
    Bench(bench::Bench),
    /// Run a command, or visit a running JVM, with a plugin, and show what it found
    Run(Box<run::Run>),
    /// Take a plugin from a file, a URL or a registry into a project, or update it
    Add(add::Add),
    /// Take a plugin that was added out of a project
    Remove(remove::Remove),
    /// List the plugins that are at hand
    List(list::List),
}

impl Plugin {
    /// Does what was asked for; the result is the exit code.
    ///
    /// # Errors
    /// What went wrong, and whose mistake it was.
    pub fn run(&self) -> Result<u8, Problem> {
        match &self.command {
            Command::New(new) => new.run(),
            Command::Build(build) => build.run(),
            Command::Inspect(inspect) => inspect.run(),
            Command::Test(test) => test.run(),
            Command::Bench(bench) => bench.run(),
            Command::Run(run) => run.run(),
            Command::Add(add) => add.run(),
            Command::Remove(remove) => remove.run(),
            Command::List(list) => list.run(),
        }
    }
}
