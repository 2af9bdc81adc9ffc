//! `enable`, `disable` and `reload`: other plugins, or other settings of the present plugins.

use super::context::Context;
use super::refusals::{self, failures, known};
use super::status;
use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::agent::plugins::PluginSet;
use crate::loaded_classes::{self, LoadedClass};
use crate::plugin_compiler::PluginCompiler;
use crate::retransform::{self, Report};
use crate::{current, messages, structural_edits, subscribers};
use control::Refusal;
use control::message::{Change, Shortage};
use host::config::PluginConfig;
use host::{CodeSource, Config, Pipeline, PluginState};
use std::path::PathBuf;
use std::sync::Arc;

/// Enables a plugin. `options` configure a new one. They change a known one, which keeps its component and every setting
/// that they do not name. The folder `cache` may hold its compiled code.
pub(super) fn enable(
    context: Context<'_>,
    plugin: &str,
    options: Option<&str>,
    cache: Option<PathBuf>,
) -> Result<Change, Refusal> {
    let set = refusals::current(context.agent)?;
    let is_known = set.pipeline.plugins().any(|name| name == plugin);
    if !is_known || options.is_some() {
        let mut config = set.config.clone();
        config.agent.cache = cache;
        // A held set counts as transforming a class, and an exchange waits for that.
        drop(set);
        let options = options.unwrap_or_default();
        let known = config.plugins.iter().find(|known| known.name == plugin);
        let added = match known.cloned() {
            Some(known) => {
                let changed = known.with_options(options);
                vec![changed.map_err(|error| Refusal::from(&error))?]
            }
            None => configured(plugin, options)?.plugins,
        };
        return add(context, config, added, |_| Ok(()));
    }
    context
        .agent
        .results
        .table
        .spans()
        .reset_limits(Some(plugin));
    set.pipeline.enable(plugin, true);
    renew(context.agent, set);
    let wants = |class: &LoadedClass<'_>, location: CodeSource<'_>| {
        let edits = context
            .agent
            .classes
            .instrumented
            .find(&class.name, class.loader_id);
        !edits.is_some_and(|edits| holds(&edits, plugin))
            && context.agent.plugins.current().is_some_and(|now| {
                now.pipeline
                    .plugin_wants(plugin, &class.name, &class.loader, location)
            })
    };
    settled(context, |_| false, wants).map_err(|shortage| {
        if let Some(set) = context.agent.plugins.current() {
            set.pipeline.enable(plugin, false);
            renew(context.agent, set);
        }
        shortage.refusal()
    })
}

/// Removes a plugin's edits from all classes.
pub(super) fn disable(context: Context<'_>, plugin: &str) -> Result<Change, Refusal> {
    let session = context.agent.results.sessions.find(plugin);
    let plugin = session
        .as_ref()
        .map_or(plugin, |session| session.plugin.as_str());
    known(context.agent, plugin)?;
    let set = refusals::current(context.agent)?;
    set.pipeline.enable(plugin, false);
    renew(context.agent, set);
    let is_stale = |edits: &Edits| holds(edits, plugin);
    settled(context, is_stale, |_, _| false).map_err(|shortage| shortage.refusal())
}

/// Replaces the present configuration.
pub(super) fn reload(context: Context<'_>, options: &str) -> Result<Change, Refusal> {
    let config = Config::from_options(options).map_err(|error| Refusal::from(&error))?;
    replace(context, config)
}

/// The configuration of a plugin with these options.
///
/// # Errors
///
/// If the options are wrong.
pub(super) fn configured(plugin: &str, options: &str) -> Result<Config, Refusal> {
    let comma = if options.is_empty() { "" } else { "," };
    let escaped = plugin.replace('\\', "\\\\").replace(',', "\\,");
    let options = format!("plugin={escaped}{comma}{options}");
    Config::from_options(&options).map_err(|error| Refusal::from(&error))
}

