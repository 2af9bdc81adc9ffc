//! A plugin attached to a running JVM for a while; the JVM's agent and plugins are restored afterwards, also if this
//! command is killed: the agent gives it a lease, which ends with the connection.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use attach::Process;
use control::Request;
use control::message::{
    Change, Dump, Holder, MethodRemark, PluginState, Released, Reset, SessionRequest, Status,
};

use crate::agent::{self, Agent, Found};
use crate::answers::failures;
use crate::application;
use crate::args::{PluginSettings, Settings};
use crate::checked_options::{CheckedOptions, absolute, check};
use crate::holder;
use crate::launch::AgentOptions;
use crate::metaspace;
use crate::precompiled::Precompiled;
use crate::problem::Problem;
use crate::progress;
use crate::show::{self, complain, say};
use crate::until::{Interrupt, Until};
use crate::warnings::Warning;
use crate::withheld::Withheld;

/// How much longer than asked for a plugin stays at most, if this command is stopped.
const LATE: Duration = Duration::from_secs(1);
/// How long the process of a JVM may stay after its agent has ended.
const END_OF_A_JVM: Duration = Duration::from_secs(3);
/// How often it is looked at meanwhile.
const TURN: Duration = Duration::from_millis(20);
/// How often the agent is asked whether the plugin is still at work.
const LOOK: Duration = Duration::from_secs(1);

/// A plugin that is to be attached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// A bundled plugin's name, or a component's file, absolute.
    reference: OsString,
    /// Its name in the agent.
    name: String,
    /// Records in a session of its own, beside others of its kind.
    has_session: bool,
}

impl Visitor {
    /// A bundled plugin.
    #[must_use]
    pub fn bundled(name: &str) -> Self {
        Self {
            reference: name.into(),
            name: name.to_owned(),
            has_session: false,
        }
    }

    /// A bundled plugin that records calls alone: any number of commands have it in one JVM, each in its session.
    #[must_use]
    pub fn in_session(name: &str) -> Self {
        Self {
            has_session: true,
            ..Self::bundled(name)
        }
    }

    /// Any plugin, as `reference` is in the options of an agent.
    #[must_use]
    pub fn new(reference: OsString, name: String) -> Self {
        Self {
            reference,
            name,
            has_session: false,
        }
    }
}

/// A plugin attached to a running JVM.
#[derive(Debug)]
pub struct AttachedPlugin {
    agent: Agent,
    pid: i32,
    /// The plugin's name in the agent.
    plugin: String,
    /// The id of its session, if it has one.
    session: Option<String>,
    interrupt: Interrupt,
    /// When the agent was last asked whether the plugin is still at work.
    looked: Cell<Instant>,
    /// Whether the agent was there before.
    guest: bool,
    /// The agent's state when the plugin had come.
    begun: Status,
    /// What was wrong before it came.
    before: Trouble,
    /// The methods that were left alone are told.
    is_told: bool,
    /// When that was, at most some moments before anything was recorded.
    since: SystemTime,
    /// The snapshot, or the event file of the session, as this process sees it.
    snapshot: PathBuf,
    /// Folder for what is made here.
    pub output: PathBuf,
}

/// How many classes and methods an agent could not instrument.
#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    failed: u64,
    left_alone: u64,
}

