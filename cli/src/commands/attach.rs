//! `classhook attach`: the agent in a JVM that is running.

use std::ffi::OsString;

use attach::{AttachError, Attachment};
use clap::Args;
use control::Request;
use control::message::Change;

use super::reload::told;
use super::run::Plan;
use crate::agent::{Agent, unreached};
use crate::args::Settings;
use crate::launch;
use crate::problem::Problem;
use crate::show::show;

const AFTER_HELP: &str = "\
Classes that are loaded already are instrumented in one batch, later ones as they load.
What is recorded can be reported at any time: classhook report DIR.
The agent stays until the JVM ends or `classhook off PID` is said; if it is there already, it is given these settings.

JDK 21 and newer print a warning into the JVM's output when an agent is loaded late (JEP 451);
-XX:+EnableDynamicAgentLoading on its command line keeps it silent, and a later JDK will ask for it.

Examples:
  classhook ps
  classhook attach 4711 --select 'com.acme.**' --output /tmp/recorded
  classhook report /tmp/recorded --html /tmp/html";

/// What `Agent_OnAttach` returns when the agent is there: `JNI_EEXIST`.
const ALREADY_THERE: i32 = -5;

/// Loads the agent into a running JVM.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Attach {
    /// The JVM's process id; `classhook ps` lists them
    #[arg(value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pid: i32,
    /// A bundled plugin (coverage, patch, trace) or a component file (.wasm); may be repeated [default: coverage]
    #[arg(long = "plugin", value_name = "NAME|FILE")]
    pub plugins: Vec<OsString>,
    /// What the agent is told.
    #[command(flatten)]
    pub settings: Settings,
}

impl Attach {
    /// Attaches, loads, and says where it is recorded to; or gives the agent that is there these settings.
    ///
    /// # Errors
    /// If options or library are wrong (`H01xx` to `H04xx`, `H0601`), or the JVM cannot be reached (`H05xx`).
    pub fn run(&self) -> Result<u8, Problem> {
        let plan = Plan::new(&self.settings, &self.plugins, None)?;
        if let Ok(agent) = Agent::find(self.pid)? {
            return self.reload(agent);
        }
        load(self.pid, &plan)?;
        eprintln!(
            "classhook: attached to {}, recording to {}",
            self.pid,
            plan.output.display()
        );
        Ok(0)
    }

    fn reload(&self, mut agent: Agent) -> Result<u8, Problem> {
        if self.settings.output.is_some() {
            return Err(already_there()
                .with(
                    "found",
                    "it goes on recording where it does, and --output names another place",
                )
                .with(
                    "help",
                    "leave --output out to give it the other settings, or `classhook off` it first",
                ));
        }
        let options = Plan::change(&self.settings, &self.plugins)?;
        let change: Change = agent.ask_for(&Request::Reload { options })?;
        eprintln!(
            "classhook: the agent is in {} already; it has the new settings",
            self.pid
        );
        show(&told(&change))?;
        Ok(0)
    }
}

/// Loads the agent into a JVM that has none.
pub(crate) fn load(pid: i32, plan: &Plan) -> Result<(), Problem> {
    let library = launch::agent_library()?;
    let jvm = Attachment::open(pid).map_err(unreached)?;
    if !jvm.process().sees(&library) {
        return Err(other_root(pid));
    }
    let options = plan.options.to_text();
    jvm.load(&library, &options.to_string_lossy())
        .map_err(|error| match error {
            AttachError::AgentFailed(ALREADY_THERE) => already_there()
                .with(
                    "found",
                    "it was started with control=off, so it cannot be given other settings",
                )
                .with("help", "report what it records, or restart the JVM"),
            error => unreached(error),
        })
}

/// An agent is there, and what is asked for does not go with it.
pub(crate) fn already_there() -> Problem {
    Problem::user("H0608", "the agent is in this JVM already")
}

/// The library and the output folder are paths of this file system.
fn other_root(pid: i32) -> Problem {
    Problem::user(
        "H0607",
        format!("the JVM {pid} sees another file system than this command"),
    )
    .with(
        "found",
        "another root or mount namespace: a container, most likely",
    )
    .with(
        "help",
        "run classhook in that container, or copy it and libclasshook.so there first",
    )
}
