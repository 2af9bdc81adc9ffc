//! `classhook plugin`: creates, builds, tests, runs and installs plugins.

pub mod add;
pub mod bench;
pub mod build;
pub mod inspect;
pub mod list;
mod loaded_plugin;
pub mod new;
mod reloading;
pub mod remove;
pub mod run;
pub mod test;

use clap::{Args, Subcommand};
use errors::Error;

const AFTER_HELP: &str = "\
A project is a Rust crate for the target wasm32-unknown-unknown, a C project for clang, a Python project for
componentize-py, or a JavaScript project for componentize-js.
If PLUGIN is a folder, its project is built first.

Examples:
  classhook plugin new call-counter
  classhook plugin test call-counter --classes app.jar
  classhook plugin run call-counter -- java -jar app.jar
  classhook plugin run call-counter 4711 --for 30s
  classhook plugin add https://example.com/sql-timer.wasm --grant probes";

/// Creates, builds, tests, runs and installs plugins.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Plugin {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create a project with an example plugin, its tests and the SDK
    New(new::New),
    /// Compile a project to a component
    Build(build::Build),
    /// Show the imports, exports and capabilities of a plugin
    Inspect(inspect::Inspect),
    /// Test a project and its component on classes
    Test(test::Test),
    /// Measure the time of a plugin for a class
    Bench(bench::Bench),
    /// Run a plugin in a command or a running JVM
    Run(Box<run::Run>),
    /// Add or update a plugin from a file, URL or registry
    Add(add::Add),
    /// Remove an added plugin from a project
    Remove(remove::Remove),
    /// List the available plugins
    List(list::List),
}

impl Plugin {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// The problem that ended the command, with its exit code.
    pub fn run(&self) -> Result<u8, Error> {
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
