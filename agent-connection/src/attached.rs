//! A plugin attached to a running JVM for a limited time. The agent restores the JVM's plugins afterwards, even if this
//! command is killed: it grants a lease, which ends with the connection.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use agent_launch::agent_options::AgentOptions;
use agent_launch::checked_options::{CheckedOptions, check};
use agent_launch::metaspace;
use agent_launch::precompiled::Precompiled;
use agent_launch::settings::Settings;
use attach::Process;
use control::Request;
use control::message::{
    Change, Dump, Holder, MethodRemark, PluginState, Released, Reset, SessionRequest, Status,
};
use errors::{Cause, Error, PARTIAL, Warning, codes};
use local_files::absolute_path::absolute;
use standard_streams::show::{all_but_last, complain, say};
use trace::numbers::counted;

use crate::agent::{self, Agent, ConnectedAgent};
use crate::answers::{failures, failures_of};
use crate::application;
use crate::decoded_answers;
use crate::holder;
use crate::interrupt::{Interrupt, TimedWait};
use crate::progress;

/// Most attempts to take a lease of an agent before it leaves.
const LOADS: u32 = 10;
/// Margin of the lease beyond the requested time, for a stopped command.
const LEASE_MARGIN: Duration = Duration::from_secs(1);
/// Limit for the exit of a JVM's process after the end of its agent.
const JVM_EXIT: Duration = Duration::from_secs(3);
/// Poll interval for this exit.
const EXIT_POLL: Duration = Duration::from_millis(20);
/// Poll interval for the state of the plugin.
const STATE_POLL: Duration = Duration::from_secs(1);

/// A plugin to attach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The name of a bundled plugin, or the absolute path of a component.
    reference: OsString,
    /// The name in the agent.
    name: String,
    /// Records in a session of its own, beside other sessions of the plugin.
    has_session: bool,
}

impl Visitor {
    /// Returns a bundled plugin.
    #[must_use]
    pub fn bundled(name: &str) -> Self {
        Self {
            reference: name.into(),
            name: name.to_owned(),
            has_session: false,
        }
    }

    /// Returns a bundled plugin that only records calls. Any number of commands can attach it, each in its session.
    #[must_use]
    pub fn in_session(name: &str) -> Self {
        Self {
            has_session: true,
            ..Self::bundled(name)
        }
    }

    /// Returns any plugin. `reference` is its value in the agent's options.
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
    /// The id of the session, if the plugin has one.
    session: Option<String>,
    interrupt: Interrupt,
    /// Time of the last request for the state of the plugin.
    looked: Cell<Instant>,
    /// The agent was present before.
    guest: bool,
    /// The agent's state after the plugin was attached.
    begun: Status,
    /// Failures from before the visit.
    before: FailureCounts,
    /// Skipped methods were already reported.
    is_told: bool,
    /// Start of the visit, shortly before the first recorded event.
    since: SystemTime,
    /// The path of the snapshot, or of the session's event file, for this process.
    snapshot: PathBuf,
    /// Folder for the outputs of this command.
    pub output: PathBuf,
}

/// Numbers of classes and methods that an agent could not instrument.
#[derive(Debug, Clone, Copy, Default)]
struct FailureCounts {
    failed: u64,
    left_alone: u64,
}