impl AttachedPlugin {
    /// Loads the agent into the JVM `pid`, with this plugin alone; or enables the plugin in the agent
    /// that is there, which then forgets what it recorded for the plugin. From here on a signal does not end this command.
    ///
    /// # Errors
    /// If the JVM cannot be reached (`H05xx`), the plugin is at work there already (`H0609`), or the
    /// settings are wrong.
    pub fn begin(
        pid: i32,
        visitor: &Visitor,
        settings: &Settings,
        run: &str,
    ) -> Result<Self, Problem> {
        let since = SystemTime::now();
        let plugin = visitor.name.as_str();
        let plugins = if settings.configuration().file.is_some() {
            vec![]
        } else {
            vec![visitor.reference.clone()]
        };
        let settings = &match plugins.as_slice() {
            [] => settings.clone(),
            plugins => application::narrowed(pid, plugins, settings)?,
        };
        let mut checked = CheckedOptions::new(settings, &plugins, Some(run.to_owned()))?;
        checked.options.visit = Some(plugin.to_owned());
        let compiled = Precompiled::for_plugin(&visitor.reference, pid)?;
        let leased = if visitor.has_session { run } else { plugin };
        // From here on there may be an agent, which a signal must not leave behind.
        let mut interrupt = Interrupt::new()?;
        let impatience = Interrupt::impatience()?;
        let (found, request) = loop {
            let mut found = agent::find_or_load(pid, &checked)?;
            let (agent, status) = (&mut found.agent, &found.status);
            let request = match found.guest {
                true => {
                    enter(agent, status, visitor, (settings, run), &compiled).and_then(|request| {
                        agent.lease(Some(leased), None)?;
                        Ok(Some(request))
                    })
                }
                false => agent.lease(Some(plugin), None).map(|()| None),
            };
            match request {
                // The command that had loaded the agent has ended, and the agent with it.
                Err(problem) if found.guest && found.agent.leaves(&problem) => {}
                request => break (found, request?),
            }
        };
        drop(impatience);
        let Found {
            mut agent,
            status,
            guest,
        } = found;
        let mut session = None;
        if let Some(request) = &request {
            let change: Change = progress::ask(&mut agent, request, &mut interrupt)?;
            complain(failures(&show::answer(&change)?.failed));
            session = change.session;
            if visitor.has_session && session.is_none() {
                agent.lease(Some(plugin), None)?; // an agent of another version
            }
        }
        let before = match guest {
            true => Trouble::of(&status),
            false => Trouble::default(),
        };
        let begun = progress::follow(&mut agent, &mut interrupt)
            .map_err(|problem| remaining(plugin, problem))?;
        if interrupt.came() {
            interrupt.stop(); // perhaps before there was anything to stop
        }
        let (file, plugin) = match &session {
            Some(session) => (&session.file, &session.plugin),
            None => (&status.snapshot, &visitor.name),
        };
        Self {
            snapshot: agent.path(file),
            agent,
            pid,
            plugin: plugin.clone(),
            session: session.is_some().then(|| run.to_owned()),
            interrupt,
            looked: Cell::new(Instant::now()),
            guest,
            begun,
            since,
            before,
            is_told: false,
            output: checked.output,
        }
        .unless_stopped()?
        .unless_short()
    }

    /// Ends at once if the metaspace does not suffice, so that no class was changed.
    fn unless_short(self) -> Result<Self, Problem> {
        match self.begun.shortage {
            None => Ok(self),
            Some(shortage) => {
                let unanswered = self.end().unanswered;
                Err(unanswered.unwrap_or_else(|| metaspace::shortage(&shortage)))
            }
        }
    }

    /// Ends at once what a signal has stopped before all classes were changed.
    fn unless_stopped(self) -> Result<Self, Problem> {
        if !self.interrupt.has_stopped() {
            return Ok(self);
        }
        let changed = self.instrumented();
        let unanswered = self.end().unanswered;
        Err(unanswered.unwrap_or_else(|| Problem::stopped_visit(changed)))
    }

    /// The JVM's process.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Puts something else in the plugin's place ([`enable`]), and forgets what it recorded.
    ///
    /// # Errors
    /// If the agent refuses it; the former then stays.
    pub fn exchange(&mut self, request: &Request) -> Result<Change, Problem> {
        let mut request = request.clone();
        if let (Request::Enable { session, .. }, Some(id)) = (&mut request, &self.session) {
            *session = Some(SessionRequest {
                id: id.clone(),
                output: None,
            });
        }
        let change = progress::ask(&mut self.agent, &request, &mut self.interrupt)?;
        let plugin = Some(self.plugin.clone());
        let _: Reset = self.agent.ask_for(&Request::Reset { plugin })?;
        Ok(change)
    }

    /// How many classes held edits of the plugin when it had come.
    #[must_use]
    pub fn instrumented(&self) -> usize {
        instrumented(&self.begun, &self.plugin)
    }

