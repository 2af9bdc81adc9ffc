//! `classhook plugin run --watch`: the plugin is built again when its files change, and takes the former one's place.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use control::Request;
use control::message::{Change, Reset, Status};
use trace::numbers::counted;

use super::ready::Ready;
use crate::agent::Agent;
use crate::answers::failures;
use crate::attached::{self, AttachedPlugin};
use crate::checked_options::CheckedOptions;
use crate::inputs::run_files;
use crate::plugin_project::watched::Watched;
use crate::precompiled::Precompiled;
use crate::problem::Problem;
use crate::show::{self, complain, say};

/// How often it is looked whether the command has ended.
const TURN: Duration = Duration::from_millis(50);

/// Builds the plugin again, and has it take the former one's place.
pub(super) struct Reloading<'a> {
    build: &'a (dyn Fn() -> Result<Ready, Problem> + Sync),
    watched: Watched,
    /// What JVMs are given.
    name: String,
    digest: String,
}

impl<'a> Reloading<'a> {
    /// Of the plugin that is `ready`, by what builds it from the files that are watched.
    pub fn new(
        build: &'a (dyn Fn() -> Result<Ready, Problem> + Sync),
        watched: Watched,
        ready: &Ready,
    ) -> Self {
        Self {
            build,
            watched,
            name: ready.description.name.clone(),
            digest: ready.description.digest.clone(),
        }
    }

    /// Stays with the JVM that is visited until the visit is over.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn stay(
        &mut self,
        visit: &mut AttachedPlugin,
        time: Option<Duration>,
    ) -> Result<(), Problem> {
        let end = time.and_then(|time| Instant::now().checked_add(time));
        loop {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return Ok(());
            }
            let (watched, changed) = (RefCell::new(&mut self.watched), Cell::new(false));
            visit.wait("visiting", left, &|| {
                changed.set(changed.get() || watched.borrow_mut().has_changed());
                changed.get()
            })?;
            if !changed.get() {
                return Ok(());
            }
            let Some(ready) = self.rebuilt() else {
                continue;
            };
            let pid = visit.pid();
            let exchanged =
                request(&ready, pid).and_then(|(request, _code)| visit.exchange(&request));
            self.tell(pid, &ready, exchanged);
        }
    }

    /// Follows the JVMs of a run until the command has ended.
    pub fn follow(&mut self, id: &str, output: &Path, ended: &AtomicBool) {
        while !ended.load(Ordering::Acquire) {
            thread::sleep(TURN);
            if !self.watched.has_changed() {
                continue;
            }
            let Some(ready) = self.rebuilt() else {
                continue;
            };
            let mut jvms = jvms(id, output);
            if jvms.is_empty() {
                say(format_args!(
                    "`{}` is built; no JVM of the command runs by now",
                    self.name
                ));
                self.digest.clone_from(&ready.description.digest);
            }
            for agent in &mut jvms {
                self.tell(agent.pid(), &ready, exchange(agent, &ready));
            }
        }
    }

    /// The plugin as it is now, if it is another one; else it is printed why not.
    fn rebuilt(&mut self) -> Option<Ready> {
        let is_another = |ready: &Ready| ready.description.digest != self.digest;
        match (self.build)() {
            Ok(ready) if ready.description.name != self.name => {
                say(format_args!(
                    "the plugin is called `{}` now, and `{}` stays as it is; start the command anew",
                    ready.description.name, self.name
                ));
                None
            }
            Ok(ready) if is_another(&ready) => Some(ready),
            Ok(_) => {
                say(format_args!(
                    "`{}` is built, and the same as before",
                    self.name
                ));
                None
            }
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                say(format_args!("`{}` stays as it is", self.name));
                None
            }
        }
    }

    /// Says what came of a reload.
    fn tell(&mut self, pid: i32, ready: &Ready, exchanged: Result<Change, Problem>) {
        let name = &self.name;
        match exchanged.and_then(|change| show::answer(&change)) {
            Ok(change) => {
                complain(failures(&change.failed));
                say(format_args!(
                    "`{name}` is reloaded in {pid}: {} retransformed; what it recorded before is forgotten",
                    counted(change.retransformed, "class")
                ));
                self.digest.clone_from(&ready.description.digest);
            }
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                say(format_args!("`{name}` stays as it is in {pid}"));
            }
        }
    }
}

/// What puts the plugin in the place of the former one, and the code that it names.
fn request(ready: &Ready, pid: i32) -> Result<(Request, Precompiled), Problem> {
    if ready.settings.configuration().file.is_some() {
        return CheckedOptions::change(&ready.settings, &ready.plugins(), pid);
    }
    let code = Precompiled::for_plugin(&ready.reference, pid)?;
    let request = attached::enable(&ready.visitor, &ready.settings, &code, pid)?;
    Ok((request, code))
}

/// In a JVM that the command started.
fn exchange(agent: &mut Agent, ready: &Ready) -> Result<Change, Problem> {
    let (request, _code) = request(ready, agent.pid())?;
    let change = agent.ask_patiently(&request)?;
    let plugin = Some(ready.description.name.clone());
    let _: Reset = agent.ask_for(&Request::Reset { plugin })?;
    Ok(change)
}

/// The agents in the JVMs of a run, as far as they can be spoken to.
fn jvms(id: &str, output: &Path) -> Vec<Agent> {
    let files = match output.is_dir() {
        true => run_files::in_folder(output).unwrap_or_default(),
        false => Vec::new(),
    };
    let mut pids: Vec<i32> = files.iter().filter_map(|file| pid(file)).collect();
    pids.sort_unstable();
    pids.dedup();
    let agents = pids
        .into_iter()
        .filter_map(|pid| Agent::find(pid).ok()?.ok());
    let of_run = |mut agent: Agent| {
        let status: Status = agent.ask_for(&Request::Status).ok()?;
        (status.run == id).then_some(agent)
    };
    agents.filter_map(of_run).collect()
}

/// The process that writes a snapshot.
fn pid(file: &Path) -> Option<i32> {
    run_files::jvm_of(file)?.pid.try_into().ok()
}
