//! What a run is configured with.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use conditions::Watch;
use observations::Subscription;
use probes::{FileName, HitCode};

use super::lock::{self, LOCK, Lock};
use super::suggest;
use crate::error::HostError;

/// Everything a run is configured with.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Settings of the agent itself.
    pub agent: Agent,
    /// Plugins in the order in which their edits are applied; empty only if `plugin=none` asked for that.
    pub plugins: Vec<PluginConfig>,
    /// The file this came from, if any.
    pub source: Option<PathBuf>,
    /// The option `help` was given: print [`crate::config::OPTIONS_HELP`] and let the JVM go on without the agent.
    pub help: bool,
}

/// The table `[agent]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Folder for snapshots.
    pub output: PathBuf,
    /// What the files in it are called, if not as ever.
    pub file_name: Option<FileName>,
    /// What a failure does to the run.
    pub on_error: OnError,
    /// What is written to standard error.
    pub log: LogLevel,
    /// An id stored in the snapshot, to find the files of one run again.
    pub run: Option<String>,
    /// How long an event file may become, in bytes.
    pub max_size: Option<u64>,
    /// What happens when it has that length; counts with `max_size` alone.
    pub when_full: Option<WhenFull>,
    /// Records waits of threads with open calls, and collections, beside the calls.
    pub waits: bool,
    /// Whether the agent can be spoken to while it runs.
    pub control: bool,
    /// Whether what was spliced is checked before it is used.
    pub self_check: bool,
    /// Whether what plugins asked for in the classes of earlier runs is kept and used.
    pub plan_cache: bool,
    /// Whether methods that edits made longer than HotSpot compiles are compiled all the same.
    pub compile_huge: bool,
    /// The code that records hits; without it the agent chooses by the JVM.
    pub hits: Option<HitCode>,
    /// An option without effect, which is accepted for one release.
    pub self_remove: Option<bool>,
    /// Whether results of one class in several loaders are kept apart.
    pub per_loader: bool,
    /// True if classes are changed before agents see them that cannot retransform; loaded classes are never changed then.
    pub before_agents: bool,
    /// Where JaCoCo's tools can ask what was executed.
    pub jacoco_tcp: Option<SocketAddr>,
    /// Whether that may be an address that other machines reach.
    pub jacoco_tcp_remote: bool,
    /// What is recorded of the JVM's own events.
    pub observe: Option<Subscription>,
    /// The plugin that the agent comes for, to leave when it is released.
    pub visit: Option<String>,
    /// Whether loaded classes are instrumented after attaching, and not meanwhile; counts for attaching alone.
    pub later: bool,
    /// Most bytes of metaspace that changing loaded classes may take, as estimated.
    pub metaspace: Option<u64>,
    /// A folder of compiled plugins, besides the user's.
    pub cache: Option<PathBuf>,
    /// The command that compiles plugins, if it is not where it is looked for.
    pub compiler: Option<PathBuf>,
}

/// What a failure does to the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnError {
    /// It is reported; the run goes on.
    #[default]
    Warn,
    /// It is reported and the run fails with exit code 3.
    Strict,
}

/// What happens to single calls when an event file is as long as it may become.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WhenFull {
    /// The oldest are taken out of it.
    #[default]
    DropOldest,
    /// No more of them are written.
    Stop,
}

/// What is written to standard error, least first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What stopped the agent.
    Error,
    /// What went wrong with a class or a plugin.
    #[default]
    Warn,
    /// What was loaded, and the summary at exit.
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
    /// Where the component comes from.
    pub source: PluginSource,
    /// SHA-256 of the `.wasm` file, lower-case hex, if pinned.
    pub digest: Option<String>,
    /// Capabilities granted, for example `probes`.
    pub grant: Vec<String>,
    /// Selectors, as written; they parse (see [`crate::selector::Selection`]).
    pub select: Vec<String>,
    /// The table `[plugin.config]`, handed to the plugin as JSON.
    pub config: serde_json::Value,
    /// Which calls of its spans are kept, and what is shown of them; none if every call is kept.
    pub watch: Option<Watch>,
    /// Line of `classhook.toml` that `grant` is at, for messages.
    pub grant_line: Option<usize>,
    /// The session for which its spans are recorded: 0, unless it came for a command.
    pub session: u8,
    /// Where each value of `config` is in `classhook.toml`, for messages: `rule[1].what` and its line.
    pub config_lines: Vec<(String, usize)>,
}