    /// Gives the plugin's notes on loaded classes that it left as they are, and those of others before.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.begun.notes
    }

    /// The methods of loaded classes that were left as they are when the plugin had come, each with the cause.
    #[must_use]
    pub fn left_alone(&self) -> Vec<MethodRemark> {
        let new = Trouble::of(&self.begun)
            .left_alone
            .saturating_sub(self.before.left_alone);
        let known = &self.begun.left_alone;
        let before = known
            .len()
            .saturating_sub(usize::try_from(new).unwrap_or(usize::MAX));
        known.iter().skip(before).cloned().collect()
    }

    /// The names of all loaded classes, with dots.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn classes(&mut self) -> Result<Vec<String>, Problem> {
        let classes = self.agent.classes()?.into_iter();
        Ok(classes.map(|class| class.name).collect())
    }

    /// Finds loaded classes that a glob covers, and the cause for which plugins with these settings do not see them.
    #[must_use]
    pub fn withheld(&mut self, glob: &str, settings: &PluginSettings) -> Option<Withheld> {
        Withheld::find(&mut self.agent, glob, settings)
    }

    /// The agent in the JVM.
    pub fn agent(&mut self) -> &mut Agent {
        &mut self.agent
    }

    /// Says that the methods that were left alone are told: they are not once more at the end.
    pub fn has_told_left_alone(&mut self) {
        self.is_told = true;
    }

    /// Has the agent write what it knows by now.
    ///
    /// # Errors
    /// If the agent does not answer, or cannot write.
    pub fn write(&mut self) -> Result<(), Problem> {
        let _: Dump = self.agent.ask_for(&Request::Dump)?;
        Ok(())
    }

    /// When the plugin began to come.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        self.since
    }

    /// The JVM's snapshot, as this process sees it; what else it records lies beside it.
    #[must_use]
    pub fn snapshot(&self) -> &Path {
        &self.snapshot
    }

    /// Waits until the time is over or `enough` says so, for a signal, or until the agent or the JVM has ended or the
    /// plugin is disabled; says what for: `tracing`.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn wait(
        &mut self,
        doing: &str,
        time: Option<Duration>,
        enough: &dyn Fn() -> bool,
    ) -> Result<(), Problem> {
        self.lease_for(time)?;
        let (agent, pid, plugin, looked) = (&self.agent, self.pid, &self.plugin, &self.looked);
        let is_over = || enough() || agent.has_left() || is_disabled(pid, plugin, looked);
        Until::new(time, &mut self.interrupt).wait(doing, pid, &is_over);
        Ok(())
    }

    /// Lets the plugin end after this time also if this command is stopped and cannot end it; from now on.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn lease_for(&mut self, time: Option<Duration>) -> Result<(), Problem> {
        match time {
            Some(time) => self.agent.lease(Some(&self.plugin), Some(time + LATE)),
            None => Ok(()),
        }
    }

    /// Whether a signal has come, the agent or the JVM has ended, or the plugin is disabled.
    pub fn is_over(&mut self) -> bool {
        self.interrupt.came()
            || self.agent.has_left()
            || !self.is_alive()
            || is_disabled(self.pid, &self.plugin, &self.looked)
    }

    fn is_alive(&self) -> bool {
        Process::read(self.pid).is_ok_and(|process| process.is_alive())
    }

    /// Ends what [`AttachedPlugin::begin`] began. Where the JVM does not answer, the agent does so once it does.
    #[must_use]
    pub fn end(mut self) -> Ended {
        let mut ended = Ended {
            snapshot: self.snapshot.clone(),
            has_session: self.session.is_some(),
            dump: None,
            instrumented: None,
            is_partial: false,
            unanswered: None,
        };
        if let Err(problem) = self.leave(&mut ended)
            && self.goes_on()
        {
            if self.is_there() {
                ended.unanswered = Some(remaining(&self.plugin, problem).partly());
            } else {
                complain(left_before(self.pid));
                ended.is_partial = true;
            }
        }
        // Else the JVM has ended meanwhile, and the agent completed what it recorded.
        ended
    }

    /// Whether the JVM goes on. One that ends has its process for a moment more.
    fn goes_on(&self) -> bool {
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < END_OF_A_JVM {
            std::thread::sleep(TURN);
        }
        self.is_alive()
    }

    /// Whether the agent is still in the JVM.
    fn is_there(&self) -> bool {
        matches!(Agent::find(self.pid), Ok(Ok(_)) | Err(_))
    }

    fn leave(&mut self, ended: &mut Ended) -> Result<(), Problem> {
        let status: Status = self.agent.ask_for(&Request::Status)?;
        ended.is_partial = self.report_trouble(&status);
        if is_at_work(&status, &self.plugin) {
            ended.instrumented = Some(instrumented(&status, &self.plugin));
        } else {
            complain(disabled_before(self.pid, &self.plugin));
            ended.is_partial = true;
        }
        let plugin = self.plugin.clone();
        let release = Request::Release { plugin };
        let released: Released = progress::ask(&mut self.agent, &release, &mut self.interrupt)?;
        complain(failures(&show::answer(&released)?.failed));
        if !released.stays {
            return Ok(());
        }
        if !self.guest {
            let status: Status = self.agent.ask_for(&Request::Status)?;
            say(stays(self.pid, &status.holders));
        }
        ended.dump = Some(self.agent.ask_for(&Request::Dump)?);
        Ok(())
    }

    /// Prints which classes and methods were not instrumented since the plugin came; whether there are any.
    fn report_trouble(&self, status: &Status) -> bool {
        let now = Trouble::of(status);
        let failed = now.failed.saturating_sub(self.before.failed);
        let left_alone = now.left_alone.saturating_sub(self.before.left_alone);
        warn_of("classes", failed, &status.failures, |failure| {
            let class = failure.class.replace('/', ".");
            format!("{} {class}: {}", failure.code, failure.cause)
        });
        if !self.is_told {
            warn_of("methods", left_alone, &status.left_alone, self::left_alone);
        }
        failed + left_alone > 0
    }
}

