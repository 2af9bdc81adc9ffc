//! `status`.

use super::context::Context;
use crate::agent::Agent;
use crate::agent::huge_methods::Limit;
use crate::hit_code;
use crate::structural_edits;
use crate::summary::Numbers;
use control::message::{
    ClassCounts, Failure, Hits, Holder, HugeMethods, MethodRemark, PlanCache, Plugin, PluginState,
    Status,
};
use host::config::PluginConfig;
use std::time::Duration;

/// Number of reported failures; the snapshot contains all.
const FAILURES: usize = 20;

/// The state of the agent.
pub(super) fn status(context: Context<'_>) -> Status {
    let Context { agent, jvm } = context;
    let property = |name| {
        jvm.jvmti
            .system_property(jvm.live, name)
            .unwrap_or_default()
    };
    // A command refers to its session by an id; the answer shows the plugin.
    let named = |holder: Holder| match agent.results.sessions.find(&holder.plugin) {
        Some(session) => Holder {
            plugin: session.plugin.clone(),
            ..holder
        },
        None => holder,
    };
    let numbers = Numbers::of(agent);
    let not_retransformed = agent.results.failures.of_retransformation().into_iter();
    let not_retransformed = not_retransformed.map(|found| Failure {
        code: found.code,
        class: found.class,
        plugin: found.plugin,
        cause: found.message,
    });
    let failures = numbers.plugins.failures.into_iter().map(failure);
    let failures = failures.chain(not_retransformed);
    let (failures, more_failures) = first(failures, numbers.summary.failed);
    let notes = numbers.plugins.notes.iter().rev().take(FAILURES).rev();
    let notes = notes.cloned().collect();
    let left_alone = numbers.plugins.skipped.into_iter().map(remark);
    let (left_alone, more_left_alone) = first(left_alone, numbers.summary.skipped_methods);
    Status {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        jvm: format!(
            "{} {}",
            property(c"java.vm.name"),
            property(c"java.vm.version")
        ),
        uptime_ms: agent
            .run
            .uptime()
            .as_millis()
            .try_into()
            .unwrap_or(u64::MAX),
        snapshot: agent.results.snapshot.path().display().to_string(),
        jacoco_tcp: agent.threads.jacoco_address.get().map(ToString::to_string),
        run: agent.settings.run.clone().unwrap_or_default(),
        plugins: plugins(agent),
        classes: counts(agent),
        arrays: agent.results.table.arrays(),
        hits: hits(agent),
        failures,
        more_failures,
        own_failures: numbers.own_failures,
        natives: structural_edits::natives(),
        structures: structural_edits::structures(),
        progress: agent.change.work.progress(),
        left_alone,
        more_left_alone,
        notes,
        plan_cache: numbers.plugins.plans.map(plan_cache),
        holders: agent
            .threads
            .control
            .holders()
            .into_iter()
            .map(named)
            .collect(),
        shortage: agent.change.metaspace.last_shortage(),
    }
}

/// Returns the first of `count` items, and the number of the others. The list may be shorter than `count`.
pub(super) fn first<T>(listed: impl Iterator<Item = T>, count: u64) -> (Vec<T>, u64) {
    let first: Vec<T> = listed.take(FAILURES).collect();
    let more = count.saturating_sub(first.len() as u64);
    (first, more)
}

/// The failure of a class that a plugin could not change.
pub(super) fn failure(failure: host::PluginFailure) -> Failure {
    Failure {
        code: failure.code.to_owned(),
        class: failure.class,
        plugin: failure.plugin,
        cause: failure.cause,
    }
}

fn remark(remark: host::MethodRemark) -> MethodRemark {
    MethodRemark {
        class: remark.class,
        method: remark.method,
        text: remark.text,
    }
}

fn plan_cache(plans: host::PlanCounts) -> PlanCache {
    PlanCache {
        hits: plans.hits,
        misses: plans.misses,
        damaged: plans.damaged,
        unwritten: plans.unwritten,
    }
}

/// The numbers of classes.
pub(super) fn counts(agent: &Agent) -> ClassCounts {
    let Numbers {
        summary, plugins, ..
    } = Numbers::of(agent);
    let micros = |time: Duration| time.as_micros().try_into().unwrap_or(u64::MAX);
    ClassCounts {
        seen: summary.seen,
        selected: summary.selected,
        changed: summary.transformed,
        failed: summary.failed,
        skipped_methods: summary.skipped_methods,
        huge_methods: plugins.huge_methods,
        huge_methods_are: huge_methods(agent.classes.huge_methods.limit()),
        time_us: micros(plugins.time),
        check_time_us: micros(plugins.check_time),
    }
}

fn hits(agent: &Agent) -> Hits {
    match hit_code::cause_of_stores(agent) {
        None => Hits::Calls,
        Some(cause) => Hits::Stores(cause.text().to_owned()),
    }
}

fn huge_methods(limit: Limit) -> HugeMethods {
    match limit {
        Limit::Untouched | Limit::Stays => HugeMethods::Interpreted,
        Limit::Lifted => HugeMethods::CompiledByUs,
        Limit::WasLifted => HugeMethods::Compiled,
    }
}

/// The plugins and their states.
pub(super) fn plugins(agent: &Agent) -> Vec<Plugin> {
    let Some(set) = agent.plugins.current() else {
        return Vec::new();
    };
    let states = set.pipeline.states();
    let configured = set.config.plugins.iter().zip(states);
    let configured = configured.zip(set.pipeline.unmatched());
    let plugin = |((config, state), unmatched): ((&PluginConfig, host::PluginState), _)| Plugin {
        name: config.name.clone(),
        state: match state {
            host::PluginState::On => PluginState::On,
            host::PluginState::Disabled => PluginState::Off,
            host::PluginState::Failed => PluginState::Failed,
        },
        changed: agent
            .classes
            .instrumented
            .count(|edits| edits.are_of(&config.name)),
        select: config.select.clone(),
        unmatched,
    };
    let at_work =
        |((config, _), _): &((&PluginConfig, _), _)| agent.results.sessions.has(config.session);
    configured.filter(at_work).map(plugin).collect()
}