/// Adds plugins to the present `config`, or configures those of the same names again. `ready` is called with each name
/// when all plugins are loaded, before they see a class.
///
/// # Errors
///
/// If a plugin cannot be loaded, or the error of `ready`. No class is changed then.
pub(super) fn add(
    context: Context<'_>,
    mut config: Config,
    added: Vec<PluginConfig>,
    mut ready: impl FnMut(&str) -> Result<(), Refusal>,
) -> Result<Change, Refusal> {
    let mut names = Vec::new();
    for plugin in added {
        names.push(plugin.name.clone());
        match config
            .plugins
            .iter_mut()
            .find(|found| found.name == plugin.name)
        {
            Some(found) => *found = plugin,
            None => config.plugins.push(plugin),
        }
    }
    let added = names.clone();
    let pipeline = pipeline_of(&config)?;
    let set = refusals::current(context.agent)?;
    let former = FormerPlugins::of(&set);
    for (name, state) in set.pipeline.plugins().zip(set.pipeline.states()) {
        match state {
            _ if names.iter().any(|added| added == name) => {}
            PluginState::On => {}
            PluginState::Disabled => drop(pipeline.enable(name, false)),
            // A failed plugin gets another chance, together with its classes.
            PluginState::Failed => names.push(name.to_owned()),
        }
    }
    drop(set);
    for name in &added {
        ready(name)?;
    }
    let spans = context.agent.results.table.spans();
    names.iter().for_each(|name| spans.reset_limits(Some(name)));
    exchange(context, config, pipeline);
    let set = refusals::current(context.agent)?;
    let wants = |class: &LoadedClass<'_>, location: CodeSource<'_>| {
        let mut names = names.iter();
        names.any(|name| {
            let (pipeline, loader) = (&set.pipeline, &class.loader);
            pipeline.plugin_wants(name, &class.name, loader, location)
        })
    };
    let concerns = |edits: &Edits| names.iter().any(|name| holds(edits, name));
    keep_others(context, set.revision, concerns, wants);
    let changed = settled(
        context,
        |edits| edits.revision != set.revision,
        |class, location| !is_of(context.agent, class, &set) && wants(class, location),
    );
    changed.map_err(|shortage| {
        drop(set);
        former.put_back(context);
        shortage.refusal()
    })
}

/// The plugins before a change.
struct FormerPlugins {
    config: Config,
    pipeline: Arc<Pipeline>,
}

impl FormerPlugins {
    fn of(set: &PluginSet) -> Self {
        Self {
            config: set.config.clone(),
            pipeline: Arc::clone(&set.pipeline),
        }
    }

    /// Restores the plugins after a change that has changed no class.
    fn put_back(self, context: Context<'_>) {
        messages::set_level(self.config.agent.log);
        let agent = context.agent;
        agent.plugins.exchange(Some((self.config, self.pipeline)));
        if let Ok(set) = refusals::current(agent) {
            keep_others(context, set.revision, |_| false, |_, _| false);
        }
    }
}

/// Notes that the present set would make the same edits of the other plugins in loaded classes. So these classes are
/// not retransformed.
fn keep_others(
    context: Context<'_>,
    revision: u32,
    concerns: impl Fn(&Edits) -> bool,
    wants: impl Fn(&LoadedClass<'_>, CodeSource<'_>) -> bool,
) {
    let Context { agent, jvm } = context;
    let is_other = |class: &LoadedClass<'_>| {
        let edits = agent
            .classes
            .instrumented
            .find(&class.name, class.loader_id);
        edits.is_some_and(|edits| !concerns(&edits))
            && !retransform::is_wanted(agent, jvm, class, &wants)
    };
    let kept = jvm.with_frame(loaded_classes::CAPACITY, |jvm| {
        let classes = loaded_classes::list(&agent.classes.loaders, jvm).filter(is_other);
        let key = |class: LoadedClass<'_>| (class.name, class.loader_id);
        classes.map(key).collect::<Vec<_>>()
    });
    for (name, loader) in kept.unwrap_or_default() {
        agent.classes.instrumented.renew(&name, loader, revision);
    }
}