/// The reason for which the agent of this command stays: other commands hold it, or it has got more work.
fn stays(pid: i32, holders: &[Holder]) -> String {
    match holders.first() {
        Some(holder) => format!(
            "the agent stays in {pid} until other commands end, too: {}",
            holder::described(holder)
        ),
        None => format!(
            "the agent stays in {pid} for what was asked of it meanwhile; `classhook off {pid}` ends that"
        ),
    }
}

/// A method that was left as it is, and why.
fn left_alone(remark: &MethodRemark) -> String {
    format!("{}.{}: {}", remark.class, remark.method, remark.text)
}

impl Trouble {
    fn of(status: &Status) -> Self {
        Self {
            failed: status.classes.failed,
            left_alone: status.classes.skipped_methods,
        }
    }
}

/// What a visit leaves.
#[derive(Debug)]
pub struct Ended {
    /// The snapshot, or the event file of the session, as this process sees it.
    pub snapshot: PathBuf,
    /// Set for a session, whose file is complete.
    has_session: bool,
    /// What it holds of the visit, if the agent goes on recording to it.
    pub dump: Option<Dump>,
    /// Classes that held edits of the plugin at the end, if the agent was there to say and nobody had disabled it.
    pub instrumented: Option<usize>,
    /// Whether something that was selected could not be instrumented, or somebody else has ended it, which was printed.
    pub is_partial: bool,
    /// That the JVM did not answer at the end, and what remains there.
    pub unanswered: Option<Problem>,
}

impl Ended {
    /// Checks whether the agent goes on writing to the same folder.
    #[must_use]
    pub fn is_recorded_on(&self) -> bool {
        self.dump.is_some() && !self.has_session
    }

    /// Whether the files are of a JVM that has ended, so that they say so themselves unless it was killed.
    #[must_use]
    pub fn has_jvm_ended(&self) -> bool {
        self.dump.is_none() && self.unanswered.is_none()
    }
}

/// That somebody else ended it.
#[must_use]
pub fn left_before(pid: i32) -> Warning {
    let message = format!("the agent has left {pid} before this command ended");
    Warning::new("H0656", message)
        .with(
            "cause",
            "`classhook off`, another command that ended the agent, or a pause of the JVM (SIGSTOP) beyond this command's time",
        )
        .with("note", "what was recorded until then is shown")
}

/// That somebody else took the plugin out.
fn disabled_before(pid: i32, plugin: &str) -> Warning {
    let message = format!("the plugin {plugin} was disabled in {pid} before this command ended");
    Warning::new("H0656", message)
        .with(
            "cause",
            "`classhook disable`, or `classhook reload` without it",
        )
        .with("note", "what was recorded until then is shown")
}

/// Whether somebody has disabled the plugin, as far as the agent says; it is asked once in a while, over a connection
/// of its own, so that a JVM that does not answer leaves nothing in the one that is used at the end.
fn is_disabled(pid: i32, plugin: &str, looked: &Cell<Instant>) -> bool {
    if looked.get().elapsed() < LOOK {
        return false;
    }
    looked.set(Instant::now());
    let Ok(Ok(mut agent)) = Agent::find(pid) else {
        return false;
    };
    let status = agent.ask_for::<Status>(&Request::Status);
    status.is_ok_and(|status| !is_at_work(&status, plugin))
}

/// Whether the agent has the plugin, and nobody has disabled it.
fn is_at_work(status: &Status, plugin: &str) -> bool {
    let mut plugins = status.plugins.iter();
    plugins.any(|found| found.name == plugin && found.state != PluginState::Off)
}

/// What is left of a plugin in a JVM that does not answer.
fn remaining(plugin: &str, problem: Problem) -> Problem {
    problem.with(
        "remains",
        format!("the plugin {plugin} in its classes; the agent takes it out by itself once the JVM goes on"),
    )
}

