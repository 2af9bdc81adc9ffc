//! The settings of a run.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use conditions::Watch;
use jvm_events::request::requests;
use jvm_events::{EventKind, Subscription};
use probes::coverage_plugins::{COUNTS, LINES};
use probes::{FileName, HitCode};

use super::lock::{self, LOCK, Lock};
use super::suggest;
use errors::{Error, codes};

/// The complete configuration of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Settings of the agent itself.
    pub agent: Agent,
    /// The plugins, in the order of the list. Plugins with equal places keep this order. Only
    /// `plugin=none` gives an empty list.
    pub plugins: Vec<PluginConfig>,
    /// The file of this configuration, if any.
    pub source: Option<PathBuf>,
    /// The option `help` was given: the agent prints [`crate::config::OPTIONS_HELP`] and does
    /// nothing else.
    pub help: bool,
}

/// The table `[agent]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Folder for snapshots.
    pub output: PathBuf,
    /// The pattern of the snapshots' names, if not the default.
    pub file_name: Option<FileName>,
    /// The effect of a failure on the run.
    pub on_error: OnError,
    /// The amount of output on standard error.
    pub log: LogLevel,
    /// An id stored in the snapshot, which identifies the files of one run.
    pub run: Option<String>,
    /// Maximum length of an event file, in bytes.
    pub max_size: Option<u64>,
    /// The action when the event file reaches `max_size`; without effect otherwise.
    pub when_full: Option<WhenFull>,
    /// Records waits of threads with open calls, and garbage collections, beside the calls.
    pub waits: bool,
    /// Opens the control socket, through which commands reach the running agent.
    pub control: bool,
    /// Checks each splice before the JVM gets it.
    pub self_check: bool,
    /// Stores the plugins' plans and reuses those of earlier runs.
    pub plan_cache: bool,
    /// Makes the JVM compile methods that edits made longer than HotSpot's limit
    /// (`-XX:-DontCompileHugeMethods`).
    pub compile_huge: bool,
    /// The code that records hits. By default, the agent chooses it by the JVM.
    pub hits: Option<HitCode>,
    /// An option without effect, accepted for one release.
    pub self_remove: Option<bool>,
    /// Keeps the results of a class separate for each class loader.
    pub per_loader: bool,
    /// Changes classes before agents that cannot retransform see them. Loaded classes are never
    /// changed then.
    pub before_agents: bool,
    /// The address on which JaCoCo's tools can request execution data.
    pub jacoco_tcp: Option<SocketAddr>,
    /// Allows an address that other machines can reach.
    pub jacoco_tcp_remote: bool,
    /// The JVM events to record.
    pub jvm_events: Option<Subscription>,
    /// The plugin for which the agent was loaded. The agent leaves when the plugin is released.
    pub visit: Option<String>,
    /// Instruments loaded classes after the attach has returned instead of during it. Only for
    /// attaching.
    pub later: bool,
    /// Maximum metaspace in bytes that changing loaded classes may take, as an estimate.
    pub metaspace: Option<u64>,
    /// A folder of compiled plugins that is consulted before the user's cache.
    pub cache: Option<PathBuf>,
    /// The command that compiles plugins, if it is not in the default place.
    pub compiler: Option<PathBuf>,
}

/// The effect of a failure on the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// The agent reports the failure, and the run continues.
    #[default]
    Warn,
    /// The agent reports the failure, and the run fails with exit code 3.
    Strict,
}

/// The action for single calls when an event file reaches its maximum length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// Removes the oldest calls from the file.
    #[default]
    DropOldest,
    /// Writes no more calls.
    Stop,
}

/// The amount of output on standard error, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    /// No output.
    Off,
    /// Errors that stopped the agent.
    Error,
    /// Errors with a class or a plugin.
    #[default]
    Warn,
    /// Loaded plugins, and the summary at exit.
    Info,
    /// Each class.
    Debug,
    /// Everything.
    Trace,
}

