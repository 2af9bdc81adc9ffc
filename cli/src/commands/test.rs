//! `classhook test`: a test begins or ends in a running JVM.

use clap::Args;
use control::Request;
use control::message::Test as Answer;

use crate::args::Target;
use crate::problem::Problem;

const AFTER_HELP: &str = "\
For tests that no framework runs in the JVM: of a server by requests, or by hand.
What is executed until --end belongs to the test, and to others that are under way at the same time.
Tests of JUnit's platform are told from one another by classhook-tests.jar (docs/coverage.md).

Examples:
  classhook test 4711 'log in'
  classhook test 4711 'log in' --end && classhook dump 4711 --to now.hook
  classhook tests-for com/acme/Login.java:42 now.hook";

/// Says that a test begins or ends in a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Test {
    /// Whom to tell.
    #[command(flatten)]
    pub target: Target,
    /// What the test is called
    #[arg(value_name = "NAME")]
    pub name: String,
    /// It ends
    #[arg(long)]
    pub end: bool,
}

impl Test {
    /// Tells, and prints which tests are under way.
    ///
    /// # Errors
    /// If there is no agent to tell, or a test ends that has not begun (`H0709`).
    pub fn run(&self) -> Result<u8, Problem> {
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
