//! `classhook patch`: replaces classes of a running JVM by other class files.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;

use agent_connection::agent::{self, Agent, ConnectedAgent};
use agent_connection::decoded_answers;
use agent_connection::recording_folder;
use agent_connection::temp_output::TempOutput;
use agent_launch::attachment;
use agent_launch::checked_options::CheckedOptions;
use agent_launch::settings::Settings;
use clap::Args;
use control::Request;
use control::message::{NO_PLUGIN, Released};
use control::patch::{BrokenRule, ClassBytes, ClassOutcome, ClassState, PatchRequest, Patched};
use coverage_inputs::class_files::{self, Loader};
use errors::{Error, PARTIAL, Warning, Warnings, codes};
use java_compiler::javac::{self, LoadedClasses};
use loaded_classes::absent_classes;
use loaded_classes::loader_paths;
use profiles::virtual_threads;
use rewriter::ClassFile;
use standard_streams::show::{complain, show, show_json};
use trace::numbers::counted;

use crate::args::{Target, output_path};
use crate::commands::patch_release as release;
use crate::metaspace::MetaspaceArgument;

const AFTER_HELP: &str = "\
A patch replaces method bodies. Methods, static fields and classes that it adds become companions, classes beside the
patched ones. Instance fields, constructors and supertypes must stay the same. All classes are patched, or none. Calls
in progress finish in the old code, and later calls run the new code.
A change without effect is refused, such as one of a static initialiser, which does not run again. --force patches the
rest. A class that is not loaded yet is patched when a loader loads it. A class that no loader finds is refused.
Patches stack, and survive the changes of other agents. `classhook patches` lists them, and `classhook rollback` undoes
them. The log file, whose path is printed, records each change. If the JVM has no agent, one is loaded.

Examples:
  classhook patch 4711 --source Account.java --note 'rounding, ticket 12'
  classhook patch 4711 build/classes --check
  classhook patch 4711 fix.jar --loader com.acme.PluginLoader
  classhook patch 4711 log4j-core-2.15.0.jar log4j-core-2.16.0.jar --check";

/// Replaces classes of a running JVM by other class files.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Patch {
    /// The running JVM.
    #[command(flatten)]
    pub target: Target,
    /// Read the new classes from these class files, jars and folders; of two releases of a jar, patch the differences
    #[arg(value_name = "CLASSES", required_unless_present = "source")]
    pub classes: Vec<String>,
    /// Compile the new classes from this Java source; repeatable
    #[arg(long, value_name = "FILE")]
    pub source: Vec<PathBuf>,
    /// Compile --source on this class path, in place of the JVM's own
    #[arg(long, value_name = "PATH", requires = "source")]
    pub class_path: Option<OsString>,
    /// Check the patch without a change of the JVM
    #[arg(long)]
    pub check: bool,
    /// Send the classes to the JVM even if they break its rules
    #[arg(long)]
    pub force: bool,
    /// Patch the accepted classes even if others are refused
    #[arg(long)]
    pub partial: bool,
    /// Patch only classes of this loader: boot, platform, app, com.acme.Loader or com.acme.Loader@1b6d3586
    #[arg(long, value_name = "LOADER")]
    pub loader: Option<String>,
    /// Add a note to the patch, for list and log
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Write recordings to this folder; for a new agent [default: classhook]
    #[arg(short, long, value_name = "DIR", value_parser = output_path())]
    pub output: Option<PathBuf>,
    /// The metaspace check before classes change.
    #[command(flatten)]
    pub metaspace: MetaspaceArgument,
}

impl Patch {
    /// Sends the classes, compiled if necessary, and prints the outcome of each.
    ///
    /// # Errors
    /// If the classes cannot be read or compiled, the JVM cannot be reached, or the patch is refused (`H0720`).
    pub fn run(&self) -> Result<u8, Error> {
        let mut agent = LazyAgent::default();
        let request = self
            .request(&mut agent)
            .and_then(|request| self.check_loader(&mut agent, &request).map(|()| request));
        let (request, unseen) = match request {
            Ok(mut request) => {
                let unseen = self.look_at_jvm(&mut request);
                (Request::Patch(request), unseen)
            }
            Err(problem) => return Err(agent.leave_with(problem)),
        };
        let answer = agent.get(self).and_then(|agent| agent.ask(&request));
        let answer = match answer {
            Ok(answer) => answer,
            Err(problem) => return Err(agent.leave_with(problem)),
        };
        if self.target.json {
            show_json(&answer)?;
        }
        let patched: Patched = decoded_answers::read_escaped(answer)?;
        if patched.ids.is_empty() || self.check {
            let absent = names_of(&patched, ClassState::Absent);
            if !absent.is_empty() {
                let problem = absent_classes::problem(agent.get(self)?, &absent);
                return Err(agent.leave_with(problem));
            }
            if !names_of(&patched, ClassState::Refused).is_empty() {
                return Err(agent.leave_with(self.refusal(&patched)));
            }
        }
        match patched.ids.is_empty() {
            true => agent.leave()?,
            false => agent.keep()?,
        }
        if !self.target.json {
            show(&self.describe(&patched))?;
        }
        warn_of_parts_without_effect(&patched);
        warn_of_quick_compiler(&patched);
        match unseen {
            Some(warning) => {
                complain(warning);
                Ok(PARTIAL)
            }
            None => Ok(0),
        }
    }

