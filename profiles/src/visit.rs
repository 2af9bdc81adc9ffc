//! A recording in a running JVM.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_connection::agent::{self, Agent, ConnectedAgent};
use agent_connection::attached::left_before;
use agent_connection::holder;
use agent_connection::interrupt::{Interrupt, TimedWait};
use agent_connection::temp_output::TempOutput;
use agent_launch::checked_options::CheckedOptions;
use agent_launch::settings::Settings;
use attach::Process;
use control::Request;
use control::message::{JvmEventsFile, NO_PLUGIN, Released, Status, is_recording};
use errors::{Error, codes};
use jvm_events::{Recorded, Subscription};
use relay::sending::{Receiver, Sending, SentFiles};
use serde::de::DeserializeOwned;
use standard_streams::show::{self, complain};

use crate::{deadlocks, recorded};

/// Margin of the lease beyond the requested time.
const LEASE_MARGIN: Duration = Duration::from_secs(10);
/// Limit for the exit of a JVM that has begun to end.
const JVM_EXIT: Duration = Duration::from_secs(70);
/// Poll interval for this exit.
const EXIT_POLL: Duration = Duration::from_millis(20);
/// Limit for the exit of a JVM after the end of its recording.
const EXIT_AFTER_RECORDING: Duration = Duration::from_secs(3);
/// Poll interval for the end of the recording.
const RECORDING_POLL: Duration = Duration::from_millis(200);

/// The outcome of a recording visit.
#[derive(Debug, Default)]
pub struct RecordedVisit {
    /// The recording.
    pub recordings: Vec<Recorded>,
    /// The problem of a JVM that did not answer at the end, or of an incomplete transfer.
    pub problem: Option<Error>,
    /// Another command ended the recording. A warning was printed.
    pub is_partial: bool,
}

/// Records in the JVM `pid` for this time, or until a signal or its end. The agent then leaves.
///
/// # Errors
/// If the JVM cannot be reached, has another recording, does not offer an event (`H0419`), or recorded nothing.
pub fn record(
    pid: i32,
    mut settings: Settings,
    subscription: &Subscription,
    time: Option<Duration>,
    relay: &Receiver,
) -> Result<RecordedVisit, Error> {
    let mut passing = TempOutput::in_jvm(pid, &mut settings)?;
    // From here on an agent may exist, which a signal must not leave behind.
    let mut interrupt = Interrupt::new()?;
    let second_signal = Interrupt::exit_on_second_signal()?;
    let (mut agent, is_guest) = enter(pid, &settings)?;
    drop(second_signal);
    agent.lease(
        Some(&holder::recording()),
        time.map(|time| time + LEASE_MARGIN),
    )?;
    let (begun, sending) = match begin(&mut agent, subscription, relay) {
        Ok((file, sending)) => {
            let has_left = || agent.has_left();
            TimedWait::new(time, &mut interrupt).wait("profiling", pid, &has_left);
            (Ok(file), sending)
        }
        Err(problem) => (Err(problem), None),
    };
    if begun.is_err() && is_guest {
        agent.lease(None, None)?; // the recording of another command continues
        return begun.map(|_| RecordedVisit::default());
    }
    let released = agent.ask_patiently::<Released>(&Request::Release {
        plugin: holder::recording(),
    });
    let file = begun?;
    if released.is_err() {
        await_end(pid, &file); // the ending JVM completes the recording
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
        let _ = fs::remove_file(&file); // a present agent keeps no file of this command
    }
    if let (Some(passing), Ok(Released { stays: true, .. })) = (passing, &released) {
        passing.keep();
    }
    Ok(RecordedVisit {
        recordings: vec![recorded],
        problem: released
            .err()
            .filter(|_| goes_on)
            .map(|problem| later(Error::partly(problem), &file))
            .or(unsent)
            .or(deadlocks),
        is_partial: has_left,
    })
}

/// Adds the deadlocks of the thread dump, including earlier ones. Returns the failure of a JVM that still runs.
fn named_deadlocks(
    pid: i32,
    subscription: &Subscription,
    recorded: &mut Recorded,
) -> Option<Error> {
    let is_asked = subscription.monitors && is_alive(pid);
    let added = is_asked.then(|| deadlocks::add(pid, recorded))?;
    let problem = added.err().filter(|_| is_alive(pid))?;
    let note = "deadlocks from before the recording are not among those shown";
    Some(Error::partly(problem).with("note", note))
}

fn is_alive(pid: i32) -> bool {
    Process::read(pid).is_ok_and(|process| process.is_alive())
}

/// Checks whether the agent has completed the recording.
fn is_complete(file: &Path) -> bool {
    recorded::read(file).is_ok_and(|recorded| recorded.complete)
}

