//! A recording in a running JVM.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use attach::Process;
use control::Request;
use control::message::{NO_PLUGIN, Observation, Released, Status, is_observation};
use observations::{Recorded, Subscription};
use serde::de::DeserializeOwned;

use super::{deadlocks, recorded};
use crate::agent::{self, Agent, Found};
use crate::args::Settings;
use crate::attached::left_before;
use crate::checked_options::CheckedOptions;
use crate::holder;
use crate::passing_folder::PassingFolder;
use crate::problem::Problem;
use crate::relay::{RelayOptions, Sending, Which};
use crate::show::{self, complain};
use crate::until::{Interrupt, Until};

/// After this time a recording ends although this command is there but does not end it.
const LATE: Duration = Duration::from_secs(10);
/// How long the end of a JVM may take that has begun; and how often it is looked at.
const END_OF_A_JVM: Duration = Duration::from_secs(70);
const TURN: Duration = Duration::from_millis(20);
/// How long a JVM may go on that has ended its recording because it ends itself.
const LAST_OF_A_JVM: Duration = Duration::from_secs(3);
/// How often it is looked whether the recording is complete.
const LOOK: Duration = Duration::from_millis(200);

/// What a visit brought.
#[derive(Debug, Default)]
pub struct Visited {
    /// The recording.
    pub recordings: Vec<Recorded>,
    /// That the JVM did not answer at the end, or not everything was sent.
    pub problem: Option<Problem>,
    /// Whether somebody else has ended it, which was printed.
    pub is_partial: bool,
}

/// Records in the JVM `pid` for that time, or until a signal or its end, and leaves it as it was.
///
/// # Errors
/// If the JVM cannot be reached, another recording is under way there, it does not offer what is asked for (`H0419`), or
/// nothing was recorded.
pub fn record(
    pid: i32,
    mut settings: Settings,
    subscription: &Subscription,
    time: Option<Duration>,
    relay: &RelayOptions,
) -> Result<Visited, Problem> {
    let mut passing = PassingFolder::in_jvm(pid, &mut settings)?;
    // From here on there may be an agent, which a signal must not leave behind.
    let mut interrupt = Interrupt::new()?;
    let impatience = Interrupt::impatience()?;
    let (mut agent, is_guest) = enter(pid, &settings)?;
    drop(impatience);
    agent.lease(Some(&holder::observation()), time.map(|time| time + LATE))?;
    let (observed, sending) = match begin(&mut agent, subscription, relay) {
        Ok((file, sending)) => {
            let has_left = || agent.has_left();
            Until::new(time, &mut interrupt).wait("profiling", pid, &has_left);
            (Ok(file), sending)
        }
        Err(problem) => (Err(problem), None),
    };
    if observed.is_err() && is_guest {
        agent.lease(None, None)?; // a recording of somebody else, in the way of this one, goes on
        return observed.map(|_| Visited::default());
    }
    let released = agent.ask_patiently::<Released>(&Request::Release {
        plugin: holder::observation(),
    });
    let file = observed?;
    if released.is_err() {
        await_end(pid, &file); // which completes the recording
    }
    let unsent = sending.map_or(Ok(()), Sending::finish).err();
    let is_there = released.is_err() && is_alive(pid);
    let has_left = is_there && is_complete(&file);
    if has_left {
        complain(left_before(pid));
    }
    let goes_on = is_there && !has_left;
    if let (Some(passing), true) = (&mut passing, goes_on) {
        passing.leave();
    }
    let mut recorded = match (recorded::read(&file), &released) {
        (Ok(recorded), _) => recorded,
        (Err(_), Err(problem)) if goes_on => return Err(later(problem.clone(), &file)),
        (Err(_), Err(_)) => return Err(killed(pid)),
        (Err(problem), Ok(_)) => return Err(problem),
    };
    let deadlocks = named_deadlocks(pid, subscription, &mut recorded);
    if is_guest && !goes_on {
        let _ = fs::remove_file(&file); // the agent was there before, and keeps nothing of this command
    }
    if let (Some(passing), Ok(Released { stays: true, .. })) = (passing, &released) {
        passing.keep();
    }
    Ok(Visited {
        recordings: vec![recorded],
        problem: released
            .err()
            .filter(|_| goes_on)
            .map(|problem| later(Problem::partly(problem), &file))
            .or(unsent)
            .or(deadlocks),
        is_partial: has_left,
    })
}

/// Adds the deadlocks that the JVM names, also those from before. Returns the failure of a JVM that is still there.
fn named_deadlocks(
    pid: i32,
    subscription: &Subscription,
    recorded: &mut Recorded,
) -> Option<Problem> {
    let is_asked = subscription.monitors && is_alive(pid);
    let added = is_asked.then(|| deadlocks::add(pid, recorded))?;
    let problem = added.err().filter(|_| is_alive(pid))?;
    let note = "deadlocks from before the recording are not among those shown";
    Some(Problem::partly(problem).with("note", note))
}

fn is_alive(pid: i32) -> bool {
    Process::read(pid).is_ok_and(|process| process.is_alive())
}

