//! `classhook test`: marks the start or end of a test in a running JVM.

use clap::Args;
use control::Request;
use control::message::Test as Answer;
use errors::Error;

use crate::args::Target;

const AFTER_HELP: &str = "\
Use this for tests that no framework runs in the JVM: tests of a server by requests, or by hand.
Code executed until --end counts for the test, and for other tests that run at the same time.
For the JUnit Platform, classhook-tests.jar separates the tests (docs/how-to/tests.md).

Examples:
  classhook test 4711 'log in'
  classhook test 4711 'log in' --end && classhook dump 4711 --to now.hook
  classhook tests-for com/acme/Login.java:42 now.hook";

/// Marks the start or end of a test in a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Test {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Start the test with this name
    #[arg(value_name = "NAME")]
    pub name: String,
    /// End the test
    #[arg(long)]
    pub end: bool,
}

impl Test {
    /// Sends the mark, and prints the running tests.
    ///
    /// # Errors
    /// If the JVM has no agent, or the test to end has not begun (`H0709`).
    pub fn run(&self) -> Result<u8, Error> {
        let request = Request::Test {
            name: self.name.clone(),
            ends: self.end,
        };
        self.target.answer(&request, |answer: &Answer| {
            match answer.under_way.as_slice() {
                [] => "no test is under way\n".to_owned(),
                tests => format!("under way: {}\n", tests.join(", ")),
            }
        })
    }
}
