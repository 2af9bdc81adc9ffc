//! `enable`, `disable` and `reload`: other plugins, or other settings of those that are there.

use super::{Jvm, failures, not_configured, status};
use crate::agent::Agent;
use crate::changed::Edits;
use crate::foundation;
use crate::messages;
use crate::plugins::Generation;
use crate::retransform::{self, Loaded, Report};
use control::Refusal;
use control::message::Change;
use host::{Config, Loader, Pipeline};
use std::sync::Arc;

/// Lets a plugin see classes again; with `options`, or if it is new, configured by them.
pub(super) fn enable(jvm: Jvm<'_>, plugin: &str, options: Option<&str>) -> Result<Change, Refusal> {
    let generation = current(jvm.agent)?;
    let is_known = generation.pipeline.plugins().any(|name| name == plugin);
    if !is_known || options.is_some() {
        return add(jvm, &generation, plugin, options.unwrap_or_default());
    }
    generation.pipeline.enable(plugin, true);
    renew(jvm.agent, generation);
    let wants = |class: &Loaded<'_>, located| {
        let loader = &class.loader;
        let edits = jvm.agent.plugins.changed.find(&class.name, loader);
        !edits.is_some_and(|edits| holds(&edits, plugin))
            && jvm.agent.plugins.current().is_some_and(|now| {
                now.pipeline
                    .plugin_wants(plugin, &class.name, loader, located)
            })
    };
    Ok(settled(jvm, |_| false, wants))
}

/// Takes a plugin's edits out of all classes.
pub(super) fn disable(jvm: Jvm<'_>, plugin: &str) -> Result<Change, Refusal> {
    known(jvm.agent, plugin)?;
    let generation = current(jvm.agent)?;
    generation.pipeline.enable(plugin, false);
    renew(jvm.agent, generation);
    Ok(settled(jvm, |edits| holds(edits, plugin), |_, _| false))
}

/// Puts another configuration in place of the present one.
pub(super) fn reload(jvm: Jvm<'_>, options: &str) -> Result<Change, Refusal> {
    let config = Config::from_options(options).map_err(|error| not_configured(&error))?;
    replace(jvm, config)
}

/// Whether there is a plugin of this name.
pub(super) fn known(agent: &Agent, plugin: &str) -> Result<(), Refusal> {
    let generation = current(agent)?;
    if generation.pipeline.plugins().any(|name| name == plugin) {
        return Ok(());
    }
    let names: Vec<&str> = generation.pipeline.plugins().collect();
    Err(
        Refusal::new("H0708", format!("the agent has no plugin `{plugin}`"))
            .with("expected", names.join(", "))
            .with(
                "help",
                "`classhook enable` brings in a bundled plugin or a .wasm file",
            ),
    )
}

/// The present plugins and one more, or one of them configured anew.
fn add(
    jvm: Jvm<'_>,
    generation: &Generation,
    plugin: &str,
    options: &str,
) -> Result<Change, Refusal> {
    let comma = if options.is_empty() { "" } else { "," };
    let escaped = plugin.replace('\\', "\\\\").replace(',', "\\,");
    let options = format!("plugin={escaped}{comma}{options}");
    let added = Config::from_options(&options).map_err(|error| not_configured(&error))?;
    let mut config = generation.config.clone();
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
    replace(jvm, config)
}

/// Exchanges the whole pipeline; plugins that were disabled stay so, unless it is they that are new.
fn replace(jvm: Jvm<'_>, config: Config) -> Result<Change, Refusal> {
    let pipeline = Pipeline::new(&config).map_err(|error| not_configured(&error))?;
    messages::set_level(config.agent.log);
    jvm.agent
        .plugins
        .exchange(Some((config, Arc::new(pipeline))));
    foundation::prepare(jvm.agent, jvm.phase, jvm.local);
    let number = current(jvm.agent)?.number;
    let agent = jvm.agent;
    let wants = |class: &Loaded<'_>, located| {
        let now = agent.plugins.current();
        now.is_some_and(|now| wants_anew(agent, &now, &class.name, &class.loader, located))
    };
    Ok(settled(jvm, |edits| edits.generation != number, wants))
}

/// Whether a class is wanted and was not changed by this generation already, as it was loaded.
fn wants_anew(
    agent: &Agent,
    generation: &Generation,
    name: &[u8],
    loader: &Loader,
    located: bool,
) -> bool {
    let edits = agent.plugins.changed.find(name, loader);
    edits.is_none_or(|edits| edits.generation != generation.number)
        && generation.wants(name, loader, located)
}

/// The same plugins as a new generation, so that nobody holds the one before.
fn renew(agent: &Agent, generation: Arc<Generation>) {
    let next = (generation.config.clone(), Arc::clone(&generation.pipeline));
    drop(generation);
    agent.plugins.exchange(Some(next));
}

fn settled(
    jvm: Jvm<'_>,
    stale: impl Fn(&Edits) -> bool,
    wants: impl Fn(&Loaded<'_>, bool) -> bool,
) -> Change {
    let Jvm {
        agent,
        phase,
        local,
    } = jvm;
    let wanted = |class: &Loaded<'_>| retransform::wanted(agent, phase, local, class, &wants);
    let before = failed_plugins(agent).len();
    let Report {
        retransformed,
        failed,
    } = retransform::settle(agent, phase, local, stale, wanted);
    let by_plugins = failed_plugins(agent).into_iter().skip(before);
    let told = by_plugins.take(status::FAILURES).map(status::failure);
    Change {
        retransformed,
        failed: failures(failed).into_iter().chain(told).collect(),
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

fn current(agent: &Agent) -> Result<Arc<Generation>, Refusal> {
    let leaving = || Refusal::new("H0704", "the agent is leaving the JVM");
    agent.plugins.current().ok_or_else(leaving)
}