/// Waits for the exit of a JVM that has closed the connection. Does not wait for a stopped JVM, or for one that
/// continues without its agent after a complete recording.
fn await_end(pid: i32, file: &Path) {
    let begun = Instant::now();
    let is_ending = || Process::read(pid).is_ok_and(|it| it.is_alive() && !it.is_stopped());
    let mut next = begun;
    let mut completed: Option<Instant> = None;
    while is_ending() && begun.elapsed() < JVM_EXIT {
        if completed.is_some_and(|time| time.elapsed() >= EXIT_AFTER_RECORDING) {
            return;
        }
        if completed.is_none() && next <= Instant::now() {
            next = Instant::now() + RECORDING_POLL;
            completed = is_complete(file).then(Instant::now);
        }
        std::thread::sleep(EXIT_POLL);
    }
}

/// Adds a note to the problem of a JVM that does not answer but may complete its recording later.
fn later(problem: Error, file: &Path) -> Error {
    let file = show::path(file);
    let note = format!(
        "the agent completes the recording when the JVM continues; `classhook profile {file}` then shows it"
    );
    problem.with("note", note)
}

/// Returns the problem of a JVM that ended before its recording was written.
fn killed(pid: i32) -> Error {
    let message = format!("no recording of {pid}: the JVM was killed");
    Error::partial(codes::H0610, message).with("found", "a recording is written every 5 seconds")
}

/// Sends a request to the agent in the JVM `pid`. An agent that was loaded for it leaves again.
///
/// # Errors
/// If the JVM cannot be reached, or the agent refuses.
pub fn ask<T: DeserializeOwned>(pid: i32, request: &Request) -> Result<T, Error> {
    let mut settings = Settings::default();
    let passing = TempOutput::in_jvm(pid, &mut settings)?;
    let mut agent = loop {
        let (mut agent, is_guest) = enter(pid, &settings)?;
        if !is_guest {
            break agent;
        }
        let answer = agent.ask_patiently(request);
        // An agent that ends with the command that had loaded it does not answer.
        match answer {
            Err(problem) if agent.leaves(&problem) => {}
            answer => return answer,
        }
    };
    agent.lease(Some(&holder::recording()), None)?;
    let answer = agent.ask_patiently(request);
    let released = agent.ask_patiently::<Released>(&Request::Release {
        plugin: holder::recording(),
    });
    if let (Some(passing), Ok(Released { stays: true, .. })) = (passing, &released) {
        passing.keep();
    }
    answer.and_then(|answer| released.map(|_| answer))
}

/// Returns the agent in the JVM, loaded if necessary, and whether it was present.
fn enter(pid: i32, settings: &Settings) -> Result<(Agent, bool), Error> {
    let mut checked = CheckedOptions::new(settings, &[NO_PLUGIN.into()], None)?;
    checked.options.visit = Some(holder::recording());
    let ConnectedAgent { agent, guest, .. } = agent::find_or_load(pid, &checked)?;
    if guest && settings.names_output() {
        return Err(agent::already_there()
            .with("found", "--output, which is a setting of the whole agent")
            .with("help", "leave it out, and select output files"));
    }
    Ok((agent, guest))
}

/// Starts the recording and its transfer. Returns the path of the file for this process.
fn begin(
    agent: &mut Agent,
    subscription: &Subscription,
    relay: &Receiver,
) -> Result<(PathBuf, Option<Sending>), Error> {
    let answer = agent.ask_for::<JvmEventsFile>(&Request::RecordJvmEvents {
        subscription: subscription.to_string(),
        holder: Some(holder::recording()),
    });
    let answer = match answer {
        Ok(answer) => answer,
        Err(problem) => return Err(explained(problem, subscription, agent)),
    };
    // The folder is resolved now: the file does not exist yet, and later the process may be gone.
    let theirs = Path::new(&answer.file);
    let folder = theirs.parent().unwrap_or(Path::new("/"));
    let folder = agent.path(&folder.to_string_lossy());
    let name = theirs.file_name().unwrap_or_default();
    let stem = Path::new(name).file_stem().unwrap_or_default();
    let sending = relay.start(&folder, SentFiles::Jvm(&stem.to_string_lossy()))?;
    Ok((folder.join(name), sending))
}

/// Adds advice to a refusal.
fn explained(problem: Error, subscription: &Subscription, agent: &mut Agent) -> Error {
    let text = problem.to_string();
    if subscription.exceptions && text.contains("exception") {
        return problem.with("help", "start the JVM with the agent, since only then it reports exceptions: classhook profile --exceptions -- java …");
    }
    if !text.contains("another recording") {
        return problem;
    }
    let problem = match agent.ask_for::<Status>(&Request::Status) {
        Ok(status) => holder::named(problem, &status.holders, is_recording),
        Err(_) => problem,
    };
    problem.with("help", "wait for the end of the other `classhook profile`, or end it with Ctrl-C; one recording can combine --cpu, --wall, --alloc, --monitor, --jni-refs and --gc")
}