/// One `[[plugin]]` table.
#[derive(Debug, Clone, PartialEq)]
pub struct PluginConfig {
    /// The name used in messages and snapshots: the bundled name or the file's stem.
    pub name: String,
    /// The source of the component.
    pub source: PluginSource,
    /// SHA-256 of the `.wasm` file, lower-case hex, if pinned.
    pub digest: Option<String>,
    /// Capabilities granted, for example `probes`.
    pub grant: Vec<String>,
    /// Selectors as written, which are valid (see [`crate::selector::Selection`]).
    pub select: Vec<String>,
    /// The table `[plugin.config]`, which the plugin gets as JSON.
    pub config: serde_json::Value,
    /// The condition for calls of its spans and the values to show; `None` keeps every call.
    pub watch: Option<Watch>,
    /// Its place among the plugins: a plugin with a lower number surrounds the others. Without a
    /// number, it has the place of its kind.
    pub order: Option<i16>,
    /// The line of `grant` in `classhook.toml`, for messages.
    pub grant_line: Option<usize>,
    /// The number of the session that records its spans: 0, unless a command loaded the plugin.
    pub session: u8,
    /// The lines of the values of `config` in `classhook.toml`, for messages: `rule[1].what` and
    /// its line.
    pub config_lines: Vec<(String, usize)>,
}

/// The source of a plugin's component.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// A plugin inside the agent, by name.
    Bundled(String),
    /// A component file.
    File(PathBuf),
}

/// The separator between the name of a plugin and the number of its session.
pub const SESSION_MARK: char = '#';

/// The plugins inside the agent.
pub const BUNDLED: [&str; 4] = ["advice", "coverage", "patch", "trace"];

/// The valid values of `grant`. `probes` and `rewrite` are interfaces that a plugin imports. `boot`
/// shows the plugin classes of the boot and platform loaders. `natives` lets it wrap native
/// methods.
pub const CAPABILITIES: [&str; CAPABILITY_COUNT] = all_capabilities();

const CAPABILITY_COUNT: usize = OF_CLASSES.len() + EventKind::GRANTS.len() + requests::GRANTS.len();

/// The capabilities for classes.
const OF_CLASSES: [&str; 7] = [
    "probes",
    "rewrite",
    "structure",
    "raw",
    "helpers",
    "boot",
    "natives",
];

/// Joins the capabilities for classes, for events of the JVM, and for requests to it.
const fn all_capabilities() -> [&'static str; CAPABILITY_COUNT] {
    let parts: [&[&str]; 3] = [&OF_CLASSES, &EventKind::GRANTS, &requests::GRANTS];
    let mut all = [""; CAPABILITY_COUNT];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[at] = parts[part][index];
            index += 1;
            at += 1;
        }
        part += 1;
    }
    all
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            output: PathBuf::from("classhook"),
            file_name: None,
            on_error: OnError::Warn,
            log: LogLevel::Warn,
            run: None,
            max_size: None,
            when_full: None,
            waits: false,
            control: true,
            self_check: true,
            plan_cache: true,
            compile_huge: true,
            hits: None,
            self_remove: None,
            per_loader: false,
            before_agents: false,
            jacoco_tcp: None,
            jacoco_tcp_remote: false,
            jvm_events: None,
            visit: None,
            later: false,
            metaspace: None,
            cache: None,
            compiler: None,
        }
    }
}

impl Agent {
    /// Rejects an address that other machines can reach, unless it is explicitly allowed.
    pub(super) fn check_address(&self) -> Result<(), Error> {
        let open = self
            .jacoco_tcp
            .filter(|address| !address.ip().is_loopback());
        match open {
            Some(address) if !self.jacoco_tcp_remote => Err(Error::mistake(
                codes::H0105,
                format!("at `jacoco-tcp={address}` other machines can read and reset the execution data without authentication"),
            )
            .with("expected", "an address of this machine: `127.0.0.1`, `[::1]`, or only a port")
            .with("help", "`jacoco-tcp-remote=on` permits it, for example behind a firewall")),
            _ => Ok(()),
        }
    }
}

impl Default for Config {
    /// The bundled coverage plugin with the default selection.
    fn default() -> Self {
        let plugins = vec![PluginConfig::bundled("coverage")];
        Self {
            agent: Agent::default(),
            plugins,
            source: None,
            help: false,
        }
    }
}

