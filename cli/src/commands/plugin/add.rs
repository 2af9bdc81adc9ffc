//! `classhook plugin add`: adds a plugin from a file, URL or registry to a project.

use std::path::{Path, PathBuf};

use agent_launch::plugin_compiler::PluginCompiler;
use clap::Args;
use clap::builder::PossibleValuesParser;
use errors::{Error, codes};
use host::PluginDescription;
use host::config::lock::{Lock, LockedPlugin, MAX_NAME, is_name};
use host::config::{BUNDLED, CAPABILITIES};
use host::plugin_file::MAX_COMPONENT;
use local_files::absolute_path::absolute;
use plugin_projects::added_plugins::{ComponentState, component_state};
use plugin_projects::store::settings_file::SettingsFile;
use plugin_projects::store::{Store, copy, fetcher};
use plugin_projects::{PluginSource, needed};
use standard_streams::show::{all_but_last, name, path, say, show};
use tempfile::TempDir;

use crate::args::{GRANT, PROJECT};

const AFTER_HELP: &str = "\
The component is checked like in `plugin inspect`, and stored in .classhook/plugins under its digest.
classhook.toml then names the plugin with its grants. classhook.lock records source, digest, size and capabilities.
Every load checks the digest. Adding a plugin again updates it and shows the differences.
Grant the capabilities that the plugin needs with --grant. Without a source, missing locked components are fetched.

Examples:
  classhook plugin add call-counter/target/call-counter.wasm --grant probes
  classhook plugin add https://example.com/sql-timer.wasm --grant probes --grant rewrite
  classhook plugin add oci://registry.example.com/acme/sql-timer:1.2 --grant probes
  classhook plugin add";

/// Adds a plugin to a project, or updates it.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Add {
    /// Add the plugin from this component file (.wasm), its http(s) URL, or oci://HOST/REPOSITORY:TAG (or @sha256:DIGEST) in a registry
    #[arg(value_name = "FILE|URL|OCI-REFERENCE")]
    pub source: Option<String>,
    /// Name the plugin [default: the name of the file or the repository]
    #[arg(long, value_name = "NAME", requires = "source")]
    pub name: Option<String>,
    /// Capabilities of the plugin.
    #[arg(long, value_name = "CAPABILITY", requires = "source", value_delimiter = ',', value_parser = PossibleValuesParser::new(CAPABILITIES), help = GRANT)]
    pub grant: Vec<String>,
    /// Refuse changes of classhook.lock and of grants, as in CI
    #[arg(long)]
    pub locked: bool,
    /// The folder of the project.
    #[arg(long, value_name = "DIR", default_value = ".", help = PROJECT)]
    pub project: PathBuf,
}

/// A fetched component that is not added yet.
struct FetchedPlugin {
    _folder: TempDir,
    file: PathBuf,
    plugin: LockedPlugin,
    description: PluginDescription,
}

impl Add {
    /// Adds or updates a plugin, or fetches missing components.
    ///
    /// # Errors
    /// If the component cannot be fetched (`H0693`) or loaded (`H01xx`), needs a capability that is not granted
    /// (`H0203`), differs from the lock (`H0696`), or cannot be stored (`H0620`, `H0694`).
    pub fn run(&self) -> Result<u8, Error> {
        match &self.source {
            Some(source) => self.add(source),
            None => self.fetch_missing(),
        }
    }

    fn add(&self, source: &str) -> Result<u8, Error> {
        let plugin_name = self
            .name
            .clone()
            .unwrap_or_else(|| name_of(source).to_owned());
        check_name(&plugin_name)?;
        let store = Store::open(&self.project)?;
        let source = self.written(source)?;
        Lock::load(&self.project)?; // a damaged lock is reported before a transfer
        let incoming = self.incoming(&store, &source, &plugin_name, None)?;

        let mut held = store.hold()?;
        let before = held.lock.find(&plugin_name).cloned();
        let settings = SettingsFile::open(&self.project)?;
        let mut granted = settings.grants(&plugin_name).unwrap_or_default();
        granted.extend(
            self.grant
                .iter()
                .filter(|it| !granted.contains(it))
                .cloned()
                .collect::<Vec<_>>(),
        );
        show(&summary(&incoming, before.as_ref()))?;
        let plugin = incoming.plugin;
        let is_change = before.as_ref() != Some(&plugin)
            || settings.grants(&plugin_name).as_ref() != Some(&granted);
        if self.locked && is_change {
            return Err(not_as_locked(&plugin, before.as_ref()));
        }
        check_granted(&incoming.description, &granted, &self.command_line(&plugin))?;
        let settings = settings.with(&plugin_name, &granted)?;
        match is_change {
            true => held.take(&incoming.file, plugin, &settings)?,
            false => held.keep(&incoming.file, &plugin)?,
        }
        let what = match (&before, is_change) {
            (None, _) => "added",
            (Some(_), true) => "updated",
            (Some(_), false) => "unchanged",
        };
        show(&format!(
            "{what}: {} in {} is granted {}\n",
            name(&plugin_name),
            settings.name(),
            list(&granted)
        ))?;
        Ok(0)
    }

