//! `classhook advice`: writes, checks and publishes advice in Java.

pub mod check;
pub mod jar;
pub mod new;

use clap::{Args, Subcommand};
use errors::Error;

const AFTER_HELP: &str = "\
Advice is a Java class with annotations, whose static methods run at the entry and exit of methods that a pattern
selects. `classhook run`, `attach` and `instrument` take it with --advice (docs/how-to/advice.md).

Examples:
  classhook advice new SlowCalls
  classhook advice check SlowCalls.java --classes app.jar
  classhook run --advice SlowCalls.java -- java -jar app.jar";

/// Writes, checks and publishes advice.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Advice {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a first source with advice
    New(new::New),
    /// List the places in classes where advice runs
    Check(check::Check),
    /// Write the jar of the annotations, for editors and builds
    Jar(jar::Jar),
}

impl Advice {
    /// Runs the command and returns the exit code.
    ///
    /// # Errors
    /// The problem that ended the command, with its exit code.
    pub fn run(&self) -> Result<u8, Error> {
        match &self.command {
            Command::New(new) => new.run(),
            Command::Check(check) => check.run(),
            Command::Jar(jar) => jar.run(),
        }
    }
}