/// Where a plugin's component comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginSource {
    /// Part of this agent.
    Bundled(String),
    /// A component file.
    File(PathBuf),
}

/// The plugin that records where lines begin: the component of `coverage` with other settings.
pub const LINES: &str = "coverage-lines";

/// The plugin that counts how often lines begin: the same.
pub const COUNTS: &str = "coverage-counts";

/// The separator between the name of a plugin and the number of its session.
pub const SESSION_MARK: char = '#';

/// The plugins that are part of the agent.
pub const BUNDLED: [&str; 3] = ["coverage", "patch", "trace"];

/// What `grant` may hold: `probes` and `rewrite` are interfaces a plugin imports,
/// `boot` lets it see classes of the boot and platform loaders, `natives` puts methods
/// in front of native ones, which stay.
pub const CAPABILITIES: [&str; 29] = [
    "probes",
    "rewrite",
    "structure",
    "raw",
    "helpers",
    "boot",
    "natives",
    "observe-samples",
    "observe-allocations",
    "observe-monitors",
    "observe-exceptions",
    "observe-collections",
    "observe-threads",
    "observe-classes",
    "observe-compilations",
    "observe-natives",
    "observe-exhaustion",
    "observe-catches",
    "observe-unloads",
    "observe-frees",
    "observe-dumps",
    "ask-threads",
    "ask-cpu-times",
    "ask-histogram",
    "ask-properties",
    "ask-stack",
    "ask-monitors",
    "ask-paths",
    "ask-monitor-usage",
];

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
            observe: None,
            visit: None,
            later: false,
            metaspace: None,
            cache: None,
            compiler: None,
        }
    }
}

impl Agent {
    /// Nobody else is to reach the JVM by mistake.
    pub(super) fn check_address(&self) -> Result<(), HostError> {
        let open = self
            .jacoco_tcp
            .filter(|address| !address.ip().is_loopback());
        match open {
            Some(address) if !self.jacoco_tcp_remote => Err(HostError::new(
                "H0105",
                format!("at `jacoco-tcp={address}` other machines can read and reset what is measured, without any authentication"),
            )
            .with("expected", "an address of this machine alone: `127.0.0.1`, `[::1]`, or only a port")
            .with("help", "`jacoco-tcp-remote=on` allows it where a firewall or a container keeps others out")),
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

/// What a plugin is granted without a word: what it needs, if it is bundled.
fn needed(source: &PluginSource) -> Vec<String> {
    let needed: &[&str] = match source {
        PluginSource::Bundled(name) if name == "patch" => &["rewrite"],
        PluginSource::Bundled(name) if name == "trace" => &["probes", "natives"],
        PluginSource::Bundled(_) => &["probes"],
        PluginSource::File(_) => &[],
    };
    needed.iter().map(|name| (*name).to_owned()).collect()
}

impl PluginConfig {
    /// A bundled plugin with its defaults: what it needs is granted, every class of the application selected.
    #[must_use]
    pub fn bundled(name: &str) -> Self {
        let source = PluginSource::Bundled(name.to_owned());
        let grant = needed(&source);
        Self::new(name.to_owned(), source, grant)
    }

    /// The bundled plugin of this name, [`LINES`] or [`COUNTS`]; none if there is no such.
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

    /// Grants these capabilities, to a bundled plugin besides those that it needs; `!natives` withholds one.
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

    /// A component file; nothing is granted. One that was taken into a project is pinned.
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

    /// The same in a session of its own, whose number becomes a part of its name.
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
            grant_line: None,
            session: 0,
            config_lines: Vec::new(),
        }
    }

    /// From `use = "…"` or `plugin=…`: a file if it looks like a path, else the name of a bundled plugin, or of one that
    /// was taken into the project.
    ///
    /// `folder` is what a relative path is relative to, and where the project's lock is.
    pub(super) fn from_reference(reference: &str, folder: &Path) -> Result<Self, HostError> {
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
            None => Err(HostError::new(
                "H0105",
                format!("there is no bundled plugin `{reference}`, nor is it in {LOCK}"),
            )
            .with(
                "expected",
                format!("{}, a path that ends in .wasm, or a plugin that was added", suggest::list(&BUNDLED)),
            )
            .with("help", "`classhook plugin add` takes a file, a URL or a reference in a registry into the project")),
        }
    }
}