    /// Returns the source as recorded in the lock: files relative to the project.
    fn written(&self, source: &str) -> Result<String, Error> {
        if is_remote(source) {
            return Ok(source.to_owned());
        }
        let file = absolute(Path::new(source))?;
        let project = absolute(&self.project)?;
        let file = file.strip_prefix(&project).unwrap_or(&file);
        let text = file.to_str().map(str::to_owned);
        text.ok_or_else(|| {
            let message = format!("the path {} is no UTF-8", path(file));
            Error::mistake(codes::H0604, message).with("help", "rename the file or folder")
        })
    }

    fn incoming(
        &self,
        store: &Store,
        source: &str,
        name: &str,
        digest: Option<&str>,
    ) -> Result<FetchedPlugin, Error> {
        let folder = store.incoming()?;
        let file = folder.path().join(format!("{name}.wasm"));
        let version = match is_remote(source) {
            true => {
                fetcher::remark(source).into_iter().for_each(say);
                fetcher::fetch(source, &file, MAX_COMPONENT, digest)?
            }
            false => {
                copy(name, &self.project.join(source), &file)?;
                None
            }
        };
        let description = PluginSource::File(file.clone()).describe(&PluginCompiler);
        let description = description.map_err(|problem| problem.with("source", source))?;
        let capabilities = needed(&description);
        let plugin = LockedPlugin {
            name: name.to_owned(),
            version: description.version.clone().or(version),
            source: source.to_owned(),
            digest: description.digest.clone(),
            size: description.size as u64,
            capabilities: capabilities.iter().map(|&it| it.to_owned()).collect(),
        };
        Ok(FetchedPlugin {
            _folder: folder,
            file,
            plugin,
            description,
        })
    }

    /// Fetches the missing locked components.
    fn fetch_missing(&self) -> Result<u8, Error> {
        let lock = Lock::load(&self.project)?;
        if lock.plugins.is_empty() {
            show("no plugin is locked\n")?;
            return Ok(0);
        }
        let store = Store::open(&self.project)?;
        let mut problems = Vec::new();
        for plugin in &lock.plugins {
            let what = match component_state(&self.project, plugin) {
                ComponentState::AsLocked => "there",
                ComponentState::Missing | ComponentState::Other(_) => {
                    match self.fetch_locked(&store, plugin) {
                        Ok(()) => "fetched",
                        Err(problem) => {
                            problems.push(problem);
                            continue;
                        }
                    }
                }
            };
            show(&format!(
                "{what}: {} sha256:{}\n",
                name(&plugin.name),
                plugin.digest
            ))?;
        }
        all_but_last(problems)?;
        Ok(0)
    }

    fn fetch_locked(&self, store: &Store, plugin: &LockedPlugin) -> Result<(), Error> {
        let incoming = self.incoming(store, &plugin.source, &plugin.name, Some(&plugin.digest))?;
        if incoming.plugin.digest != plugin.digest {
            return Err(not_as_locked(&incoming.plugin, Some(plugin)));
        }
        let held = store.hold()?;
        match held.lock.find(&plugin.name) {
            Some(found) if found.digest == plugin.digest => held.keep(&incoming.file, plugin),
            _ => Ok(()), // another command changed the lock
        }
    }

    /// Returns the command that adds the plugin with its capabilities.
    fn command_line(&self, plugin: &LockedPlugin) -> String {
        let source = self.source.as_deref().unwrap_or(&plugin.source);
        let words = std::iter::once(format!("classhook plugin add {source}"));
        let words = words.chain(self.name.iter().map(|name| format!("--name {name}")));
        let grants = plugin.capabilities.iter().map(|it| format!("--grant {it}"));
        words.chain(grants).collect::<Vec<_>>().join(" ")
    }
}

/// Schemes of remote sources.
const REMOTE: [&str; 3] = ["http://", "https://", "oci://"];

/// Checks whether a source is remote.
fn is_remote(source: &str) -> bool {
    REMOTE.iter().any(|scheme| source.starts_with(scheme))
}

