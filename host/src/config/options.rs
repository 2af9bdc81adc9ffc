//! The agent's option string: `key=value,key=value`.

use std::path::{Path, PathBuf};

use super::settings::{Config, PluginConfig, PluginSource};
use super::suggest;
use super::values::{
    check_grant, check_selector, parse_address, parse_file_name, parse_hits, parse_log,
    parse_on_error, parse_order, parse_size, parse_subscription, parse_switch, parse_when_full,
};
use super::watch::WatchTexts;
use errors::{Error, codes};

/// The output of the option `help`: all keys.
pub const OPTIONS_HELP: &str = "\
Options of the Classhook agent: -agentpath:…/libclasshook.so=key=value,key=value
A comma or backslash inside a value is written \\, or \\\\.

  config=FILE        start from this classhook.toml; the keys below override it
  output=DIR         write snapshots into this folder (default: classhook)
  file-name=NAME     begin the names of the files so: %p process id, %h machine,
                     %t time of the start, %u user; a random number follows
                     (default: classhook-%p- and the start in milliseconds)
  plugin=NAME|FILE   load a bundled plugin (coverage, patch, trace) or a .wasm file;
                     may be repeated. none: load no plugin at the start.
                     Without config and plugin: coverage
  select=A;B;C       select classes; may be repeated. com.acme.**  @annotation
                     <:supertype  loader:app  location:FOLDER|JAR  location:any;
                     ! in front excludes.
                     For the plugins of plugin=, else for all
  grant=A;B          grant capabilities: probes, rewrite, structure (members and names),
                     raw (whole class files), helpers (helper classes), boot (classes
                     of the boot and platform loaders), natives (spans on native
                     methods), jvm-events.samples and others (events of the JVM).
                     For the plugins of plugin=, else for all
  advice=FILE        load the bundled plugin advice with the configuration in this JSON
                     file, which `classhook run --advice` and others write
  settings=JSON      configure the plugins of plugin=, else all, with this
                     [plugin.config] as JSON
  when=CONDITION     keep only single calls that match, of the plugins of plugin=,
                     else of all: duration > 100ms || threw
  show=VALUES        keep these values of each single call as well: arg, returned,
                     this.size, stack(10)
  calls=NUMBER       keep at most this number of these calls
  calls-per-second=NUMBER  keep at most this number within one second
  depth=LEVELS       keep nested objects with fields, elements and entries up to
                     this depth, 0 (default) to 8
  about=WHAT         apply when= and show= to: calls (default); places, the events of
                     plugins without values; writes:CLASS.FIELD;…, those of these
                     events that write one of these fields
  order=NUMBER       place the plugins of plugin=, else all, among the others: the edits
                     of a lower number are around those of a higher one, -1000 to
                     1000 (default: recorders -100, coverage 100, others 0)
  max-size=SIZE      limit the size of an event file: 500M, 2G; at least 8M
  when-full=MODE     at this limit, drop-oldest: remove the oldest single calls
                     (default); stop: write no more of them. Sums continue
  waits=on|off       record waits of threads with open calls, and garbage collections,
                     beside the calls (default: off)
  on-error=MODE      after a failure, warn: report and continue (default); strict: exit
                     the JVM with 3
  run=ID             store this id in the snapshot
  control=on|off     accept `classhook status PID` and other commands while the
                     program runs (default: on)
  self-check=on|off  compare each changed class with the original before it is used
                     (default: on)
  plan-cache=on|off  keep the plugins' plans in the user's cache, and reuse those of
                     earlier runs (default: on)
  compile-huge=on|off
                     let HotSpot compile methods that edits made longer than 8,000
                     bytes: clears its flag DontCompileHugeMethods for the whole JVM
                     at the first such method (default: on)
  hits=calls|stores  record hits by calls, which the compilers remove once a probe was
                     hit, or by stores, which are better for interpreted code
                     (default: the better one for the JVM)
  self-remove=on|off no effect, removed in the next release: the compilers
                     remove each probe once it was hit
  per-loader=on|off  record classes with the same bytes separately for each class
                     loader (default: off)
  before-agents=on|off
                     change classes before later agents on the command line that cannot
                     retransform, such as weavers; loaded classes are never changed
                     then (default: off)
  jacoco-tcp=[ADDRESS:]PORT
                     let JaCoCo's tools dump and reset execution data while the JVM
                     runs, as with output=tcpserver of its agent (default of ADDRESS:
                     127.0.0.1)
  jacoco-tcp-remote=on|off
                     permit an address that other machines reach, without
                     authentication (default: off)
  jvm-events=A;B;C   record events of the JVM for `classhook profile`:
                     cpu:10ms (samples of threads that use CPU time, at this interval),
                     allocations:524288 (a sample per this number of bytes of a thread),
                     live (the sampled objects that are alive at the end), monitors,
                     exceptions, collections, depth:128 (frames of each stack)
  visit=PLUGIN       load the agent for this plugin only, as `classhook trace PID` does;
                     the agent leaves when the command that attached it ends
  later=on|off       instrument loaded classes after the attach has returned, instead
                     of during it (default: off); no effect at the start of the JVM
  metaspace=BYTES    limit the estimated metaspace for changes of loaded classes;
                     beyond it, none is changed (default: no limit)
  cache=DIR          use this folder of compiled plugins besides the user's cache;
                     the command `classhook` fills it
  compiler=FILE      use this command `classhook` to compile plugins that no cache
                     holds (default: beside the agent's library, in ../bin, in PATH)
  messages=FILE      write messages during an attach into this existing file
  failures=DIR       write a file named by the process id into this existing folder
                     if the agent cannot start with its JVM
  log=LEVEL          print messages of this level: off, error, warn (default), info,
                     debug, trace
  help               print this text and run the JVM without the agent
";

const KEYS: [&str; 40] = [
    "config",
    "output",
    "file-name",
    "plugin",
    "select",
    "grant",
    "advice",
    "settings",
    "when",
    "show",
    "calls",
    "calls-per-second",
    "about",
    "depth",
    "order",
    "max-size",
    "when-full",
    "waits",
    "on-error",
    "run",
    "control",
    "self-check",
    "plan-cache",
    "compile-huge",
    "hits",
    "self-remove",
    "per-loader",
    "before-agents",
    "jacoco-tcp",
    "jacoco-tcp-remote",
    "jvm-events",
    "visit",
    "later",
    "metaspace",
    "cache",
    "compiler",
    "messages",
    "failures",
    "log",
    "help",
];

impl Config {
    /// Parses the agent's option string, `key=value,key=value`. An empty string means all defaults.
    /// See [`OPTIONS_HELP`].
    ///
    /// # Errors
    /// `H01xx` or `H02xx`, as for [`Config::load`].
    pub fn from_options(options: &str) -> Result<Self, Error> {
        parse(options)
    }
}

impl PluginConfig {
    /// Applies options of plugins to this one: `select`, `grant`, `settings`, and conditions of its calls. Its component
    /// stays, and so does every setting that the options do not name.
    ///
    /// # Errors
    /// As for [`Config::from_options`].
    pub fn with_options(self, options: &str) -> Result<Self, Error> {
        let mut config = Config::default();
        let mut lists = Lists {
            plugins: vec![self.clone()],
            ..Lists::default()
        };
        for (key, value) in &split(options)? {
            apply(&mut config, &mut lists, key, value)?;
        }
        lists.apply(&mut config)?;
        let mut plugins = config.plugins.into_iter();
        Ok(plugins
            .find(|found| found.name == self.name)
            .unwrap_or(self))
    }
}

/// Parses the option string.
fn parse(options: &str) -> Result<Config, Error> {
    let pairs = split(options)?;
    let mut config = match pairs.iter().rfind(|(key, _)| key == "config") {
        Some((_, path)) => Config::load(Path::new(path))?,
        None => Config::default(),
    };
    let mut lists = Lists::default();
    for (key, value) in &pairs {
        apply(&mut config, &mut lists, key, value)?;
    }
    lists.apply(&mut config)?;
    config.agent.check_address()?;
    if config.agent.when_full.is_some() && config.agent.max_size.is_none() {
        return Err(Error::mistake(codes::H0105, "`when-full` needs `max-size`")
            .with("expected", "`max-size` together with `when-full`"));
    }
    Ok(config)
}

/// Repeatable keys, which concern plugins.
#[derive(Default)]
struct Lists {
    /// The option string has `plugin=none`.
    none: bool,
    plugins: Vec<PluginConfig>,
    select: Option<Vec<String>>,
    grant: Option<Vec<String>>,
    settings: Option<serde_json::Value>,
    advice: Option<PluginConfig>,
    watch: WatchTexts,
    order: Option<i16>,
}

impl Lists {
    /// Adds named plugins to those of a configuration file, or replaces the default plugin.
    fn apply(self, config: &mut Config) -> Result<(), Error> {
        let watch = self.watch.parse()?;
        let is_named = !self.plugins.is_empty() || self.advice.is_some();
        let replaced = is_named && config.source.is_none();
        if self.none || replaced {
            config.plugins.clear();
        }
        let first = if self.plugins.is_empty() {
            0
        } else {
            config.plugins.len()
        };
        config.plugins.extend(self.plugins);
        config.plugins.extend(self.advice);
        names_differ(&config.plugins)?;
        for plugin in config.plugins.iter_mut().skip(first) {
            plugin.select = self
                .select
                .clone()
                .unwrap_or_else(|| std::mem::take(&mut plugin.select));
            let is_advice = plugin.source == PluginSource::Bundled(ADVICE.to_owned());
            if let Some(settings) = self.settings.as_ref().filter(|_| !is_advice) {
                plugin.config = settings.clone();
                plugin.config_lines.clear();
            }
            if let Some(grant) = &self.grant {
                plugin.set_grant(grant);
                plugin.grant_line = None;
            }
            if watch.is_some() {
                plugin.watch.clone_from(&watch);
            }
            plugin.order = self.order.or(plugin.order);
        }
        Ok(())
    }
}

fn apply(config: &mut Config, lists: &mut Lists, key: &str, value: &str) -> Result<(), Error> {
    match key {
        "config" => {}
        "output" => config.agent.output = PathBuf::from(value),
        "file-name" => config.agent.file_name = Some(parse_file_name(value)?),
        "plugin" if value == "none" => lists.none = true,
        "plugin" => {
            let plugin = PluginConfig::from_reference(value, Path::new(""))?;
            lists.plugins.push(plugin);
        }
        "select" => extend(&mut lists.select, value, check_selector)?,
        "grant" => extend(&mut lists.grant, value, check_grant)?,
        "advice" => lists.advice = Some(read_advice(Path::new(value))?),
        "settings" => lists.settings = Some(parse_settings(value)?),
        "when" => lists.watch.when = Some(value.to_owned()),
        "show" => lists.watch.show = Some(value.to_owned()),
        "calls" => lists.watch.calls = Some(parse_number("calls", value)?),
        "calls-per-second" => {
            lists.watch.per_second = Some(parse_number("calls-per-second", value)?);
        }
        "about" => lists.watch.about = Some(value.to_owned()),
        "depth" => lists.watch.depth = Some(parse_depth(value)?),
        "order" => lists.order = Some(parse_order(value)?),
        "max-size" => config.agent.max_size = Some(parse_size("max-size", value)?),
        "when-full" => config.agent.when_full = Some(parse_when_full(value)?),
        "waits" => config.agent.waits = parse_switch("waits", value)?,
        "on-error" => config.agent.on_error = parse_on_error(value)?,
        "run" => config.agent.run = Some(value.to_owned()),
        "control" => config.agent.control = parse_switch("control", value)?,
        "self-check" => config.agent.self_check = parse_switch("self-check", value)?,
        "plan-cache" => config.agent.plan_cache = parse_switch("plan-cache", value)?,
        "compile-huge" => config.agent.compile_huge = parse_switch("compile-huge", value)?,
        "hits" => config.agent.hits = Some(parse_hits(value)?),
        "self-remove" => config.agent.self_remove = Some(parse_switch("self-remove", value)?),
        "per-loader" => config.agent.per_loader = parse_switch("per-loader", value)?,
        "before-agents" => config.agent.before_agents = parse_switch("before-agents", value)?,
        "jacoco-tcp" => config.agent.jacoco_tcp = Some(parse_address("jacoco-tcp", value)?),
        "jacoco-tcp-remote" => {
            config.agent.jacoco_tcp_remote = parse_switch("jacoco-tcp-remote", value)?;
        }
        "jvm-events" => config.agent.jvm_events = Some(parse_subscription(value)?),
        "visit" => config.agent.visit = Some(value.to_owned()),
        "later" => config.agent.later = parse_switch("later", value)?,
        "metaspace" => config.agent.metaspace = Some(parse_number("metaspace", value)?),
        "cache" => config.agent.cache = Some(PathBuf::from(value)),
        "compiler" => config.agent.compiler = Some(PathBuf::from(value)),
        "messages" | "failures" => {} // read before all others
        "log" => config.agent.log = parse_log(value)?,
        "help" => config.help = true,
        _ => return Err(unknown(key)),
    }
    Ok(())
}

/// The bundled plugin whose configuration is a file of its own.
const ADVICE: &str = "advice";

/// Returns the plugin with the configuration in a file.
fn read_advice(path: &Path) -> Result<PluginConfig, Error> {
    let text = std::fs::read_to_string(path).map_err(|error| {
        Error::mistake(
            codes::H0102,
            format!("the advice {} cannot be read", path.display()),
        )
        .with("found", error.to_string())
    })?;
    let wrong = |found: String| {
        let text = format!("the advice {} is not a JSON object", path.display());
        Error::mistake(codes::H0105, text)
            .with("found", found)
            .with("help", "`classhook run --advice` writes such a file")
    };
    let config = match serde_json::from_str(&text) {
        Ok(config @ serde_json::Value::Object(_)) => config,
        Ok(_) => return Err(wrong("another value".to_owned())),
        Err(error) => return Err(wrong(error.to_string())),
    };
    Ok(PluginConfig {
        config,
        ..PluginConfig::bundled(ADVICE)
    })
}

/// Checks that each plugin has a name of its own.
fn names_differ(plugins: &[PluginConfig]) -> Result<(), Error> {
    for (number, plugin) in plugins.iter().enumerate() {
        let mut before = plugins.iter().take(number);
        if before.any(|other| other.name == plugin.name) {
            return Err(Error::mistake(
                codes::H0105,
                format!("two plugins have the name `{}`", plugin.name),
            ));
        }
    }
    Ok(())
}

fn parse_settings(value: &str) -> Result<serde_json::Value, Error> {
    let wrong = |found: String| {
        Error::mistake(codes::H0105, "`settings` is not a JSON object")
            .with(
                "expected",
                r#"one such as `{"key": "value"}`; among the agent's options with `\,` for each comma"#,
            )
            .with("found", found)
    };
    match serde_json::from_str(value) {
        Ok(settings @ serde_json::Value::Object(_)) => Ok(settings),
        Ok(other) => Err(wrong(other.to_string())),
        Err(error) => Err(wrong(error.to_string())),
    }
}

/// Parses a number of at least 1.
fn parse_number<T: std::str::FromStr + PartialOrd + From<u8>>(
    key: &str,
    value: &str,
) -> Result<T, Error> {
    let number = value.parse().ok().filter(|number| *number >= T::from(1));
    number.ok_or_else(|| {
        Error::mistake(codes::H0105, format!("`{key}` is not a number of calls"))
            .with("expected", "a whole number from 1 on")
            .with("found", value)
    })
}

/// Parses a number of levels. The check of the whole watch reports a number that is too large.
fn parse_depth(value: &str) -> Result<u8, Error> {
    value.parse().map_err(|_| {
        Error::mistake(codes::H0105, "`depth` is not a number of levels")
            .with("expected", "a whole number from 0 on")
            .with("found", value)
    })
}

/// Adds the parts of `value` separated by `;`, each of which must pass `check`.
fn extend(
    list: &mut Option<Vec<String>>,
    value: &str,
    check: fn(&str) -> Result<(), Error>,
) -> Result<(), Error> {
    let list = list.get_or_insert_default();
    for part in value
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        check(part)?;
        list.push(part.to_owned());
    }
    Ok(())
}

