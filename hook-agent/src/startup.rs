//! The start of the agent in a JVM, at launch and by attaching.

use crate::agent::Agent;
use crate::agent::subscribers::{SubscriberId, Subscribers};
use crate::ffi::callbacks::event_callbacks;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::{Live, OnLoad, OnLoadOrLive};
use crate::ffi::process;
use crate::ffi::refs::Local;
use crate::ffi::table::{CAN_RETRANSFORM_CLASSES, Capabilities, Event};
use crate::ffi::vm::Vm;
use crate::messages::{self, Code};
use crate::plugin_compiler::PluginCompiler;
use crate::{current, live_phase, subscribers, unchangeable};
use errors::Error;
use host::config::{OPTIONS_HELP, OnError};
use host::{Config, Pipeline};
use jni_sys::{JNI_EEXIST, JNI_ERR, JNI_OK, jint};
use jvm_events::EventSubscription;
use probes::{HitCode, Meta, SnapshotOptions, SnapshotWriter};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// The oldest Java release in which the agent works.
const OLDEST_JAVA: u16 = 8;
/// Longest wait for a JVM that is still starting when a process attaches to it.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// The reason why the agent does not start.
#[derive(Debug)]
pub(crate) enum StartError {
    /// The configuration or a plugin.
    Host(Error),
    /// The JVM or the output folder.
    Agent(Code, String),
}

impl From<Error> for StartError {
    fn from(error: Error) -> Self {
        StartError::Host(error)
    }
}

impl StartError {
    /// The reason in one line.
    fn cause(&self) -> String {
        let text = match self {
            StartError::Host(error) => error.to_string(),
            StartError::Agent(_, text) => text.clone(),
        };
        text.lines().next().unwrap_or_default().to_owned()
    }

    fn report(&self) {
        match self {
            StartError::Host(error) => messages::host_error(error),
            StartError::Agent(code, text) => messages::error(*code, text),
        }
    }
}

/// `Agent_OnLoad`: 0 lets the JVM go on, any other value ends it.
pub(crate) fn on_load(vm: Vm, phase: OnLoad, options: &[u8]) -> jint {
    match start(vm, phase, options) {
        Ok(_) => JNI_OK,
        Err((error, on_error)) => {
            leave_failure(&error, options);
            refuse(&error, on_error)
        }
    }
}

/// `Agent_OnAttach`: the JVM goes on in any case, and returns the value to the attaching process.
pub(crate) fn on_attach(vm: Vm, live: Live, local: Local<'_>, options: &[u8]) -> jint {
    messages::copy_to(message_file(options));
    let result = attach(vm, live, local, options);
    messages::copy_to(None);
    result
}

fn attach(vm: Vm, live: Live, local: Local<'_>, options: &[u8]) -> jint {
    match start(vm, live, options) {
        // The attaching process must learn that its options were ignored.
        Ok(None) if current::get().is_some() => JNI_EEXIST,
        Ok(None) => JNI_OK,
        Ok(Some(agent)) if live_phase::attached(agent, agent.jvm(live, local)) => JNI_OK,
        Ok(Some(agent)) => {
            current::retire();
            agent.jvmti.dispose();
            agent.results.snapshot.discard();
            JNI_ERR
        }
        Err((error, _)) => {
            error.report();
            JNI_ERR
        }
    }
}

fn refuse(error: &StartError, on_error: OnError) -> jint {
    error.report();
    match on_error {
        OnError::Strict => JNI_ERR,
        OnError::Warn => {
            messages::error_note(
                "the JVM goes on without Classhook (on-error=strict makes it stop)",
            );
            JNI_OK
        }
    }
}

