//! `classhook plugin run --watch`: rebuilds the plugin when its files change, and replaces it in the JVMs.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use agent_connection::agent::Agent;
use agent_connection::answers::failures_of;
use agent_connection::attached::{self, AttachedPlugin};
use agent_connection::decoded_answers;
use agent_launch::checked_options::CheckedOptions;
use agent_launch::precompiled::Precompiled;
use control::Request;
use control::message::{Change, Reset, Status};
use coverage_inputs::run_files;
use errors::Error;
use local_files::recording_jvm;
use plugin_projects::watched_files::WatchedFiles;
use standard_streams::show::{complain, say};
use trace::numbers::counted;

use super::loaded_plugin::LoadedPlugin;

/// Poll interval for the end of the command.
const TURN: Duration = Duration::from_millis(50);

/// Rebuilds the plugin and replaces it in the JVMs.
pub(super) struct Reloading<'a> {
    build: &'a (dyn Fn() -> Result<LoadedPlugin, Error> + Sync),
    watched: WatchedFiles,
    /// The plugin's name in the JVMs.
    name: String,
    digest: String,
}

impl<'a> Reloading<'a> {
    /// Creates the state for a `loaded` plugin, its watched files, and its build.
    pub fn new(
        build: &'a (dyn Fn() -> Result<LoadedPlugin, Error> + Sync),
        watched: WatchedFiles,
        loaded: &LoadedPlugin,
    ) -> Self {
        Self {
            build,
            watched,
            name: loaded.description.name.clone(),
            digest: loaded.description.digest.clone(),
        }
    }

    /// Replaces the plugin in a visited JVM until the end of the visit.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn stay(
        &mut self,
        visit: &mut AttachedPlugin,
        time: Option<Duration>,
    ) -> Result<(), Error> {
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
            let Some(loaded) = self.rebuilt() else {
                continue;
            };
            let pid = visit.pid();
            let exchanged =
                request(&loaded, pid).and_then(|(request, _code)| visit.exchange(&request));
            self.tell(pid, &loaded, exchanged);
        }
    }

    /// Replaces the plugin in the JVMs of a run until the command has ended.
    pub fn follow(&mut self, id: &str, output: &Path, ended: &AtomicBool) {
        while !ended.load(Ordering::Acquire) {
            thread::sleep(TURN);
            if !self.watched.has_changed() {
                continue;
            }
            let Some(loaded) = self.rebuilt() else {
                continue;
            };
            let mut jvms = jvms(id, output);
            if jvms.is_empty() {
                say(format_args!(
                    "`{}` is built; no JVM of the command is running",
                    self.name
                ));
                self.digest.clone_from(&loaded.description.digest);
            }
            for agent in &mut jvms {
                self.tell(agent.pid(), &loaded, exchange(agent, &loaded));
            }
        }
    }

    /// Rebuilds the plugin and returns it if it has changed. Otherwise prints the cause.
    fn rebuilt(&mut self) -> Option<LoadedPlugin> {
        let is_another = |loaded: &LoadedPlugin| loaded.description.digest != self.digest;
        match (self.build)() {
            Ok(loaded) if loaded.description.name != self.name => {
                say(format_args!(
                    "the plugin has the new name `{}`, and `{}` is unchanged; restart the command",
                    loaded.description.name, self.name
                ));
                None
            }
            Ok(loaded) if is_another(&loaded) => Some(loaded),
            Ok(_) => {
                say(format_args!("`{}` is built and unchanged", self.name));
                None
            }
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                say(format_args!("`{}` stays as it is", self.name));
                None
            }
        }
    }

    /// Prints the outcome of a reload.
    fn tell(&mut self, pid: i32, loaded: &LoadedPlugin, exchanged: Result<Change, Error>) {
        let name = &self.name;
        match exchanged.and_then(|change| decoded_answers::answer(&change)) {
            Ok(change) => {
                complain(failures_of(&change));
                say(format_args!(
                    "`{name}` is reloaded in {pid}: {} retransformed; its former data is reset",
                    counted(change.retransformed, "class")
                ));
                self.digest.clone_from(&loaded.description.digest);
            }
            Err(problem) => {
                complain(format_args!("{problem}\n"));
                say(format_args!("`{name}` stays as it is in {pid}"));
            }
        }
    }
}

/// Returns the request that replaces the plugin, with its compiled code.
fn request(loaded: &LoadedPlugin, pid: i32) -> Result<(Request, Precompiled), Error> {
    if loaded.settings.configuration().file.is_some() {
        return CheckedOptions::change(&loaded.settings, &loaded.plugins(), pid);
    }
    let code = Precompiled::for_plugin(&loaded.reference, pid)?;
    let request = attached::enable(&loaded.visitor, &loaded.settings, &code, pid)?;
    Ok((request, code))
}

/// Replaces the plugin in a JVM that the command started.
fn exchange(agent: &mut Agent, loaded: &LoadedPlugin) -> Result<Change, Error> {
    let (request, _code) = request(loaded, agent.pid())?;
    let change = agent.ask_patiently(&request)?;
    let plugin = Some(loaded.description.name.clone());
    let _: Reset = agent.ask_for(&Request::Reset { plugin })?;
    Ok(change)
}

/// Returns the reachable agents in the JVMs of a run.
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

/// Returns the process id of the JVM that writes a snapshot.
fn pid(file: &Path) -> Option<i32> {
    recording_jvm::jvm_of(file)?.pid.try_into().ok()
}
