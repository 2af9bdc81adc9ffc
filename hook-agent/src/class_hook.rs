//! The class-file load hook for one class.
//!
//! A class passes the stages one after the other, each in a module of its own:
//!
//! ```text
//! patch in force → selection → base → transform → answer
//! ```

mod answer;
mod base;
mod transform;

use crate::agent::Agent;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::patch::in_force::PatchCandidate;
use crate::patch::{dry_run, in_force};
use crate::selection;
use crate::unchangeable::is_unchangeable;
use host::exclusions::is_excluded;

/// The `ClassFileLoadHook` event: returns early if no plugin wants the class, then runs the plugins.
///
/// Runs on the loading thread, concurrently and for classes of any loader. A pending Java exception stays pending.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    if dry_run::intercept(load) {
        return;
    }
    let is_load = load.class_being_redefined.is_none();
    if is_load {
        agent.classes.count_seen();
    }
    let is_changeable = |name: &&[u8]| !is_excluded(name) && !is_unchangeable(name);
    let Some(name) = load.name.filter(is_changeable) else {
        return;
    };
    load.local.keeping_exception(|| {
        let candidate = PatchCandidate {
            loader: load.loader.as_ref(),
            name,
            class_data: load.class_data,
            is_load,
        };
        let patch = in_force::find(agent, load.local, candidate);
        let plugins = agent.plugins.current();
        let selected = plugins
            .as_deref()
            .and_then(|set| selection::select(agent, load, name, set));
        let base = base::base_of(agent, load, name, patch, selected.is_some());
        let made =
            selected.and_then(|selected| transform::transform(agent, load, name, &base, &selected));
        let revision = plugins.as_deref().map(|set| set.revision);
        answer::answer(agent, load, name, base, made, revision);
    });
}