impl AttachedPlugin {
    /// Loads the agent into the JVM `pid` with this plugin only, or enables the plugin in a present agent, which resets
    /// the plugin's data. From here on, a signal does not end this command.
    ///
    /// # Errors
    /// If the JVM cannot be reached (`H05xx`), the plugin is already enabled there (`H0609`), or the settings are wrong.
    pub fn begin(
        pid: i32,
        visitor: &Visitor,
        settings: &Settings,
        run: &str,
    ) -> Result<Self, Error> {
        let since = SystemTime::now();
        let plugin = visitor.name.as_str();
        let plugins = if settings.configuration().file.is_some() {
            vec![]
        } else {
            vec![visitor.reference.clone()]
        };
        let settings = &match plugins.as_slice() {
            [] => settings.clone(),
            plugins => application::restricted(pid, plugins, settings)?,
        };
        let mut checked = CheckedOptions::new(settings, &plugins, Some(run.to_owned()))?;
        checked.options.visit = Some(plugin.to_owned());
        let compiled = Precompiled::for_plugin(&visitor.reference, pid)?;
        let leased = if visitor.has_session { run } else { plugin };
        // From here on an agent may exist, which a signal must not leave behind.
        let mut interrupt = Interrupt::new()?;
        let second_signal = Interrupt::exit_on_second_signal()?;
        let mut attempts = 0;
        let (found, request) = loop {
            attempts += 1;
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
                // The agent ended together with the command that had loaded it, or this command took no lease in time.
                Err(problem) if found.agent.leaves(&problem) && attempts < LOADS => {}
                request => break (found, request?),
            }
        };
        drop(second_signal);
        let ConnectedAgent {
            mut agent,
            status,
            guest,
        } = found;
        let mut session = None;
        if let Some(request) = &request {
            let change: Change = progress::ask(&mut agent, request, &mut interrupt)?;
            complain(failures_of(&decoded_answers::answer(&change)?));
            session = change.session;
            if visitor.has_session && session.is_none() {
                agent.lease(Some(plugin), None)?; // an agent of another version
            }
        }
        let before = match guest {
            true => FailureCounts::of(&status),
            false => FailureCounts::default(),
        };
        let begun = progress::follow(&mut agent, &mut interrupt)
            .map_err(|problem| remaining(plugin, problem))?;
        if interrupt.came() {
            interrupt.stop(); // the signal may have come before a request that it could stop
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

    /// Ends the visit if the metaspace does not suffice, with all classes unchanged.
    fn unless_short(self) -> Result<Self, Error> {
        match self.begun.shortage {
            None => Ok(self),
            Some(shortage) => {
                let unanswered = self.end().unanswered;
                Err(unanswered.unwrap_or_else(|| metaspace::shortage(&shortage)))
            }
        }
    }

    /// Ends the visit if a signal came before all classes were changed.
    fn unless_stopped(self) -> Result<Self, Error> {
        if !self.interrupt.has_stopped() {
            return Ok(self);
        }
        let changed = self.instrumented();
        let unanswered = self.end().unanswered;
        Err(unanswered.unwrap_or_else(|| stopped_visit(changed)))
    }

    /// Returns the process id of the JVM.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.pid
    }

    /// Replaces the plugin ([`enable`]) and resets its data.
    ///
    /// # Errors
    /// If the agent refuses the new plugin. The former one then stays.
    pub fn exchange(&mut self, request: &Request) -> Result<Change, Error> {
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

    /// Returns the number of classes with edits of the plugin after it was attached.
    #[must_use]
    pub fn instrumented(&self) -> usize {
        instrumented(&self.begun, &self.plugin)
    }

    /// Returns the notes of this and earlier plugins on loaded classes without edits.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.begun.notes
    }

    /// Returns the methods of loaded classes that the plugin skipped, with the causes.
    #[must_use]
    pub fn left_alone(&self) -> Vec<MethodRemark> {
        let new = FailureCounts::of(&self.begun)
            .left_alone
            .saturating_sub(self.before.left_alone);
        let known = &self.begun.left_alone;
        let before = known
            .len()
            .saturating_sub(usize::try_from(new).unwrap_or(usize::MAX));
        known.iter().skip(before).cloned().collect()
    }

