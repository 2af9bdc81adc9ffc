//! `enable`, `disable` and `reload`: other plugins, or other settings of those that are there.

use super::context::Context;
use super::refusals::{current, failures, known, not_configured};
use super::status;
use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::agent::plugins::PluginSet;
use crate::loaded::Loaded;
use crate::plugin_compiler::PluginCompiler;
use crate::retransform::{self, Report};
use crate::{messages, structural_edits};
use control::Refusal;
use control::message::Change;
use host::{CodeLocation, Config, Pipeline};
use std::path::PathBuf;
use std::sync::Arc;

/// Hands classes to a plugin again; with `options`, or if it is new, configured by them. Its code may be in `cache`.
pub(super) fn enable(
    context: Context<'_>,
    plugin: &str,
    options: Option<&str>,
    cache: Option<PathBuf>,
) -> Result<Change, Refusal> {
    let set = current(context.agent)?;
    let is_known = set.pipeline.plugins().any(|name| name == plugin);
    if !is_known || options.is_some() {
        let mut config = set.config.clone();
        config.agent.cache = cache;
        // A set that is held is a set that transforms a class, for which an exchange waits.
        drop(set);
        return add(context, config, plugin, options.unwrap_or_default());
    }
    set.pipeline.enable(plugin, true);
    renew(context.agent, set);
    let wants = |class: &Loaded<'_>, location: CodeLocation<'_>| {
        let edits = context
            .agent
            .instrumented
            .find(&class.name, class.loader_id);
        !edits.is_some_and(|edits| holds(&edits, plugin))
            && context.agent.plugins.current().is_some_and(|now| {
                now.pipeline
                    .plugin_wants(plugin, &class.name, &class.loader, location)
            })
    };
    Ok(settled(context, |_| false, wants))
}

/// Takes a plugin's edits out of all classes.
pub(super) fn disable(context: Context<'_>, plugin: &str) -> Result<Change, Refusal> {
    known(context.agent, plugin)?;
    let set = current(context.agent)?;
    set.pipeline.enable(plugin, false);
    renew(context.agent, set);
    Ok(settled(context, |edits| holds(edits, plugin), |_, _| false))
}

/// Puts another configuration in place of the present one.
pub(super) fn reload(context: Context<'_>, options: &str) -> Result<Change, Refusal> {
    let config = Config::from_options(options).map_err(|error| not_configured(&error))?;
    replace(context, config)
}

/// Puts another configuration in place of the present `config`: with one more plugin, or one of its plugins
/// configured anew.
fn add(
    context: Context<'_>,
    mut config: Config,
    plugin: &str,
    options: &str,
) -> Result<Change, Refusal> {
    let comma = if options.is_empty() { "" } else { "," };
    let escaped = plugin.replace('\\', "\\\\").replace(',', "\\,");
    let options = format!("plugin={escaped}{comma}{options}");
    let added = Config::from_options(&options).map_err(|error| not_configured(&error))?;
    for plugin in added.plugins {
        match config
            .plugins
            .iter_mut()
            .find(|found| found.name == plugin.name)
        {
            Some(found) => *found = plugin,
            None => config.plugins.push(plugin),
        }
    }
    replace(context, config)
}

/// Exchanges the whole pipeline. Every plugin of the new one is on, also one that was disabled before.
fn replace(context: Context<'_>, config: Config) -> Result<Change, Refusal> {
    let pipeline = Pipeline::new(&config, &PluginCompiler::new(&config))
        .map_err(|error| not_configured(&error))?;
    messages::set_level(config.agent.log);
    let Context { agent, jvm } = context;
    agent.plugins.exchange(Some((config, Arc::new(pipeline))));
    structural_edits::prepare(agent, jvm);
    let revision = current(agent)?.revision;
    let wants = |class: &Loaded<'_>, location: CodeLocation<'_>| {
        let now = agent.plugins.current();
        now.is_some_and(|now| wants_anew(agent, &now, class, location))
    };
    Ok(settled(context, |edits| edits.revision != revision, wants))
}

/// Whether a class is wanted and was not instrumented by this plugin set already, as it was loaded.
fn wants_anew(
    agent: &Agent,
    set: &PluginSet,
    class: &Loaded<'_>,
    location: CodeLocation<'_>,
) -> bool {
    let edits = agent.instrumented.find(&class.name, class.loader_id);
    edits.is_none_or(|edits| edits.revision != set.revision)
        && set.wants(&class.name, &class.loader, location)
}

/// The same plugins as a new set, so that no class is transformed by the set before any more.
fn renew(agent: &Agent, set: Arc<PluginSet>) {
    let next = (set.config.clone(), Arc::clone(&set.pipeline));
    drop(set);
    agent.plugins.exchange(Some(next));
}

fn settled(
    context: Context<'_>,
    stale: impl Fn(&Edits) -> bool,
    wants: impl Fn(&Loaded<'_>, CodeLocation<'_>) -> bool,
) -> Change {
    let Context { agent, jvm } = context;
    let wanted = |class: &Loaded<'_>| retransform::is_wanted(agent, jvm, class, &wants);
    let before = failed_plugins(agent).len();
    let Report {
        retransformed,
        failed,
    } = retransform::settle(agent, jvm, stale, wanted);
    let by_plugins = failed_plugins(agent).into_iter().skip(before);
    let of_plugins = by_plugins.take(status::FAILURES).map(status::failure);
    Change {
        retransformed,
        failed: failures(failed).into_iter().chain(of_plugins).collect(),
        plugins: status::plugins(agent),
    }
}

/// What the present plugins failed on so far.
fn failed_plugins(agent: &Agent) -> Vec<host::Failure> {
    let current = agent.plugins.current();
    current.map_or_else(Vec::new, |now| now.pipeline.summary().failures)
}

fn holds(edits: &Edits, plugin: &str) -> bool {
    edits.plugins.iter().any(|name| name == plugin)
}