/// Whether the agent has ended the recording.
fn is_complete(file: &Path) -> bool {
    recorded::read(file).is_ok_and(|recorded| recorded.complete)
}

/// Waits for the end of a JVM that has closed the connection; not of one that is stopped, and so does nothing, nor of one
/// that goes on although its recording is complete, as the agent was sent away.
fn await_end(pid: i32, file: &Path) {
    let begun = Instant::now();
    let is_ending = || Process::read(pid).is_ok_and(|it| it.is_alive() && !it.is_stopped());
    let mut next = begun;
    let mut completed: Option<Instant> = None;
    while is_ending() && begun.elapsed() < END_OF_A_JVM {
        if completed.is_some_and(|time| time.elapsed() >= LAST_OF_A_JVM) {
            return;
        }
        if completed.is_none() && next <= Instant::now() {
            next = Instant::now() + LOOK;
            completed = is_complete(file).then(Instant::now);
        }
        std::thread::sleep(TURN);
    }
}

/// A JVM that does not answer, but may complete its recording when it does.
fn later(problem: Problem, file: &Path) -> Problem {
    let file = show::path(file);
    let note = format!(
        "the agent completes the recording when the JVM goes on; `classhook profile {file}` shows it then"
    );
    problem.with("note", note)
}

/// A JVM that ended before its recording was written.
fn killed(pid: i32) -> Problem {
    let message = format!("nothing was recorded of {pid}: the JVM was killed");
    Problem::partial("H0610", message).with("found", "a recording is written every 5 seconds")
}

/// Asks the agent in the JVM `pid` something; one that is loaded for it leaves again.
///
/// # Errors
/// If the JVM cannot be reached, or the agent refuses.
pub fn ask<T: DeserializeOwned>(pid: i32, request: &Request) -> Result<T, Problem> {
    let mut settings = Settings::default();
    let passing = PassingFolder::in_jvm(pid, &mut settings)?;
    let mut agent = loop {
        let (mut agent, is_guest) = enter(pid, &settings)?;
        if !is_guest {
            break agent;
        }
        let answer = agent.ask_patiently(request);
        // An agent that leaves with the command that had loaded it answers nobody.
        match answer {
            Err(problem) if agent.leaves(&problem) => {}
            answer => return answer,
        }
    };
    agent.lease(Some(&holder::observation()), None)?;
    let answer = agent.ask_patiently(request);
    let released = agent.ask_patiently::<Released>(&Request::Release {
        plugin: holder::observation(),
    });
    if let (Some(passing), Ok(Released { stays: true, .. })) = (passing, &released) {
        passing.keep();
    }
    answer.and_then(|answer| released.map(|_| answer))
}

/// The agent in the JVM, which is loaded if it is not there; whether it was.
fn enter(pid: i32, settings: &Settings) -> Result<(Agent, bool), Problem> {
    let mut checked = CheckedOptions::new(settings, &[NO_PLUGIN.into()], None)?;
    checked.options.visit = Some(holder::observation());
    let Found { agent, guest, .. } = agent::find_or_load(pid, &checked)?;
    if guest && settings.names_output() {
        return Err(agent::already_there()
            .with("found", "--output, which is a setting of the whole agent")
            .with(
                "help",
                "leave it out, and name files for what is to be kept",
            ));
    }
    Ok((agent, guest))
}

/// Begins to record, and to send that; the file, as this process sees it.
fn begin(
    agent: &mut Agent,
    subscription: &Subscription,
    relay: &RelayOptions,
) -> Result<(PathBuf, Option<Sending>), Problem> {
    let observation = agent.ask_for::<Observation>(&Request::Observe {
        subscription: subscription.to_string(),
        holder: Some(holder::observation()),
    });
    let observation = match observation {
        Ok(observation) => observation,
        Err(problem) => return Err(explained(problem, subscription, agent)),
    };
    // The folder: the file is not there yet, and the process may be gone when it is.
    let theirs = Path::new(&observation.file);
    let folder = theirs.parent().unwrap_or(Path::new("/"));
    let folder = agent.path(&folder.to_string_lossy());
    let name = theirs.file_name().unwrap_or_default();
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let sending = relay.start(&folder, Which::Jvm(&stem.to_string_lossy()))?;
    Ok((folder.join(name), sending))
}

/// A refusal with what to do about it.
fn explained(problem: Problem, subscription: &Subscription, agent: &mut Agent) -> Problem {
    let text = problem.to_string();
    if subscription.exceptions && text.contains("exception") {
        return problem.with("help", "a JVM gives exceptions to agents that it was started with: classhook profile --exceptions -- java …");
    }
    if !text.contains("another recording") {
        return problem;
    }
    let problem = match agent.ask_for::<Status>(&Request::Status) {
        Ok(status) => holder::named(problem, &status.holders, is_observation),
        Err(_) => problem,
    };
    problem.with("help", "wait for the end of the other `classhook profile`, or end it with Ctrl-C; --cpu, --wall, --alloc, --monitor, --jni-refs and --gc go together in one")
}