    /// Returns the binary names of all loaded classes.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn classes(&mut self) -> Result<Vec<String>, Error> {
        let classes = self.agent.classes()?.into_iter();
        Ok(classes.map(|class| class.name).collect())
    }

    /// Returns the agent in the JVM.
    pub fn agent(&mut self) -> &mut Agent {
        &mut self.agent
    }

    /// Notes that skipped methods were reported, so that the end of the visit omits them.
    pub fn has_told_left_alone(&mut self) {
        self.is_told = true;
    }

    /// Requests a dump of the recorded data.
    ///
    /// # Errors
    /// If the agent does not answer, or cannot write.
    pub fn write(&mut self) -> Result<(), Error> {
        let _: Dump = self.agent.ask_for(&Request::Dump)?;
        Ok(())
    }

    /// Returns the start of the visit.
    #[must_use]
    pub fn since(&self) -> SystemTime {
        self.since
    }

    /// Returns the path of the JVM's snapshot for this process. Other recorded files are in the same folder.
    #[must_use]
    pub fn snapshot(&self) -> &Path {
        &self.snapshot
    }

    /// Waits until the time is over, `enough` returns true, a signal comes, agent or JVM end, or the plugin is disabled.
    /// Prints the activity `doing`, such as `tracing`.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn wait(
        &mut self,
        doing: &str,
        time: Option<Duration>,
        enough: &dyn Fn() -> bool,
    ) -> Result<(), Error> {
        self.lease_for(time)?;
        let (agent, pid, plugin, looked) = (&self.agent, self.pid, &self.plugin, &self.looked);
        let is_over = || enough() || agent.has_left() || is_disabled(pid, plugin, looked);
        TimedWait::new(time, &mut self.interrupt).wait(doing, pid, &is_over);
        Ok(())
    }

    /// Limits the lease to this time from now on, so that the plugin ends even if this command is stopped.
    ///
    /// # Errors
    /// If the agent does not answer.
    pub fn lease_for(&mut self, time: Option<Duration>) -> Result<(), Error> {
        match time {
            Some(time) => self
                .agent
                .lease(Some(&self.plugin), Some(time + LEASE_MARGIN)),
            None => Ok(()),
        }
    }

    /// Checks whether a signal came, agent or JVM have ended, or the plugin is disabled.
    pub fn is_over(&mut self) -> bool {
        self.interrupt.came()
            || self.agent.has_left()
            || !self.is_alive()
            || is_disabled(self.pid, &self.plugin, &self.looked)
    }

    fn is_alive(&self) -> bool {
        Process::read(self.pid).is_ok_and(|process| process.is_alive())
    }

    /// Ends the visit. If the JVM does not answer, its agent ends the visit when the JVM continues.
    #[must_use]
    pub fn end(mut self) -> VisitOutcome {
        let mut ended = VisitOutcome {
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
        // Otherwise the JVM has ended, and the agent completed its files.
        ended
    }

    /// Checks whether the JVM continues. The process of an ending JVM exists for a moment more.
    fn goes_on(&self) -> bool {
        let begun = Instant::now();
        while self.is_alive() && begun.elapsed() < JVM_EXIT {
            std::thread::sleep(EXIT_POLL);
        }
        self.is_alive()
    }

    /// Checks whether the agent is still in the JVM.
    fn is_there(&self) -> bool {
        matches!(Agent::find(self.pid), Ok(Ok(_)) | Err(_))
    }

    fn leave(&mut self, ended: &mut VisitOutcome) -> Result<(), Error> {
        let status: Status = self.agent.ask_for(&Request::Status)?;
        ended.is_partial = self.report_failures(&status);
        if is_at_work(&status, &self.plugin) {
            ended.instrumented = Some(instrumented(&status, &self.plugin));
        } else {
            complain(disabled_before(self.pid, &self.plugin));
            ended.is_partial = true;
        }
        let plugin = self.plugin.clone();
        let release = Request::Release { plugin };
        let released: Released = progress::ask(&mut self.agent, &release, &mut self.interrupt)?;
        complain(failures(&decoded_answers::answer(&released)?.failed));
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

    /// Prints the classes and methods that could not be instrumented during the visit. Returns whether there are any.
    fn report_failures(&self, status: &Status) -> bool {
        let now = FailureCounts::of(status);
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

/// Returns the reason for which the agent stays: other commands hold it, or it got further requests.
fn stays(pid: i32, holders: &[Holder]) -> String {
    match holder::others(holders).next() {
        Some(holder) => format!(
            "the agent stays in {pid} until other commands end, too: {}",
            holder::described(holder)
        ),
        None => {
            format!("the agent stays in {pid} for other requests; `classhook off {pid}` ends it")
        }
    }
}

/// Returns a skipped method with the cause.
fn left_alone(remark: &MethodRemark) -> String {
    format!("{}.{}: {}", remark.class, remark.method, remark.text)
}

impl FailureCounts {
    fn of(status: &Status) -> Self {
        Self {
            failed: status.classes.failed,
            left_alone: status.classes.skipped_methods,
        }
    }
}

/// The outcome of a visit.
#[derive(Debug)]
pub struct VisitOutcome {
    /// The path of the snapshot, or of the session's event file, for this process.
    pub snapshot: PathBuf,
    /// The plugin had a session, whose file is complete.
    has_session: bool,
    /// The dump of the visit, if the agent continues to record to the snapshot.
    pub dump: Option<Dump>,
    /// Number of classes with edits of the plugin at the end. It is `None` if the agent or the plugin ended before.
    pub instrumented: Option<usize>,
    /// A selected class could not be instrumented, or another command ended the visit. A warning was printed.
    pub is_partial: bool,
    /// The problem of a JVM that did not answer at the end, with the remaining edits.
    pub unanswered: Option<Error>,
}

impl VisitOutcome {
    /// Checks whether the agent continues to write to the same folder.
    #[must_use]
    pub fn is_recorded_on(&self) -> bool {
        self.dump.is_some() && !self.has_session
    }

    /// Returns the exit code of a visit whose data was reported with this result.
    ///
    /// # Errors
    /// The problem of the report, or of a JVM that did not answer at the end. Of both, the first is printed.
    pub fn conclude(self, reported: Result<u8, Error>) -> Result<u8, Error> {
        let code = match reported {
            Ok(code) if self.unanswered.is_none() => code,
            reported => {
                all_but_last(reported.err().into_iter().chain(self.unanswered))?;
                PARTIAL
            }
        };
        Ok(match code {
            0 if self.is_partial => PARTIAL,
            code => code,
        })
    }

    /// Checks whether the JVM has ended. Its files then have an end, unless it was killed.
    #[must_use]
    pub fn has_jvm_ended(&self) -> bool {
        self.dump.is_none() && self.unanswered.is_none()
    }
}

/// Returns the warning that another command ended the agent.
#[must_use]
pub fn left_before(pid: i32) -> Warning {
    let message = format!("the agent has left {pid} before this command ended");
    Warning::new(codes::H0656, message)
        .with(
            "cause",
            "`classhook off`, another command that ended the agent, or a pause of this command (SIGSTOP) beyond its time",
        )
        .with("note", "the data recorded until then is shown")
}

/// Returns the error for a visit interrupted before all classes of the JVM were changed.
fn stopped_visit(changed: usize) -> Error {
    let changed = format!("{} had been changed", counted(changed, "class"));
    Error::new(
        Cause::Interrupted,
        codes::H0645,
        "interrupted before all classes were changed",
    )
    .with("found", changed)
    .with("note", "the JVM's classes are restored")
}

/// Returns the warning that another command disabled the plugin.
fn disabled_before(pid: i32, plugin: &str) -> Warning {
    let message = format!("the plugin {plugin} was disabled in {pid} before this command ended");
    Warning::new(codes::H0656, message)
        .with(
            "cause",
            "`classhook disable`, or `classhook reload` without it",
        )
        .with("note", "the data recorded until then is shown")
}

/// Checks at intervals whether another command has disabled the plugin. Uses a separate connection, so that a late
/// answer does not disturb the connection that ends the visit.
fn is_disabled(pid: i32, plugin: &str, looked: &Cell<Instant>) -> bool {
    if looked.get().elapsed() < STATE_POLL {
        return false;
    }
    looked.set(Instant::now());
    let Ok(Ok(mut agent)) = Agent::find(pid) else {
        return false;
    };
    let status = agent.ask_for::<Status>(&Request::Status);
    status.is_ok_and(|status| !is_at_work(&status, plugin))
}

/// Checks whether the agent has the plugin and it is enabled.
fn is_at_work(status: &Status, plugin: &str) -> bool {
    let mut plugins = status.plugins.iter();
    plugins.any(|found| found.name == plugin && found.state != PluginState::Off)
}

/// Adds the remaining edits to the problem of a JVM that does not answer.
fn remaining(plugin: &str, problem: Error) -> Error {
    problem.with(
        "remains",
        format!("edits of the plugin {plugin}; the agent removes them when the JVM continues"),
    )
}

/// Prints the number of classes or methods that could not be instrumented, with the last entries of a list that may be
/// truncated.
fn warn_of<T>(what: &str, count: u64, list: &[T], line: impl Fn(&T) -> String) {
    if count == 0 {
        return;
    }
    let kept = usize::try_from(count).unwrap_or(usize::MAX);
    let last = list.get(list.len().saturating_sub(kept)..).unwrap_or(list);
    let warning = Warning::new(codes::H0649, format!("{what} not instrumented: {count}"));
    let with = |warning: Warning, entry| warning.with("found", line(entry));
    complain(last.iter().fold(warning, with));
}

/// Returns the number of classes with edits of a plugin.
fn instrumented(status: &Status, plugin: &str) -> usize {
    let found = status.plugins.iter().find(|found| found.name == plugin);
    found.map_or(0, |found| found.changed)
}

/// Returns the request that enables the plugin in an agent with other tasks.
fn enter(
    agent: &mut Agent,
    status: &Status,
    visitor: &Visitor,
    (settings, run): (&Settings, &str),
    compiled: &Precompiled,
) -> Result<Request, Error> {
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
            .with("help", "leave it out; `classhook reload` changes settings of the agent, and `classhook off` ends the agent"));
    }
    if visitor.has_session {
        return in_session(visitor, (settings, run), compiled, agent.pid());
    }
    let known = status.plugins.iter().find(|found| found.name == plugin);
    if known.is_some_and(|known| known.state == PluginState::On) {
        let message = format!("the plugin {plugin} is already enabled in this JVM");
        let problem = Error::mistake(codes::H0609, message).with(
            "found",
            format!("it records to {}", agent.path(&status.snapshot).display()),
        );
        return Err(holder::named(problem, &status.holders, |other| other == plugin).with("help", "report its data with `classhook dump` and `classhook report`, or end it with `classhook disable` or `classhook off`"));
    }
    if known.is_some() {
        let plugin = Some(plugin.to_owned());
        let _: Reset = agent.ask_for(&Request::Reset { plugin })?;
        // Commands that follow the files learn about the reset.
        let _: Dump = agent.ask_for(&Request::Dump)?;
    }
    enable(visitor, settings, compiled, agent.pid())
}

/// Returns the request for a plugin in a session of its own.
fn in_session(
    visitor: &Visitor,
    (settings, run): (&Settings, &str),
    compiled: &Precompiled,
    pid: i32,
) -> Result<Request, Error> {
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

/// Returns the request that loads and configures a plugin, or configures a present one anew.
///
/// # Errors
/// If the settings are wrong.
pub fn enable(
    visitor: &Visitor,
    settings: &Settings,
    compiled: &Precompiled,
    pid: i32,
) -> Result<Request, Error> {
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
