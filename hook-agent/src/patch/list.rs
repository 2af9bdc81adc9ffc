//! The patches in force, as they are listed.

use crate::agent::Agent;
use crate::agent::patches::{Patch, PatchedClass, Scope};
use crate::names::dotted;
use crate::patch::audit;
use control::patch::{PatchClass, Patches};
use std::sync::Arc;

/// The patches in force.
pub(crate) fn list(agent: &Agent) -> Patches {
    let stack = agent.patches.stack();
    let patches = stack.iter().enumerate().map(|(at, patch)| {
        let newer = stack.get(at + 1..).unwrap_or_default();
        control::patch::Patch {
            id: patch.id,
            note: patch.note.clone(),
            time_ms: patch.time_ms,
            uid: patch.uid,
            classes: patch
                .classes
                .iter()
                .map(|class| listed(class, newer))
                .collect(),
        }
    });
    Patches {
        patches: patches.collect(),
        log: audit::file(&agent.settings.output).display().to_string(),
    }
}

fn listed(class: &PatchedClass, newer: &[Arc<Patch>]) -> PatchClass {
    let above = newer.iter().flat_map(|patch| &patch.classes);
    let mut above = above.filter(|other| other.name == class.name);
    let covered = above.any(|other| match (&class.scope, &other.scope) {
        (_, Scope::Later(None)) => true,
        (Scope::Loaded(these), Scope::Loaded(those)) => these.iter().all(|id| those.contains(id)),
        (these, those) => these == those,
    });
    PatchClass {
        class: dotted(&class.name),
        digest: class.digest.clone(),
        waited: matches!(class.scope, Scope::Later(_)),
        covered,
    }
}