/// Returns the last part of a path or URL without `.wasm`, or the last part of a repository in a registry.
fn name_of(source: &str) -> &str {
    let source = match source {
        _ if !is_remote(source) => source,
        _ if source.starts_with("oci://") => source.split('@').next().unwrap_or(source),
        _ => source.split(['?', '#']).next().unwrap_or(source),
    };
    let last = source.trim_end_matches('/').rsplit('/').next();
    let last = last.unwrap_or(source);
    let last = match source.starts_with("oci://") {
        true => last.split(':').next().unwrap_or(last),
        false => last,
    };
    last.strip_suffix(".wasm").unwrap_or(last)
}

fn check_name(text: &str) -> Result<(), Error> {
    if is_name(text) && !BUNDLED.contains(&text) {
        return Ok(());
    }
    let message = format!(
        "`{}` cannot be the name of a plugin that is added",
        name(text)
    );
    let expected =
        format!("up to {MAX_NAME} letters, digits, `-`, `_` and `.`, and no bundled plugin's name");
    Err(Error::mistake(codes::H0680, message)
        .with("expected", expected)
        .with("help", "name it with --name"))
}

fn check_granted(plugin: &PluginDescription, granted: &[String], words: &str) -> Result<(), Error> {
    let grants = plugin.imports.iter().flat_map(|import| &import.grants);
    let missing: Vec<_> = grants
        .filter(|(grant, _)| !granted.iter().any(|it| it == grant))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let message = format!(
        "the plugin `{}` needs a grant that it does not have",
        plugin.name
    );
    let problem = Error::mistake(codes::H0203, message);
    let problem = missing.iter().fold(problem, |problem, (grant, what)| {
        problem.with("found", format!("{grant}: {what}"))
    });
    Err(problem.with(
        "help",
        format!("nothing was changed; if you trust the plugin: {words}"),
    ))
}

fn not_as_locked(found: &LockedPlugin, before: Option<&LockedPlugin>) -> Error {
    let message = format!("the plugin `{}` differs from classhook.lock", found.name);
    let expected = match before {
        Some(before) => format!(
            "sha256:{} from {}, and its grants",
            before.digest, before.source
        ),
        None => "a plugin of this name".to_owned(),
    };
    Error::mistake(codes::H0696, message)
        .with("expected", expected)
        .with(
            "found",
            format!("sha256:{} from {}", found.digest, found.source),
        )
        .with(
            "help",
            format!(
                "nothing was changed; to add it: classhook plugin add {}",
                found.source
            ),
        )
}

/// Returns a summary of the component and its differences to the former one.
fn summary(incoming: &FetchedPlugin, before: Option<&LockedPlugin>) -> String {
    let plugin = &incoming.plugin;
    let mut text = format!(
        "{}\n  source: {}\n  digest: sha256:{}\n  asks for: {}\n",
        title(plugin),
        name(&plugin.source),
        plugin.digest,
        list(&plugin.capabilities),
    );
    let Some(before) = before.filter(|before| *before != plugin) else {
        return text;
    };
    let was = |what: &str, was: &str, is: &str| match was == is {
        true => String::new(),
        false => format!("  {what} before: {}\n", name(was)),
    };
    text += &was("version and size", &title(before), &title(plugin));
    text += &was("source", &before.source, &plugin.source);
    text += &was(
        "digest",
        &format!("sha256:{}", before.digest),
        &format!("sha256:{}", plugin.digest),
    );
    text += &was(
        "asked for",
        &list(&before.capabilities),
        &list(&plugin.capabilities),
    );
    text
}

/// Returns name, version and size.
pub(super) fn title(plugin: &LockedPlugin) -> String {
    let version = plugin
        .version
        .as_deref()
        .map(|version| format!(" {}", name(version)));
    format!(
        "{}{} ({} bytes)",
        name(&plugin.name),
        version.unwrap_or_default(),
        plugin.size
    )
}

/// Returns capabilities, separated by commas, or `nothing`.
pub(super) fn list(capabilities: &[String]) -> String {
    match capabilities {
        [] => "nothing".to_owned(),
        some => name(&some.join(", ")).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_that_of_the_file() {
        for (source, expected) in [
            ("call-counter.wasm", "call-counter"),
            ("a/b?c.wasm", "b?c"),
            (
                "https://example.com/x/timer-1.2.wasm?token=a/b#c",
                "timer-1.2",
            ),
            ("http://example.com/", "example.com"),
            ("oci://localhost:5000/acme/timer", "timer"),
            ("oci://example.com/acme/timer:1.2@sha256:ab", "timer"),
        ] {
            assert_eq!(name_of(source), expected);
        }
        for wrong in ["", ".x", "-x", "a b", "trace", "b?c", &"x".repeat(65)] {
            assert_eq!(check_name(wrong).unwrap_err().code(), "H0680", "{wrong}");
        }
        check_name("timer-1.2_x").unwrap();
    }
}