    /// Adds the limit of metaspace and the frames of virtual threads. Returns a warning if these cannot be seen.
    fn look_at_jvm(&self, request: &mut PatchRequest) -> Option<Warning> {
        let jvm = attachment::open(self.target.pid).map_err(Error::from);
        let frames = jvm.and_then(|jvm| {
            request.metaspace = self.metaspace.value().of_jvm(&jvm);
            virtual_threads::frames(&jvm, &names_of_files(&request.classes))
        });
        match frames {
            Ok(frames) => {
                request.virtual_frames = frames;
                None
            }
            Err(problem) => {
                let message = "frames of virtual threads are unknown, and may execute former code";
                Some(Warning::new(codes::H0732, message).with("cause", problem.to_string()))
            }
        }
    }

    fn request(&self, agent: &mut LazyAgent) -> Result<PatchRequest, Error> {
        if let Some(source) = self.classes.iter().find(|place| place.ends_with(".java")) {
            return Err(Error::mistake(
                codes::H0727,
                format!("{source} is source, not a class file"),
            )
            .with(
                "help",
                format!("compile it on the JVM's class path with --source {source}"),
            ));
        }
        let places: Vec<Vec<ClassBytes>> = self
            .classes
            .iter()
            .map(|place| read(place))
            .collect::<Result<_, _>>()?;
        let is_single = |place: &String| place.ends_with(".class");
        let mut found = match places.as_slice() {
            [old, new]
                if !self.classes.iter().any(is_single) && release::are_versions(old, new) =>
            {
                release::differences(old, new)?
            }
            _ => places.concat(),
        };
        if !self.source.is_empty() {
            let mut loaded = ClassesOfAgent {
                agent: &mut *agent,
                patch: self,
            };
            let class_path = self.class_path.as_ref();
            let folder = javac::compile(self.target.pid, &self.source, class_path, &mut loaded)?;
            found.extend(read(&folder.path().to_string_lossy())?);
        }
        if found.is_empty() {
            let problem = Error::mistake(codes::H0727, "no class file to patch with");
            return Err(problem.with("looked", self.classes.join(", ")));
        }
        Ok(PatchRequest {
            classes: found,
            loader: self.loader.clone(),
            note: self.note.clone().unwrap_or_default(),
            check: self.check,
            force: self.force,
            partial: self.partial,
            log: self.log_folder(agent)?,
            ..PatchRequest::default()
        })
    }

    /// Returns the folder of the log, for an agent whose output folder another command will remove.
    fn log_folder(&self, agent: &mut LazyAgent) -> Result<Option<PathBuf>, Error> {
        let agent_of_us = agent.get(self)?;
        let folder = recording_folder::lasting(agent_of_us.process(), self.output.as_deref())?;
        Ok((!agent.is_new).then_some(folder))
    }

    /// Refuses a loader that the JVM does not have, if other loaders have the classes.
    fn check_loader(&self, agent: &mut LazyAgent, request: &PatchRequest) -> Result<(), Error> {
        let Some(loader) = &self.loader else {
            return Ok(());
        };
        let names = names_of_files(&request.classes);
        loader_paths::check(agent.get(self)?, loader, &names)
    }