/// Runs all steps that can fail before the agent sees a class. Returns `None` if there is nothing to start.
fn start<P: OnLoadOrLive>(
    vm: Vm,
    phase: P,
    options: &[u8],
) -> Result<Option<&'static Agent>, (StartError, OnError)> {
    let asked = asked_on_error(options);
    let mut config = configure(options).map_err(|error| (error, asked))?;
    // At launch no process waits for the agent; and without its socket nothing can make it work later.
    config.agent.later &= P::IS_LIVE;
    if config.agent.before_agents && P::IS_LIVE {
        let text = "before-agents=on requires an agent from the start of the JVM: other agents have changed the loaded classes already";
        return Err((StartError::Agent(Code::Options, text.to_owned()), asked));
    }
    if config.agent.before_agents && config.agent.hits == Some(HitCode::Call) {
        let text =
            "hits=calls needs an agent that can retransform, which before-agents=on rules out";
        return Err((StartError::Agent(Code::Options, text.to_owned()), asked));
    }
    let on_error = config.agent.on_error;
    if config.help {
        messages::answer(format_args!(
            "options of the agent, as key=value,key=value:\n{}",
            OPTIONS_HELP.trim_end()
        ));
        return Ok(None);
    }
    if let Some(agent) = current::get() {
        // At launch the first agent begins its work later.
        let text = match agent.run.is_running() || !P::IS_LIVE {
            true => {
                "the agent is loaded in this JVM already; it goes on with its first options, and these are ignored"
            }
            false => {
                "the agent is loaded in this JVM already, but it is leaving or could not start; these options are ignored"
            }
        };
        messages::to_attaching(Code::Twice, text);
        return Ok(None);
    }
    messages::set_level(config.agent.log);
    if config.agent.self_remove.is_some() {
        messages::warning(
            Code::Options,
            "self-remove has no effect any more: the compilers remove each probe once it was hit. The next release refuses the option",
        );
    }
    begin(vm, phase, config)
        .map(Some)
        .map_err(|error| (error, on_error))
}

fn configure(options: &[u8]) -> Result<Config, StartError> {
    let text = std::str::from_utf8(options).map_err(|error| {
        let at = error.valid_up_to();
        StartError::Agent(Code::Options, format!("the option string is not UTF-8 at byte {at}; write such paths to a file and pass it with config=FILE"))
    })?;
    Ok(Config::from_options(text)?)
}

/// Opens the message file that the options name, even if other options are wrong. Links are not followed.
fn message_file(options: &[u8]) -> Option<File> {
    OpenOptions::new()
        .append(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path_option(options, b"messages=")?)
        .ok()
}

/// The path that follows a key, even if other options are wrong.
fn path_option<'o>(options: &'o [u8], key: &[u8]) -> Option<&'o OsStr> {
    let mut parts = options.split(|byte| *byte == b',');
    let path = parts.find_map(|part| part.strip_prefix(key))?;
    Some(OsStr::from_bytes(path))
}

/// Leaves a file for the command that started the JVM. Otherwise the command would not learn that this JVM recorded
/// nothing.
///
/// The file's name is its main content: a file can be created on a full disk too, and stays empty there.
fn leave_failure(error: &StartError, options: &[u8]) {
    let Some(folder) = path_option(options, b"failures=") else {
        return;
    };
    let path = Path::new(folder).join(std::process::id().to_string());
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .custom_flags(libc::O_NOFOLLOW)
        .open(path);
    if let Ok(mut file) = made {
        let text = format!("{}\n{}\n", command_line(), error.cause());
        let _ = file.write_all(text.as_bytes());
    }
}

/// The value of `on-error` in the options, or in the file that they name, even if other options are wrong.
fn asked_on_error(options: &[u8]) -> OnError {
    let mut on_error = OnError::Warn;
    for option in options.split(|byte| *byte == b',') {
        match option.split_at_checked(7) {
            Some((b"config=", file)) if file_is_strict(file) => on_error = OnError::Strict,
            Some((b"on-erro", b"r=strict")) => return OnError::Strict,
            Some((b"on-erro", b"r=warn")) => return OnError::Warn,
            _ => {}
        }
    }
    on_error
}

/// Checks whether a configuration file has a line `on-error = "strict"`.
fn file_is_strict(file: &[u8]) -> bool {
    let text = std::str::from_utf8(file)
        .ok()
        .and_then(|file| std::fs::read_to_string(file).ok());
    text.unwrap_or_default().lines().any(|line| {
        let (key, value) = line.split_once('=').unwrap_or_default();
        key.trim() == "on-error" && value.trim().starts_with("\"strict\"")
    })
}

