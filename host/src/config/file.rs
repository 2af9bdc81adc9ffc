//! `classhook.toml`.

use std::ops::Range;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::settings::{Agent, Config, PluginConfig};
use super::suggest;
use super::values::{
    check_grant, check_selector, parse_address, parse_file_name, parse_hits, parse_log,
    parse_on_error, parse_order, parse_size, parse_switch, parse_when_full,
};
use super::watch::WatchTexts;
use errors::{Error, codes};

impl Config {
    /// Reads a `classhook.toml`. Relative paths in it are relative to its folder.
    ///
    /// # Errors
    /// `H01xx` or `H02xx` with the file, the line, the expected and the found value.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            Error::mistake(
                codes::H0102,
                format!("the configuration {} cannot be read", path.display()),
            )
            .with("found", error.to_string())
            .with(
                "help",
                "check the path; it is relative to the folder the JVM was started in",
            )
        })?;
        parse(&text, path)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    agent: FileAgent,
    #[serde(default)]
    plugin: Vec<FilePlugin>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
struct FileAgent {
    output: Option<Spanned<String>>,
    file_name: Option<Spanned<String>>,
    on_error: Option<Spanned<String>>,
    log: Option<Spanned<String>>,
    run: Option<String>,
    max_size: Option<Spanned<String>>,
    when_full: Option<Spanned<String>>,
    waits: Option<Spanned<String>>,
    control: Option<Spanned<String>>,
    self_check: Option<Spanned<String>>,
    plan_cache: Option<Spanned<String>>,
    compile_huge: Option<Spanned<String>>,
    hits: Option<Spanned<String>>,
    self_remove: Option<Spanned<String>>,
    per_loader: Option<Spanned<String>>,
    before_agents: Option<Spanned<String>>,
    jacoco_tcp: Option<Spanned<String>>,
    jacoco_tcp_remote: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FilePlugin {
    r#use: Spanned<String>,
    digest: Option<Spanned<String>>,
    grant: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    select: Vec<Spanned<String>>,
    when: Option<Spanned<String>>,
    show: Option<Spanned<String>>,
    calls: Option<std::num::NonZeroU64>,
    calls_per_second: Option<std::num::NonZeroU32>,
    about: Option<Spanned<String>>,
    depth: Option<u8>,
    order: Option<Spanned<toml::Value>>,
    #[serde(default)]
    config: toml::Table,
}

/// Parses and checks the text of a configuration file.
fn parse(text: &str, path: &Path) -> Result<Config, Error> {
    let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    let newlines: Vec<usize> = newlines.map(|(at, _)| at).collect();
    let source = Source {
        text,
        path,
        newlines: &newlines,
    };
    let file: File = toml::from_str(text).map_err(|error| source.syntax(&error))?;
    let mut config = Config {
        agent: source.agent(file.agent)?,
        source: Some(path.to_owned()),
        ..Config::default()
    };
    if !file.plugin.is_empty() {
        config.plugins = file
            .plugin
            .into_iter()
            .map(|plugin| source.plugin(plugin))
            .collect::<Result<_, _>>()?;
        source.find_lines(&mut config.plugins);
        source.names_differ(&config.plugins)?;
    }
    Ok(config)
}

/// The text of the file, to which spans refer.
#[derive(Clone, Copy)]
struct Source<'a> {
    text: &'a str,
    path: &'a Path,
    /// The offsets of line ends.
    newlines: &'a [usize],
}

