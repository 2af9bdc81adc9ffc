//! The answer to the JVM, and the note of the edits that a class holds from now on.

use super::base::Base;
use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::collected_loaders;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::messages::{self, Code};
use crate::names::decode;
use crate::patch::{dry_run, in_force};

/// Hands over the new class file of a class: `made` by plugins, or else that of the patch, or the one with restored
/// parameter names. `revision` is that of the plugins in force.
pub(super) fn answer(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    base: Base,
    made: Option<(Vec<u8>, Edits)>,
    revision: Option<u32>,
) {
    let is_load = load.class_being_redefined.is_none();
    let unedited = base.patch.as_ref().map(|_| Edits {
        revision: revision.unwrap_or(0),
        plugins: Vec::new(),
        followers: Vec::new(),
        hits_call: false,
    });
    let is_answered = base.patch.is_some() || !is_load;
    let made = made.map(|(bytes, edits)| (bytes, Some(edits)));
    let without = base.bytes.filter(|_| is_answered);
    let mut answers = made
        .into_iter()
        .chain(without.map(|bytes| (bytes, unedited)));
    let taken = answers.find_map(|(bytes, edits)| hand_over(load, name, &bytes).then_some(edits));
    let mut edits = taken.flatten();
    if let (Some(edits), Some(patch)) = (&mut edits, &base.patch) {
        // The plugins' result includes the patch.
        edits.plugins.insert(0, in_force::label(patch));
    }
    let is_idle = base.patch.is_none() && revision.is_none();
    if is_idle || dry_run::is_under_way() || (is_load && edits.is_none()) {
        return;
    }
    let loader = load.loader.as_ref();
    match agent
        .classes
        .loaders
        .identify(agent.jvmti, load.local, loader)
    {
        Some(loader) => agent.classes.instrumented.note(name, loader, edits),
        None => messages::warning(
            Code::Refused,
            format_args!(
                "the JVM has no memory to note the edits of {}; `off` does not restore it",
                decode(name)
            ),
        ),
    }
    if agent.classes.loaders.are_many() {
        collected_loaders::remove(agent, load.local);
    }
}

fn hand_over(load: &ClassFileLoad<'_>, name: &[u8], bytes: &[u8]) -> bool {
    messages::debug(format_args!("{} changed", decode(name)));
    let handed_over = load.set_new_class_data(bytes);
    if let Err(error) = &handed_over {
        messages::warning(
            Code::Refused,
            format_args!("the JVM has no memory for {}: {error}", decode(name)),
        );
    }
    handed_over.is_ok()
}