    fn refusal(&self, patched: &Patched) -> Error {
        let what = if self.check {
            "the JVM would refuse this patch"
        } else {
            "the JVM refuses this patch; nothing was changed"
        };
        let refused = patched
            .classes
            .iter()
            .filter(|class| class.state == ClassState::Refused);
        let mut problem = Error::mistake(codes::H0720, what);
        for class in refused {
            let rules = class.broken.iter().map(rule).collect::<Vec<_>>();
            problem = problem.with("class", format!("{}: {}", name(class), rules.join("; ")));
        }
        let fits = patched.classes.len()
            - patched
                .classes
                .iter()
                .filter(|class| class.state == ClassState::Refused)
                .count();
        if fits > 0 && !self.partial {
            let text = format!(
                "patch the possible classes with --partial: {}",
                counted(fits, "class")
            );
            problem = problem.with("help", text);
        }
        let broken = || patched.classes.iter().flat_map(|class| &class.broken);
        if broken().any(|rule| rule.number != 0) {
            let text = "keep instance fields, constructors and supertypes; other members and classes may be added and removed";
            problem = problem.with("help", text);
        }
        if broken().all(|rule| !rule.forcible) {
            return problem;
        }
        let text = match broken().any(|rule| rule.forcible && rule.number == 0) {
            true => "patch the classes without the parts that have no effect, with --force",
            false => "leave the decision to the JVM with --force",
        };
        problem.with("help", text)
    }

    fn describe(&self, patched: &Patched) -> String {
        let pid = self.target.pid;
        let mut text = match patched.ids.first() {
            None if self.check => "the JVM would accept this patch\n".to_owned(),
            None => "nothing to do: the JVM runs these classes already\n".to_owned(),
            Some(id) => {
                let waits = patched
                    .classes
                    .iter()
                    .all(|class| class.state != ClassState::Patched);
                let state = if waits { "waits" } else { "is applied" };
                format!("patch {id} {state} in {pid}; `classhook rollback {pid} {id}` undoes it\n")
            }
        };
        for class in &patched.classes {
            text.push_str(&line(class));
        }
        if !patched.log.is_empty() {
            text.push_str(&format!("log: {}\n", patched.log));
        }
        text
    }
}

/// Returns the class files in a place.
fn read(place: &str) -> Result<Vec<ClassBytes>, Error> {
    let mut found = Vec::new();
    class_files::read(place, &Loader::newest(), &mut |classes| {
        let mut classes = classes;
        // A module descriptor is not a class.
        classes.retain(|class| !class.origin.ends_with("module-info.class"));
        found.extend(classes.into_iter().map(|class| ClassBytes(class.bytes)));
        Ok(())
    })?;
    Ok(found)
}

/// Returns the names in class files. The agent refuses malformed ones.
fn names_of_files(files: &[ClassBytes]) -> Vec<String> {
    let read = |class: &ClassBytes| Some(ClassFile::read(&class.0).ok()?.this_class().to_string());
    let names = files.iter().filter_map(read);
    names.map(|name| jvms::names::binary(&name)).collect()
}

/// Returns the names of the classes in a state, each once.
fn names_of(patched: &Patched, state: ClassState) -> Vec<String> {
    let classes = patched.classes.iter().filter(|class| class.state == state);
    let mut names: Vec<String> = classes.map(|class| class.class.clone()).collect();
    names.dedup();
    names
}

/// The loaded classes of the JVM, through its agent.
struct ClassesOfAgent<'a> {
    agent: &'a mut LazyAgent,
    patch: &'a Patch,
}

impl LoadedClasses for ClassesOfAgent<'_> {
    fn places(&mut self, classes: &[String]) -> Result<Vec<PathBuf>, Error> {
        let loader = self.patch.loader.as_deref();
        loader_paths::of(self.agent.get(self.patch)?, classes, loader)
    }

    fn files(&mut self, classes: &[String]) -> Result<Vec<ClassBytes>, Error> {
        let request = Request::ClassFiles {
            classes: classes.to_vec(),
            loader: self.patch.loader.clone(),
        };
        self.agent.get(self.patch)?.ask_for(&request)
    }
}

/// The agent, loaded on first use. An agent that this command loaded stays only for a patch.
#[derive(Debug, Default)]
struct LazyAgent {
    agent: Option<Agent>,
    /// This command loaded the agent.
    is_new: bool,
    /// The temporary output folder of the agent.
    passing: Option<TempOutput>,
}

impl LazyAgent {
    /// Returns the agent, and loads it into a JVM without an agent.
    fn get(&mut self, patch: &Patch) -> Result<&mut Agent, Error> {
        let agent = match self.agent.take() {
            Some(agent) => agent,
            None => self.find(patch)?,
        };
        Ok(self.agent.insert(agent))
    }