impl Source<'_> {
    fn agent(self, agent: FileAgent) -> Result<Agent, Error> {
        let mut result = Agent {
            run: agent.run,
            ..Agent::default()
        };
        if let Some(output) = agent.output {
            if output.get_ref().is_empty() {
                return Err(self.at(
                    Error::mistake(codes::H0105, "`output` cannot be empty"),
                    &output.span(),
                ));
            }
            result.output = self.folder().join(output.get_ref());
        }
        if let Some(value) = agent.file_name {
            let name = parse_file_name(value.get_ref());
            result.file_name = Some(name.map_err(|error| self.at(error, &value.span()))?);
        }
        if let Some(value) = agent.on_error {
            result.on_error =
                parse_on_error(value.get_ref()).map_err(|error| self.at(error, &value.span()))?;
        }
        if let Some(value) = agent.max_size {
            let size = parse_size("max-size", value.get_ref());
            result.max_size = Some(size.map_err(|error| self.at(error, &value.span()))?);
        }
        if let Some(value) = agent.when_full {
            let when_full = parse_when_full(value.get_ref());
            result.when_full = Some(when_full.map_err(|error| self.at(error, &value.span()))?);
        }
        let switches = [
            ("waits", agent.waits, &mut result.waits),
            ("control", agent.control, &mut result.control),
            ("self-check", agent.self_check, &mut result.self_check),
            ("plan-cache", agent.plan_cache, &mut result.plan_cache),
            ("compile-huge", agent.compile_huge, &mut result.compile_huge),
            ("per-loader", agent.per_loader, &mut result.per_loader),
            (
                "before-agents",
                agent.before_agents,
                &mut result.before_agents,
            ),
            (
                "jacoco-tcp-remote",
                agent.jacoco_tcp_remote,
                &mut result.jacoco_tcp_remote,
            ),
        ];
        for (key, value, set) in switches {
            if let Some(value) = value {
                *set = parse_switch(key, value.get_ref())
                    .map_err(|error| self.at(error, &value.span()))?;
            }
        }
        if let Some(value) = agent.hits {
            let code = parse_hits(value.get_ref());
            result.hits = Some(code.map_err(|error| self.at(error, &value.span()))?);
        }
        if let Some(value) = agent.self_remove {
            let switch = parse_switch("self-remove", value.get_ref());
            result.self_remove = Some(switch.map_err(|error| self.at(error, &value.span()))?);
        }
        if let Some(value) = agent.jacoco_tcp {
            let address = parse_address("jacoco-tcp", value.get_ref());
            result.jacoco_tcp = Some(address.map_err(|error| self.at(error, &value.span()))?);
            let checked = result.check_address();
            checked.map_err(|error| self.at(error, &value.span()))?;
        }
        if let Some(value) = agent.log {
            result.log =
                parse_log(value.get_ref()).map_err(|error| self.at(error, &value.span()))?;
        }
        Ok(result)
    }

    fn plugin(self, plugin: FilePlugin) -> Result<PluginConfig, Error> {
        let reference = &plugin.r#use;
        let mut result = PluginConfig::from_reference(reference.get_ref(), self.folder())
            .map_err(|error| self.at(error, &reference.span()))?;
        if let Some(digest) = plugin.digest {
            let pinned = parse_digest(digest.get_ref());
            let pinned = pinned.map_err(|error| self.at(error, &digest.span()))?;
            if result
                .digest
                .as_ref()
                .is_some_and(|locked| *locked != pinned)
            {
                let error = Error::mistake(
                    codes::H0109,
                    format!("plugin `{}` is pinned to two digests", result.name),
                )
                .with("help", "leave `digest` out: classhook.lock has it");
                return Err(self.at(error, &digest.span()));
            }
            result.digest = Some(pinned);
        }
        if let Some(grant) = plugin.grant {
            result.grant_line = Some(self.line(&grant.span()));
            result.set_grant(&self.checked(grant.into_inner(), check_grant)?);
        }
        result.select = self.checked(plugin.select, check_selector)?;
        let place = plugin.when.as_ref().or(plugin.show.as_ref());
        let place = place.or(plugin.about.as_ref());
        let place = place.map_or(0..0, Spanned::span);
        let texts = WatchTexts {
            when: plugin.when.map(Spanned::into_inner),
            show: plugin.show.map(Spanned::into_inner),
            calls: plugin.calls.map(Into::into),
            per_second: plugin.calls_per_second.map(Into::into),
            about: plugin.about.map(Spanned::into_inner),
            depth: plugin.depth,
        };
        result.watch = texts.parse().map_err(|error| self.at(error, &place))?;
        if let Some(order) = plugin.order {
            let number = parse_order(&order.get_ref().to_string());
            result.order = Some(number.map_err(|error| self.at(error, &order.span()))?);
        }
        result.config = to_json(toml::Value::Table(plugin.config));
        Ok(result)
    }

    /// Returns the values if each passes `check`.
    fn checked(
        self,
        values: Vec<Spanned<String>>,
        check: fn(&str) -> Result<(), Error>,
    ) -> Result<Vec<String>, Error> {
        let check = |value: Spanned<String>| match check(value.get_ref()) {
            Ok(()) => Ok(value.into_inner()),
            Err(error) => Err(self.at(error, &value.span())),
        };
        values.into_iter().map(check).collect()
    }

    /// Records the lines of the values of each plugin's table.
    fn find_lines(self, plugins: &mut [PluginConfig]) {
        let Ok(document) = DeTable::parse(self.text) else {
            return;
        };
        let Some(DeValue::Array(tables)) = document.get_ref().get("plugin").map(Spanned::get_ref)
        else {
            return;
        };
        for (plugin, table) in plugins.iter_mut().zip(tables) {
            let config = table.get_ref().as_table().and_then(|it| it.get("config"));
            if let Some(config) = config {
                self.lines_below("", config, &mut plugin.config_lines);
            }
        }
    }

    fn lines_below(
        self,
        path: &str,
        value: &Spanned<DeValue<'_>>,
        lines: &mut Vec<(String, usize)>,
    ) {
        if !path.is_empty() {
            lines.push((path.to_owned(), self.line(&value.span())));
        }
        match value.get_ref() {
            DeValue::Table(table) => {
                for (key, value) in table {
                    let dot = if path.is_empty() { "" } else { "." };
                    self.lines_below(&format!("{path}{dot}{}", key.get_ref()), value, lines);
                }
            }
            DeValue::Array(values) => {
                for (index, value) in values.iter().enumerate() {
                    self.lines_below(&format!("{path}[{index}]"), value, lines);
                }
            }
            _ => {}
        }
    }

    /// Checks that plugin names are unique, because results are stored under them.
    fn names_differ(self, plugins: &[PluginConfig]) -> Result<(), Error> {
        let twice = plugins.iter().enumerate().find(|(index, plugin)| {
            plugins
                .iter()
                .take(*index)
                .any(|other| other.name == plugin.name)
        });
        match twice {
            None => Ok(()),
            Some((_, plugin)) => Err(Error::mistake(
                codes::H0105,
                format!("two plugins have the name `{}`", plugin.name),
            )
            .with("at", self.path.display().to_string())
            .with(
                "help",
                "list it once, with both selections; or rename one of the files",
            )),
        }
    }

    /// Converts an error of `toml`, and suggests a key if one is misspelled.
    fn syntax(self, error: &toml::de::Error) -> Error {
        let message = error.message().trim();
        let mut quoted = message.split('`').skip(1).step_by(2);
        let result = match (message.starts_with("unknown field"), quoted.next()) {
            (true, Some(key)) => {
                let keys: Vec<&str> = quoted.collect();
                suggest::expected(
                    Error::mistake(codes::H0104, format!("unknown key `{key}`")),
                    key,
                    &keys,
                )
            }
            (false, _)
                if message.starts_with("missing field") || message.starts_with("invalid type") =>
            {
                Error::mistake(codes::H0105, message)
            }
            _ => Error::mistake(
                codes::H0103,
                format!("the configuration is not valid TOML: {message}"),
            ),
        };
        match error.span() {
            Some(span) => self.at(result, &span),
            None => result.with("at", self.path.display().to_string()),
        }
    }

    fn at(self, error: Error, span: &Range<usize>) -> Error {
        let line = self.line(span);
        let text = self.text.lines().nth(line - 1).unwrap_or_default().trim();
        error
            .with("at", format!("{}:{line}", self.path.display()))
            .with("found", text)
    }

    /// Returns the line of the start of `span`, from 1.
    fn line(self, span: &Range<usize>) -> usize {
        1 + self.newlines.partition_point(|at| *at < span.start)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

/// Parses `sha256:` and 64 hex digits, and returns the digits in lower case.
fn parse_digest(text: &str) -> Result<String, Error> {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    if digits.len() == 64 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(digits.to_ascii_lowercase());
    }
    Err(Error::mistake(codes::H0105, "`digest` is not a digest")
        .with("expected", "`sha256:` and 64 hexadecimal digits"))
}

/// Converts a TOML value to JSON; dates become texts.
fn to_json(value: toml::Value) -> serde_json::Value {
    use serde_json::Value as Json;
    match value {
        toml::Value::String(text) => Json::String(text),
        toml::Value::Integer(number) => Json::from(number),
        toml::Value::Float(number) => Json::from(number),
        toml::Value::Boolean(flag) => Json::Bool(flag),
        toml::Value::Datetime(date) => Json::String(date.to_string()),
        toml::Value::Array(values) => Json::Array(values.into_iter().map(to_json).collect()),
        toml::Value::Table(table) => Json::Object(
            table
                .into_iter()
                .map(|(key, value)| (key, to_json(value)))
                .collect(),
        ),
    }
}