/// Prints how many classes or methods were not instrumented, if any, with the last entries of a list that may not hold
/// all.
fn warn_of<T>(what: &str, count: u64, list: &[T], line: impl Fn(&T) -> String) {
    if count == 0 {
        return;
    }
    let kept = usize::try_from(count).unwrap_or(usize::MAX);
    let last = list.get(list.len().saturating_sub(kept)..).unwrap_or(list);
    let warning = Warning::new("H0649", format!("{what} not instrumented: {count}"));
    let with = |warning: Warning, entry| warning.with("found", line(entry));
    complain(last.iter().fold(warning, with));
}

/// How many classes hold edits of a plugin.
fn instrumented(status: &Status, plugin: &str) -> usize {
    let found = status.plugins.iter().find(|found| found.name == plugin);
    found.map_or(0, |found| found.changed)
}

/// What brings the plugin into an agent that has other work to do.
fn enter(
    agent: &mut Agent,
    status: &Status,
    visitor: &Visitor,
    (settings, run): (&Settings, &str),
    compiled: &Precompiled,
) -> Result<Request, Problem> {
    let plugin = visitor.name.as_str();
    let is_shared = !visitor.has_session;
    let of_the_agent = [
        ("--config", settings.configuration().file.is_some()),
        (
            "--output",
            settings.names_output() && is_shared && plugin != "coverage",
        ), // events are not copied
        ("--file-name", settings.file_name.is_some() && is_shared),
        (
            "--max-size",
            settings.event_files.max_size.is_some() && is_shared,
        ),
        ("--on-error", settings.configuration().on_error.is_some()),
        ("--log", settings.change.log.is_some()),
    ];
    if let Some((option, _)) = of_the_agent.iter().find(|(_, given)| *given) {
        return Err(agent::already_there()
            .with(
                "found",
                format!("{option}, which is a setting of the whole agent"),
            )
            .with("help", "leave it out; `classhook reload` gives it other settings, and `classhook off` ends it"));
    }
    if visitor.has_session {
        return in_session(visitor, (settings, run), compiled, agent.pid());
    }
    let known = status.plugins.iter().find(|found| found.name == plugin);
    if known.is_some_and(|known| known.state == PluginState::On) {
        let message = format!("the plugin {plugin} is at work in this JVM already");
        let problem = Problem::user("H0609", message).with(
            "found",
            format!("it records to {}", agent.path(&status.snapshot).display()),
        );
        return Err(holder::named(problem, &status.holders, |other| other == plugin).with("help", "report what it records (`classhook dump`, `classhook report`), or end it first (`classhook disable`, `classhook off`)"));
    }
    if known.is_some() {
        let plugin = Some(plugin.to_owned());
        let _: Reset = agent.ask_for(&Request::Reset { plugin })?;
        // So that whoever follows the files knows what was forgotten.
        let _: Dump = agent.ask_for(&Request::Dump)?;
    }
    enable(visitor, settings, compiled, agent.pid())
}

/// The request for a plugin in a session of its own.
fn in_session(
    visitor: &Visitor,
    (settings, run): (&Settings, &str),
    compiled: &Precompiled,
    pid: i32,
) -> Result<Request, Problem> {
    let own = Settings {
        file_name: settings.file_name.clone(),
        event_files: settings.event_files.clone(),
        waits: settings.waits,
        ..settings.plugins().clone().into()
    };
    let (options, _) = check(&own, &[], None)?;
    let output = settings.output.as_deref().map(absolute).transpose()?;
    let session = SessionRequest {
        id: run.to_owned(),
        output,
    };
    let metaspace = settings.metaspace.of_process(pid);
    Ok(request(
        visitor,
        &options,
        compiled,
        (Some(session), metaspace),
    ))
}

/// What has an agent load a plugin and configure it, anew if it has it already.
///
/// # Errors
/// If the settings are wrong.
pub fn enable(
    visitor: &Visitor,
    settings: &Settings,
    compiled: &Precompiled,
    pid: i32,
) -> Result<Request, Problem> {
    let (options, _) = check(&settings.plugins().clone().into(), &[], None)?;
    let metaspace = settings.metaspace.of_process(pid);
    Ok(request(visitor, &options, compiled, (None, metaspace)))
}

fn request(
    visitor: &Visitor,
    options: &AgentOptions,
    compiled: &Precompiled,
    (session, metaspace): (Option<SessionRequest>, Option<u64>),
) -> Request {
    Request::Enable {
        plugin: visitor.reference.to_string_lossy().into_owned(),
        options: Some(options.to_text().to_string_lossy().into_owned()),
        cache: compiled.cache().map(Path::to_owned),
        metaspace,
        session,
    }
}