/// Creates a JVM TI environment, the plugins and a snapshot: all or nothing.
fn begin(vm: Vm, phase: impl OnLoadOrLive, config: Config) -> Result<&'static Agent, StartError> {
    let jvmti = environment(vm, phase)?;
    let recording = recording(vm, phase, &config).inspect_err(|_| jvmti.dispose())?;
    equip((vm, jvmti), phase, config, recording).inspect_err(|_| {
        jvmti.dispose();
        recording.into_iter().for_each(Jvmti::dispose);
    })
}

/// Creates the environment of a recording that begins with the JVM: the JVM grants some capabilities only before the
/// live phase.
fn recording(
    vm: Vm,
    phase: impl OnLoadOrLive,
    config: &Config,
) -> Result<Option<Jvmti>, StartError> {
    let subscription = config.agent.jvm_events.as_ref();
    let equipped = subscription.map(|found| {
        subscribers::equipped(Some(vm), phase, &EventSubscription::of_recording(found))
    });
    equipped
        .transpose()
        .map_err(|cause| StartError::Agent(Code::JvmEvents, cause))
}

fn equip(
    (vm, jvmti): (Vm, Jvmti),
    phase: impl OnLoadOrLive,
    config: Config,
    recording: Option<Jvmti>,
) -> Result<&'static Agent, StartError> {
    let refused = |what: &str, error: JvmtiError| {
        StartError::Agent(Code::Refused, format!("the JVM refuses {what}: {error}"))
    };
    // The JVM passes a class first to environments without this capability, in the order of the command line.
    if !config.agent.before_agents {
        let wanted = Capabilities::only(CAN_RETRANSFORM_CLASSES);
        jvmti.add_capabilities(phase, wanted).map_err(|error| {
            refused(
                "the capability can_retransform_classes; another agent may hold it",
                error,
            )
        })?;
    }
    let pipeline = Pipeline::with_plan_cache(&config, &PluginCompiler::new(&config))?;
    // Until the agent is installed the callbacks have no effect.
    let events = [Event::VM_INIT, Event::VM_DEATH, Event::DATA_DUMP_REQUEST];
    jvmti
        .set_event_callbacks(phase, &event_callbacks())
        .and_then(|()| {
            events
                .into_iter()
                .try_for_each(|event| jvmti.set_event(phase, event, true))
        })
        .map_err(|error| refused("the events of the agent", error))?;
    // Last, so that a start that fails leaves no snapshot behind.
    let meta = meta(jvmti, phase, &config);
    let recorder = open_snapshot(&meta, &config)?;
    let recording = recording.map(|jvmti| (SubscriberId::Recording, jvmti));
    // A refusal is reported when the plugin subscribes.
    let equipped = |(number, subscriptions, requests_owners): (u64, &[EventSubscription], bool)| {
        let jvmti = subscribers::equipped(Some(vm), phase, subscriptions).ok()?;
        if requests_owners {
            let _ = subscribers::equip_for_owners(jvmti, phase);
        }
        Some((SubscriberId::Plugin(number), jvmti))
    };
    let prepared = pipeline
        .subscriptions()
        .filter_map(equipped)
        .chain(recording);
    let subscribers = Subscribers::new(prepared.collect());
    let agent = Agent::new(jvmti, config, pipeline, recorder, meta, subscribers);
    current::install(Box::new(agent)).map_err(|agent| {
        agent.results.snapshot.discard();
        StartError::Agent(
            Code::Twice,
            "the agent was started twice at the same time".to_owned(),
        )
    })
}

/// The JVM TI environment. HotSpot creates none between `Agent_OnLoad` and the live phase, so an early attach waits for
/// the live phase.
fn started(vm: Vm) -> Option<Jvmti> {
    let until = Instant::now() + START_TIMEOUT;
    loop {
        match vm.jvmti() {
            None if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            found => return found,
        }
    }
}

