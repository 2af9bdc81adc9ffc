//! The selection of a class by name, loader and location.

use crate::agent::Agent;
use crate::agent::code_sources::FoundLocation;
use crate::agent::plugins::PluginSet;
use crate::ffi::class_file_load::ClassFileLoad;
use host::{CodeSource, Loader};

/// A class that plugins may want by its name, loader and location.
pub(crate) struct SelectedClass<'s> {
    /// The plugins in force.
    pub set: &'s PluginSet,
    /// The loader, as results name it.
    pub loader: Loader,
    /// The location, if it was asked for.
    pub location: FoundLocation,
}

/// Returns the class that is in the hook if a plugin may want it. Waits until the probe table has room for it.
pub(crate) fn select<'s>(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    set: &'s PluginSet,
) -> Option<SelectedClass<'s>> {
    let (local, found_in) = (load.local, load.loader.as_ref());
    let loader = agent.classes.loaders.kind(agent.jvmti, local, found_in);
    // The location costs field reads, so it is fetched only for a class that a plugin may want.
    if !set.wants(name, &loader, CodeSource::Unread) {
        return None;
    }
    let domain = load.protection_domain.as_ref();
    let asked = set.pipeline.needs_location();
    let location = agent.classes.code_sources.find(local, domain, asked);
    let known = location.for_selectors();
    if known != CodeSource::Unread && !set.wants(name, &loader, known) {
        return None;
    }
    agent.threads.upkeep.await_room(agent.results.table);
    let recorded = agent.recorded_loader(local, found_in, &loader);
    Some(SelectedClass {
        set,
        loader: recorded.into_owned(),
        location,
    })
}