    fn find(&mut self, patch: &Patch) -> Result<Agent, Error> {
        let pid = patch.target.pid;
        if let Ok(agent) = Agent::find(pid)? {
            return Ok(agent);
        }
        let mut settings = Settings {
            output: patch.output.clone(),
            ..Settings::default()
        };
        if patch.check {
            self.passing = TempOutput::in_jvm(pid, &mut settings)?;
        }
        let mut checked = CheckedOptions::new(&settings, &[NO_PLUGIN.into()], None)?;
        checked.options.visit = Some(NO_PLUGIN.to_owned());
        let ConnectedAgent {
            mut agent, guest, ..
        } = agent::find_or_load(pid, &checked)?;
        if !guest {
            self.is_new = true;
            agent.lease(Some(NO_PLUGIN), None)?;
        }
        Ok(agent)
    }

    /// Lets the agent stay, for its patch.
    fn keep(self) -> Result<(), Error> {
        match self.agent {
            Some(mut agent) if self.is_new => agent.lease(None, None),
            _ => Ok(()),
        }
    }

    /// Ends an agent that was loaded for this command, unless another command uses it.
    fn leave(self) -> Result<(), Error> {
        let Some(mut agent) = self.agent.filter(|_| self.is_new) else {
            return Ok(());
        };
        let plugin = NO_PLUGIN.to_owned();
        let released: Released = agent.ask_for(&Request::Release { plugin })?;
        if let (true, Some(passing)) = (released.stays, self.passing) {
            passing.keep();
        }
        Ok(())
    }

    /// Ends the agent like [`LazyAgent::leave`], and returns the problem.
    fn leave_with(self, problem: Error) -> Error {
        match self.leave() {
            Ok(()) => problem,
            Err(stays) => problem.with("agent", format!("stays in the JVM: {stays}")),
        }
    }
}

/// Warns about the parts of a forced patch that have no effect.
fn warn_of_parts_without_effect(patched: &Patched) {
    let mut warnings = Warnings::default();
    let forced = patched
        .classes
        .iter()
        .filter(|class| !class.without_effect.is_empty());
    for class in forced {
        let warning = Warning::new(
            codes::H0731,
            format!("parts of the patch have no effect in {}", name(class)),
        );
        let warning = class
            .without_effect
            .iter()
            .fold(warning, |warning, part| warning.with("found", part.clone()));
        warnings.add(warning.with(
            "help",
            "restart the JVM with the new class to apply all of it",
        ));
    }
    complain(&warnings);
}

/// Warns about a JVM that may continue to run former code although it accepted the classes.
pub(super) fn warn_of_quick_compiler(patched: &Patched) {
    if !patched.quick_compiler {
        return;
    }
    let mut warnings = Warnings::default();
    let message = "calls by reflection or method handles may continue in former code";
    warnings.add(
        Warning::new(codes::H0728, message)
            .with("found", "a JVM that compiles only with C1, which does not track inlined methods (-XX:TieredStopAtLevel=1)")
            .with("help", "check the behaviour of the program, or start the JVM without that option"),
    );
    complain(&warnings);
}

/// Returns the lines of one class of an answer.
pub(super) fn line(class: &ClassOutcome) -> String {
    let state = match class.state {
        ClassState::Unchanged => "unchanged",
        ClassState::Same if class.loader.is_empty() => {
            "is not loaded; its file has this code already"
        }
        ClassState::Same => "runs this code already",
        ClassState::Patched => "patched",
        ClassState::Waiting => "is not loaded; patched when it loads",
        ClassState::Possible => "can be patched",
        ClassState::Refused => "cannot be patched",
        ClassState::RolledBack => "runs its former code",
        ClassState::Absent => "no loader has or finds it",
        ClassState::Defined => "defined",
        ClassState::Withdrawn => "was not loaded; its patch no longer waits",
    };
    let mut text = format!("  {}: {state}\n", name(class));
    for broken in &class.broken {
        let _ = writeln!(text, "    {}", rule(broken));
    }
    for remark in &class.remarks {
        let _ = writeln!(text, "    {remark}");
    }
    text
}

fn name(class: &ClassOutcome) -> String {
    named(&class.class, &class.loader)
}

/// Returns the name of a class, with its loader if the loader is known.
pub(super) fn named(class: &str, loader: &str) -> String {
    match loader {
        "" => class.to_owned(),
        loader => format!("{class} ({loader})"),
    }
}

/// Returns `method f(I)V was added, JVMTI_ERROR_… (63)`.
fn rule(broken: &BrokenRule) -> String {
    let BrokenRule {
        name,
        number,
        text,
        by_jvm,
        forcible: _,
    } = broken;
    let by = if *by_jvm { "the JVM says: " } else { "" };
    match number {
        0 => text.clone(),
        _ => format!("{by}{text}, {name} ({number})"),
    }
}