/// Splits the string at commas, and each part at its first `=`.
fn split(options: &str) -> Result<Vec<(String, String)>, Error> {
    let mut pairs = Vec::new();
    for part in parts(options)? {
        let part = part.trim();
        if part.is_empty() {
            continue;
        }
        match part.split_once('=') {
            Some((key, value)) if !value.is_empty() => {
                pairs.push((key.to_owned(), value.to_owned()))
            }
            None if part == "help" => pairs.push((part.to_owned(), String::new())),
            None if KEYS.contains(&part) => return Err(no_value(part)),
            Some((key, _)) if KEYS.contains(&key) => return Err(no_value(key)),
            Some((key, _)) => return Err(unknown(key)),
            None => return Err(unknown(part)),
        }
    }
    Ok(pairs)
}

fn unknown(key: &str) -> Error {
    suggest::expected(
        Error::mistake(codes::H0113, format!("unknown agent option `{key}`")),
        key,
        &KEYS,
    )
}

fn no_value(key: &str) -> Error {
    Error::mistake(
        codes::H0114,
        format!("the agent option `{key}` has no value"),
    )
    .with("expected", format!("`{key}=…`"))
}

/// Splits at unescaped commas, and decodes `\,` and `\\`.
fn parts(options: &str) -> Result<Vec<String>, Error> {
    let mut parts = vec![String::new()];
    let mut chars = options.chars();
    while let Some(char) = chars.next() {
        let literal = match char {
            ',' => {
                parts.push(String::new());
                continue;
            }
            '\\' => match chars.next() {
                Some(escaped @ (',' | '\\')) => escaped,
                _ => {
                    return Err(Error::mistake(
                        codes::H0114,
                        "invalid escape in the agent's options",
                    )
                    .with("expected", "`\\,` for a comma, `\\\\` for a backslash"));
                }
            },
            char => char,
        };
        if let Some(part) = parts.last_mut() {
            part.push(literal);
        }
    }
    Ok(parts)
}
