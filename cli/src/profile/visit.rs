//! A recording in a running JVM.

use std::fs;
use std::path::Path;
use std::time::Duration;

use attach::Process;
use control::Request;
use control::message::{NO_PLUGIN, OBSERVATION, Observation, Released};
use observations::{Recorded, Subscription};

use super::recorded;
use crate::agent::{self, Agent};
use crate::args::Settings;
use crate::checked_options::CheckedOptions;
use crate::passing_folder::PassingFolder;
use crate::problem::Problem;
use crate::until::{Interrupt, Until};

/// After this time a recording ends although this command is there but does not end it.
const LATE: Duration = Duration::from_secs(10);

/// What a visit brought.
#[derive(Debug)]
pub struct Visited {
    /// The recording.
    pub recordings: Vec<Recorded>,
    /// That the JVM did not answer at the end.
    pub unanswered: Option<Problem>,
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
) -> Result<Visited, Problem> {
    let keeps = settings.output.is_some();
    let passing = PassingFolder::in_jvm(pid, &mut settings)?;
    let mut agent = enter(pid, &settings)?;
    agent.lease(Some(OBSERVATION), time.map(|time| time + LATE))?;
    let mut interrupt = Interrupt::new()?;
    let observed = observe(pid, &mut agent, subscription, time, &mut interrupt);
    // A recording of somebody else, in the way of this one, goes on.
    if let Err(problem) = &observed
        && problem.code() == "H0419"
        && passing.is_none()
    {
        agent.lease(None, None)?;
        return Err(problem.clone());
    }
    let released = agent.ask_patiently::<Released>(&Request::Release {
        plugin: OBSERVATION.to_owned(),
    });
    let file = observed?;
    let recorded = recorded::read(&file);
    if passing.is_none() && !keeps {
        let _ = fs::remove_file(&file); // the agent was there before, and keeps nothing of this command
    }
    let recorded = match (recorded, &released) {
        (Ok(recorded), _) => recorded,
        (Err(_), Err(_)) if !is_alive(pid) => return Err(killed(pid)),
        (Err(_), Err(problem)) => return Err(problem.clone()),
        (Err(problem), Ok(_)) => return Err(problem),
    };
    if let (Some(passing), Ok(Released { stays: true, .. })) = (passing, &released) {
        passing.keep();
    }
    Ok(Visited {
        recordings: vec![recorded],
        unanswered: released
            .err()
            .filter(|_| is_alive(pid))
            .map(Problem::partly),
    })
}

fn is_alive(pid: i32) -> bool {
    Process::read(pid).is_ok_and(|process| process.is_alive())
}

/// A JVM that ended before its recording was written.
fn killed(pid: i32) -> Problem {
    let message = format!("nothing was recorded of {pid}: the JVM was killed");
    Problem::partial("H0610", message).with("found", "a recording is written every 5 seconds")
}

/// The agent in the JVM, which is loaded if it is not there.
fn enter(pid: i32, settings: &Settings) -> Result<Agent, Problem> {
    match Agent::find(pid)? {
        Ok(_) if settings.output.is_some() => Err(agent::already_there()
            .with("found", "--output, which is a setting of the whole agent")
            .with(
                "help",
                "leave it out, and name files for what is to be kept",
            )),
        Ok(agent) => Ok(agent),
        Err(_) => {
            let mut checked = CheckedOptions::new(settings, &[NO_PLUGIN.into()], None)?;
            checked.options.visit = Some(OBSERVATION.to_owned());
            agent::load(pid, &checked)?;
            Agent::connect(pid)
        }
    }
}

/// Records until it is time; the file, as this process sees it.
fn observe(
    pid: i32,
    agent: &mut Agent,
    subscription: &Subscription,
    time: Option<Duration>,
    interrupt: &mut Interrupt,
) -> Result<std::path::PathBuf, Problem> {
    let observation: Observation = agent
        .ask_for(&Request::Observe {
            subscription: subscription.to_string(),
        })
        .map_err(|problem| explained(problem, subscription))?;
    let file = agent.path(&observation.file);
    let has_left = || agent.has_left();
    Until::new(time, interrupt).wait("profiling", pid, &has_left);
    Ok(Path::new(&file).to_owned())
}

/// A refusal with what to do about it.
fn explained(problem: Problem, subscription: &Subscription) -> Problem {
    let from_the_start = subscription.exceptions && problem.to_string().contains("exception");
    match from_the_start {
        true => problem.with("help", "a JVM gives exceptions to agents that it was started with: classhook profile --exceptions -- java …"),
        false => problem,
    }
}