/// Replaces the whole pipeline. Every plugin of the new one is enabled, even if it was disabled before.
fn replace(context: Context<'_>, mut config: Config) -> Result<Change, Refusal> {
    let sessions = &context.agent.results.sessions;
    let others = refusals::current(context.agent)?.config.plugins.clone();
    let at_work = |plugin: &PluginConfig| plugin.session > 0 && sessions.has(plugin.session);
    config.plugins.extend(others.into_iter().filter(at_work));
    let pipeline = pipeline_of(&config)?;
    let agent = context.agent;
    let former = FormerPlugins::of(&*refusals::current(agent)?);
    agent.results.table.spans().reset_limits(None);
    exchange(context, config, pipeline);
    let revision = refusals::current(agent)?.revision;
    let wants = |class: &LoadedClass<'_>, location: CodeSource<'_>| {
        let now = agent.plugins.current();
        now.is_some_and(|now| {
            !is_of(agent, class, &now) && now.wants(&class.name, &class.loader, location)
        })
    };
    settled(context, |edits| edits.revision != revision, wants).map_err(|shortage| {
        former.put_back(context);
        shortage.refusal()
    })
}

fn pipeline_of(config: &Config) -> Result<Pipeline, Refusal> {
    Pipeline::with_plan_cache(config, &PluginCompiler::new(config))
        .map_err(|error| Refusal::from(&error))
}

/// Replaces the plugins in force, for classes that are loaded from now on.
fn exchange(context: Context<'_>, config: Config, pipeline: Pipeline) {
    messages::set_level(config.agent.log);
    let Context { agent, jvm } = context;
    agent.plugins.exchange(Some((config, Arc::new(pipeline))));
    structural_edits::prepare(agent, jvm);
}

/// Checks whether this plugin set has instrumented a class already, for example when it was loaded.
fn is_of(agent: &Agent, class: &LoadedClass<'_>, set: &PluginSet) -> bool {
    let edits = agent
        .classes
        .instrumented
        .find(&class.name, class.loader_id);
    edits.is_some_and(|edits| edits.revision == set.revision)
}

/// Puts the same plugins in force as a new set, so that the former set transforms no class any more.
fn renew(agent: &Agent, set: Arc<PluginSet>) {
    let next = (set.config.clone(), Arc::clone(&set.pipeline));
    drop(set);
    agent.plugins.exchange(Some(next));
}

fn settled(
    context: Context<'_>,
    stale: impl Fn(&Edits) -> bool,
    wants: impl Fn(&LoadedClass<'_>, CodeSource<'_>) -> bool,
) -> Result<Change, Shortage> {
    let Context { agent, jvm } = context;
    if let Some(agent) = current::get() {
        subscribers::update_plugin_subscriptions(agent, jvm);
    }
    let wanted = |class: &LoadedClass<'_>| retransform::is_wanted(agent, jvm, class, &wants);
    let (before, failed_before) = failed_plugins(agent);
    let Report {
        retransformed,
        failed,
        lacks_metaspace,
    } = retransform::settle(agent, jvm, stale, wanted);
    if lacks_metaspace {
        return Err(agent.change.metaspace.last_shortage().unwrap_or_default());
    }
    let (by_plugins, failed_now) = failed_plugins(agent);
    let by_plugins = by_plugins.into_iter().skip(before.len());
    let count = failed_now.saturating_sub(failed_before);
    let (of_plugins, more_failed) = status::first(by_plugins.map(status::failure), count);
    Ok(Change {
        retransformed,
        failed: failures(failed).into_iter().chain(of_plugins).collect(),
        more_failed,
        plugins: status::plugins(agent),
        session: None,
    })
}

/// The first failures of the present plugins so far, and the number of their classes.
fn failed_plugins(agent: &Agent) -> (Vec<host::PluginFailure>, u64) {
    let current = agent.plugins.current();
    let summary = current.map_or_else(host::Summary::default, |now| now.pipeline.summary());
    (summary.failures, summary.failed)
}

fn holds(edits: &Edits, plugin: &str) -> bool {
    edits.plugins.iter().any(|name| name == plugin)
}