/// Returns the implicit grants: those that a bundled plugin needs.
fn needed(source: &PluginSource) -> Vec<String> {
    let needed: &[&str] = match source {
        PluginSource::Bundled(name) if name == "advice" => &["helpers", "probes", "rewrite"],
        PluginSource::Bundled(name) if name == "patch" => &["rewrite"],
        PluginSource::Bundled(name) if name == "trace" => &["probes", "natives"],
        PluginSource::Bundled(_) => &["probes"],
        PluginSource::File(_) => &[],
    };
    needed.iter().map(|name| (*name).to_owned()).collect()
}

impl PluginConfig {
    /// Configures a bundled plugin with its defaults: the grants that it needs, and every class of
    /// the application.
    #[must_use]
    pub fn bundled(name: &str) -> Self {
        let source = PluginSource::Bundled(name.to_owned());
        let grant = needed(&source);
        Self::new(name.to_owned(), source, grant)
    }

    /// Configures the bundled plugin of this name, or [`LINES`] or [`COUNTS`]. Returns `None` for
    /// another name.
    #[must_use]
    pub fn bundled_of(name: &str) -> Option<Self> {
        let config = match name {
            LINES => serde_json::json!({"lines": true}),
            COUNTS => serde_json::json!({"counts": true}),
            _ => return BUNDLED.contains(&name).then(|| Self::bundled(name)),
        };
        Some(Self {
            name: name.to_owned(),
            config,
            ..Self::bundled("coverage")
        })
    }

    /// Grants these capabilities. A bundled plugin keeps those that it needs; `!natives` withholds
    /// one.
    pub(super) fn set_grant(&mut self, capabilities: &[String]) {
        self.grant = needed(&self.source);
        for capability in capabilities {
            match capability.strip_prefix('!') {
                Some(withheld) => self.grant.retain(|granted| granted != withheld),
                None if self.grant.contains(capability) => {}
                None => self.grant.push(capability.clone()),
            }
        }
    }

    /// Configures a component file without grants. A component that was added to the project is
    /// pinned by its digest.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        let name = path
            .file_stem()
            .map_or_else(|| "plugin".into(), |stem| stem.to_string_lossy());
        let digest = lock::digest_of(&path).map(str::to_owned);
        Self {
            digest,
            ..Self::new(name.into_owned(), PluginSource::File(path), Vec::new())
        }
    }

    /// Moves the plugin into a session, whose number becomes a part of its name.
    #[must_use]
    pub fn in_session(self, session: u8) -> Self {
        Self {
            name: format!("{}{SESSION_MARK}{session}", self.name),
            session,
            ..self
        }
    }

    fn new(name: String, source: PluginSource, grant: Vec<String>) -> Self {
        let config = serde_json::Value::Object(serde_json::Map::new());
        Self {
            name,
            source,
            digest: None,
            grant,
            select: Vec::new(),
            config,
            watch: None,
            order: None,
            grant_line: None,
            session: 0,
            config_lines: Vec::new(),
        }
    }

    /// Resolves `use = "…"` or `plugin=…`. A path names a file; another text names a bundled plugin
    /// or one that was added to the project.
    ///
    /// Relative paths and the project's lock are relative to `folder`.
    pub(super) fn from_reference(reference: &str, folder: &Path) -> Result<Self, Error> {
        let path = Path::new(reference);
        if path
            .extension()
            .is_some_and(|extension| extension == "wasm")
            || reference.contains('/')
        {
            return Ok(Self::file(folder.join(path)));
        }
        if let Some(bundled) = Self::bundled_of(reference) {
            return Ok(bundled);
        }
        match Lock::load(folder)?.find(reference) {
            Some(plugin) => Ok(Self::file(plugin.file(folder))),
            None => Err(Error::mistake(
                codes::H0105,
                format!("`{reference}` is neither a bundled plugin nor in {LOCK}"),
            )
            .with(
                "expected",
                format!("{}, a path that ends in .wasm, or a plugin that was added", suggest::list(&BUNDLED)),
            )
            .with("help", "`classhook plugin add` adds a file, a URL or a reference in a registry to the project")),
        }
    }
}
