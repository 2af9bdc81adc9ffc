//! The plugins' edits of a class.

use super::base::Base;
use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::helper_classes::LoaderOfClass;
use crate::names::decode;
use crate::selection::SelectedClass;
use host::ClassRequest;

/// Runs the plugins on a class, counts it, and notes their failures. Returns the new class file and its edits, if there
/// are any.
pub(super) fn transform(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    base: &Base,
    selected: &SelectedClass<'_>,
) -> Option<(Vec<u8>, Edits)> {
    let SelectedClass { set, location, .. } = selected;
    let request = ClassRequest {
        name,
        loader: &selected.loader,
        location: location.for_selectors(),
        bytes: base.bytes.as_deref().unwrap_or(load.class_data),
        original: base.original(),
        retransforming: load.class_being_redefined.is_some(),
    };
    let (mut bytes, helpers) = (Vec::new(), LoaderOfClass { agent, load });
    let (outcome, requested) =
        set.pipeline
            .transform_by(&request, agent.results.table, &helpers, &mut bytes);
    if set.pipeline.has_huge_methods() {
        agent.classes.huge_methods.crossed();
    }
    count(agent, load, name, outcome.is_changed());
    let failures = outcome.failures().iter();
    failures.for_each(|failure| agent.results.failures.class_failed(failure));
    for method in &requested.left_alone {
        let (class, plugins) = (decode(name), &requested.plugins);
        agent.results.failures.left_alone(&class, method, plugins);
    }
    if agent.results.table.wants_arrays() {
        agent.threads.upkeep.wake();
        agent.threads.signal.wake(); // it rests long while no array is in use
    }
    let edits = Edits {
        revision: set.revision,
        plugins: requested.plugins,
        followers: requested.followers,
        hits_call: requested.hits_call,
    };
    outcome.is_changed().then_some((bytes, edits))
}

/// Counts a class that plugins have seen: once, however often it is retransformed or redefined.
fn count(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8], is_changed: bool) {
    let loader = load.loader.as_ref();
    let Some(loader) = agent
        .classes
        .loaders
        .identify(agent.jvmti, load.local, loader)
    else {
        return; // no memory; noting the edits reports it
    };
    let is_load = load.class_being_redefined.is_none();
    let before = agent
        .classes
        .instrumented
        .count_selected(name, loader, is_load, is_changed);
    if before.selected {
        agent.classes.count_again(before.changed && is_changed);
    } else if !is_load {
        agent.classes.count_seen(); // loaded before the agent, or before a plugin selected it
    }
}
