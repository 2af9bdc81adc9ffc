//! Tracing a running JVM for a while, and leaving it as it was.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use control::Request;
use control::message::{Change, Dump, Off, Status};
use probes::events;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{Trace, of_run};
use crate::agent::Agent;
use crate::commands::attach;
use crate::commands::run::Plan;
use crate::inputs::recordings;
use crate::problem::Problem;
use crate::warnings::Warnings;

const PLUGIN: &str = "trace";
/// How often to look whether the JVM is still there.
const LOOK: Duration = Duration::from_millis(200);

/// Traces the JVM until the time is up, somebody interrupts, or it ends.
pub(super) fn trace(
    what: &Trace,
    pid: i32,
    run: &str,
    warnings: &mut Warnings,
) -> Result<Vec<events::Trace>, Problem> {
    let interest = Interest::watch()?; // before anything is changed, so that no key is missed
    match Agent::find(pid)? {
        Ok(agent) => as_guest(what, agent, pid, interest, warnings),
        Err(_) => as_owner(what, pid, run, interest, warnings),
    }
}

/// No agent is there: ours comes, and leaves again.
fn as_owner(
    what: &Trace,
    pid: i32,
    run: &str,
    interest: Interest,
    warnings: &mut Warnings,
) -> Result<Vec<events::Trace>, Problem> {
    let plan = what.plan(run)?;
    attach::load(pid, &plan)?;
    interest.wait(pid, what.time);
    match Agent::find(pid) {
        Ok(Ok(mut agent)) => {
            let left: Off = agent.ask_for(&Request::Off)?;
            let folder = folder_of(&agent.path(&left.snapshot));
            of_run(run, &folder, warnings)
        }
        _ => of_run(run, &plan.output, warnings), // the JVM ended before we did
    }
}

/// An agent is there: it traces for us, and goes on with what it did before.
fn as_guest(
    what: &Trace,
    mut agent: Agent,
    pid: i32,
    interest: Interest,
    warnings: &mut Warnings,
) -> Result<Vec<events::Trace>, Problem> {
    if what.settings.output.is_some() || what.settings.config.is_some() {
        return Err(Problem::user("H0608", "the agent is in this JVM already")
            .with(
                "found",
                "it goes on recording where it does, with the configuration that it has",
            )
            .with(
                "help",
                "leave --output and --config out, or `classhook off` it first",
            ));
    }
    let status: Status = agent.ask_for(&Request::Status)?;
    let plugin = PLUGIN.to_owned();
    if status.plugins.iter().any(|known| known.name == PLUGIN) {
        let plugin = Some(plugin.clone());
        agent.ask(&Request::Reset { plugin })?; // what an earlier trace left is in no table of ours
    }
    let options = Some(Plan::change(&what.configured()?, &[])?);
    let _: Change = agent.ask_for(&Request::Enable {
        plugin: plugin.clone(),
        options,
    })?;
    let snapshot = agent.path(&status.snapshot);
    interest.wait(pid, what.time);
    if let Ok(Ok(mut agent)) = Agent::find(pid) {
        agent.ask(&Request::Disable { plugin })?;
        let _: Dump = agent.ask_for(&Request::Dump)?;
    }
    beside(&snapshot, warnings)
}

/// The event file of the agent that writes this snapshot.
fn beside(snapshot: &Path, warnings: &mut Warnings) -> Result<Vec<events::Trace>, Problem> {
    let meta = probes::Meta::read(snapshot).map_err(|error| {
        Problem::user("H0611", format!("cannot read {}", snapshot.display()))
            .with("found", error.to_string())
    })?;
    let mut traces = Vec::new();
    for path in recordings::in_folder(&folder_of(snapshot))? {
        if path
            .extension()
            .is_some_and(|extension| extension == "events")
            && let Some(trace) = recordings::read_events(&path, &mut Warnings::default())?
            && (trace.meta.pid, trace.meta.start_ms) == (meta.pid, meta.start_ms)
        {
            if trace.truncated {
                recordings::read_events(&path, warnings)?;
            }
            traces.push(trace);
        }
    }
    Ok(traces)
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().unwrap_or(Path::new(".")).to_owned()
}

/// What ends a trace before its time.
struct Interest {
    interrupted: mpsc::Receiver<()>,
}

impl Interest {
    /// From now on Ctrl-C and SIGTERM are noticed.
    fn watch() -> Result<Self, Problem> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| {
            Problem::ours("H0647", "no threads or signal handlers can be had")
                .with("found", error.to_string())
        })?;
        let (send, interrupted) = mpsc::channel();
        thread::spawn(move || {
            if signals.forever().next().is_some() {
                send.send(()).ok(); // nobody may wait any more
            }
        });
        Ok(Self { interrupted })
    }

    /// Until the time is up, somebody interrupts, or the JVM has ended.
    fn wait(self, pid: i32, time: Option<Duration>) {
        match time {
            Some(time) => {
                eprintln!("classhook: tracing {pid} for {time:?}; Ctrl-C ends it earlier");
            }
            None => eprintln!("classhook: tracing {pid}; Ctrl-C ends it"),
        }
        let started = Instant::now();
        let process = PathBuf::from(format!("/proc/{pid}"));
        loop {
            let left = time.map_or(LOOK, |time| time.saturating_sub(started.elapsed()));
            let interrupted = self.interrupted.recv_timeout(left.min(LOOK)).is_ok();
            if interrupted || left.is_zero() || !process.exists() {
                return;
            }
        }
    }
}
