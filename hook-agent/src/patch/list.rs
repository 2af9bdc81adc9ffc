//! The list of the patches in force.

use crate::agent::Agent;
use crate::agent::patches::{Load, Patch, PatchedClass, Scope};
use crate::ffi::jvm::Jvm;
use crate::names::dotted;
use crate::patch::audit;
use crate::patch::target::{self, Target};
use control::Refusal;
use control::patch::{LoaderState, PatchClass, PatchState, Patches};
use std::sync::Arc;

/// The reason if a loader's class got the new code at its load, but no such class is loaded.
const GONE: &str = "the JVM has no such class: it refused the new code, or is loading the class now; its message is on the program's standard error";

/// The patches in force, with the state of each class.
///
/// # Errors
///
/// If the JVM does not list its classes.
pub(crate) fn list(agent: &Agent, jvm: Jvm<'_>) -> Result<Patches, Refusal> {
    let stack = agent.patches.stack();
    let classes = stack.iter().flat_map(|patch| &patch.classes);
    let mut names: Vec<&[u8]> = classes.map(|class| class.name.as_slice()).collect();
    names.sort_unstable();
    names.dedup();
    let targets = target::find(agent, jvm, &names, |_| true)?;
    let listed = stack.iter().enumerate().map(|(at, patch)| {
        let newer = stack.get(at + 1..).unwrap_or_default();
        let classes = patch.classes.iter();
        control::patch::Patch {
            id: patch.id,
            note: patch.note.clone(),
            time_ms: patch.time_ms,
            uid: patch.uid,
            classes: classes
                .map(|class| listed(class, newer, &targets))
                .collect(),
        }
    });
    let patches = listed.collect();
    target::release(jvm, targets);
    let known = agent.patches.log_folder();
    let log = known.or_else(|| audit::own_folder(agent));
    Ok(Patches {
        patches,
        log: log.map_or_else(String::new, |folder| {
            audit::file(folder).display().to_string()
        }),
    })
}

fn listed(class: &PatchedClass, newer: &[Arc<Patch>], targets: &[Target]) -> PatchClass {
    let above = newer.iter().flat_map(|patch| &patch.classes);
    let mut above = above.filter(|other| other.name == class.name);
    let covered = above.any(|other| match (&class.scope, &other.scope) {
        (_, Scope::Later(None)) => true,
        (Scope::Loaded(these), Scope::Loaded(those)) => these.iter().all(|id| those.contains(id)),
        (these, those) => these == those,
    });
    let named = targets.iter().filter(|target| target.name == class.name);
    PatchClass {
        class: dotted(&class.name),
        digest: class.digest.clone(),
        waited: matches!(class.scope, Scope::Later(_)),
        covered,
        states: states(class, &named.collect::<Vec<_>>()),
    }
}

/// The states of a class in its loaders; `named` are the loaded classes of its name.
fn states(class: &PatchedClass, named: &[&Target]) -> Vec<LoaderState> {
    let applied = named.iter().filter(|target| target.is_patched_by(class));
    let mut states: Vec<LoaderState> = applied
        .map(|target| LoaderState {
            loader: target.outcome.loader.clone(),
            state: PatchState::Applied,
            why: String::new(),
        })
        .collect();
    let is_there = |load: &Load| {
        let mut loaded = named.iter().filter_map(|target| target.loaded.as_ref());
        loaded.any(|loaded| loaded.loader == load.loader)
    };
    for load in class.loads.all() {
        let why = match load.refused.clone() {
            Some(why) => why,
            None if is_there(&load) => continue,
            None => GONE.to_owned(),
        };
        states.push(LoaderState {
            loader: load.displayed,
            state: PatchState::Refused,
            why,
        });
    }
    if states.is_empty() && matches!(class.scope, Scope::Later(_)) {
        states.push(LoaderState::default());
    }
    states
}