/// Creates the environment, and checks that the JVM is new enough.
fn environment(vm: Vm, phase: impl OnLoadOrLive) -> Result<Jvmti, StartError> {
    let found = match started(vm) {
        None => "one without JVM TI 1.2".to_owned(),
        Some(jvmti) => match jvmti.java_release(phase) {
            Some(release) if release < OLDEST_JAVA => {
                jvmti.dispose();
                format!("Java {release}")
            }
            _ => {
                unchangeable::find(jvmti, phase);
                return Ok(jvmti);
            }
        },
    };
    let message = format!(
        "this JVM is too old: expected OpenJDK {OLDEST_JAVA} or newer, found {found}; use a newer JDK"
    );
    Err(StartError::Agent(Code::OldJvm, message))
}

/// Creates the output folder and the snapshot in it.
fn open_snapshot(meta: &Meta, config: &Config) -> Result<SnapshotWriter, StartError> {
    let folder = &config.agent.output;
    let failed = |cause: String| {
        let help =
            "name another folder: --output DIR of a command, output=DIR among the agent's options";
        StartError::Agent(
            Code::Output,
            format!(
                "no snapshot can be written to {}: {cause}; {help}",
                folder.display()
            ),
        )
    };
    std::fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    SnapshotWriter::create(folder, meta.clone(), SnapshotOptions::default())
        .map_err(|error| failed(error.to_string()))
}

/// The metadata of the run at its start.
fn meta(jvmti: Jvmti, phase: impl OnLoadOrLive, config: &Config) -> Meta {
    let property = |name| jvmti.system_property(phase, name).unwrap_or_default();
    let mut meta = Meta {
        run: config.agent.run.clone().unwrap_or_default(),
        host: std::fs::read_to_string("/proc/sys/kernel/hostname")
            .unwrap_or_default()
            .trim()
            .to_owned(),
        pid: std::process::id(),
        start_ms: process::now_ms(),
        jvm: format!(
            "{} {}",
            property(c"java.vm.name"),
            property(c"java.vm.version")
        ),
        java_home: property(c"java.home"),
        java_feature: jvmti.java_release(phase).map_or(0, u32::from),
        command: command_line(),
        variables: variables(),
        folder: std::env::current_dir().map_or_else(
            |_| String::new(),
            |folder| folder.to_string_lossy().into_owned(),
        ),
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        plugins: config
            .plugins
            .iter()
            .map(|plugin| plugin.name.clone())
            .collect(),
        per_loader: config.agent.per_loader,
        ..Meta::default()
    };
    if let Some(name) = &config.agent.file_name {
        meta.file_name = name.of(&meta, &process::user());
    }
    meta
}

/// Environment variables with options of a JVM, in the order in which it reads them.
const VARIABLES: [&str; 3] = ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"];

/// Returns the JVM's options in environment variables.
fn variables() -> String {
    let values = VARIABLES.iter().filter_map(std::env::var_os);
    let values: Vec<String> = values
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    values.join(" ")
}

/// The command line of the process; arguments with spaces are in quotes.
fn command_line() -> String {
    let raw = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let arguments = raw
        .split(|byte| *byte == 0)
        .filter(|argument| !argument.is_empty());
    let quoted: Vec<String> = arguments
        .map(|argument| String::from_utf8_lossy(argument).into_owned())
        .map(|argument| {
            if argument.contains(' ') {
                format!("\"{argument}\"")
            } else {
                argument
            }
        })
        .collect();
    quoted.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strict_is_found_among_wrong_options() {
        assert_eq!(asked_on_error(b"bad key,on-error=strict"), OnError::Strict);
        assert_eq!(asked_on_error(b"on-error=warn,output=x"), OnError::Warn);
        assert_eq!(asked_on_error(b""), OnError::Warn);
        assert_eq!(asked_on_error(b"config=/no/such/file"), OnError::Warn);
    }

    #[test]
    fn strict_is_found_in_a_malformed_file() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "[agent]\n on-error = \"strict\" # here\n=?\n")
            .expect("written");
        let options = format!("config={}", file.path().display());
        assert_eq!(asked_on_error(options.as_bytes()), OnError::Strict);
        assert_eq!(
            asked_on_error(format!("{options},on-error=warn").as_bytes()),
            OnError::Warn
        );
    }

    #[test]
    fn options_that_are_not_utf8_are_refused_with_the_position() {
        let error = configure(b"output=\xFF").expect_err("no text");
        assert!(matches!(error, StartError::Agent(Code::Options, text) if text.contains("byte 7")));
    }
}
