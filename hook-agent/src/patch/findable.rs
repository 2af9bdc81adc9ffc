//! The class files of classes that are not loaded, as their loaders would find them.

use crate::agent::Agent;
use crate::agent::loaders::LoaderId;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::LocalRef;
use crate::loaded_classes::CAPACITY;
use crate::messages;
use crate::names::decode;
use crate::patch::target::Target;
use control::patch::ClassState;
use std::collections::HashSet;

/// Largest number of loaders that are searched for one class. A program with more creates many similar loaders.
const MOST_LOADERS: usize = 256;

/// Fills in the class file of each class that is not loaded, from the loaders that are admitted. If no admitted loader
/// exists yet, any loader will do. A class that no loader finds becomes absent.
pub(super) fn fill_in(
    agent: &Agent,
    jvm: Jvm<'_>,
    targets: &mut [Target],
    admitted: impl Fn(&str) -> bool,
) {
    if targets.iter().all(|target| target.loaded.is_some()) {
        return;
    }
    let filled = jvm.with_frame(CAPACITY, |jvm| {
        let loaders = loaders(agent, jvm, &admitted);
        for target in targets.iter_mut().filter(|it| it.loaded.is_none()) {
            target.findable = class_file(jvm, &loaders, &target.name);
        }
    });
    if filled.is_none() {
        messages::warning(
            messages::Code::Patch,
            "the JVM has no memory to search its loaders",
        );
    }
    let missing = |target: &&mut Target| target.loaded.is_none() && target.findable.is_none();
    for target in targets.iter_mut().filter(missing) {
        target.outcome.state = ClassState::Absent;
    }
}

/// The loaders to search, without duplicates. The application's loader is first, and represents the built-in loaders.
fn loaders<'a>(
    agent: &Agent,
    jvm: Jvm<'a>,
    admitted: &dyn Fn(&str) -> bool,
) -> Vec<Option<LocalRef<'a>>> {
    let mut seen: HashSet<LoaderId> = HashSet::new();
    let (mut chosen, mut others) = (Vec::new(), Vec::new());
    for class in jvm
        .jvmti
        .loaded_classes(jvm.live, jvm.local)
        .unwrap_or_default()
    {
        let Ok(loader) = jvm.jvmti.class_loader(jvm.local, &class) else {
            continue;
        };
        let id = agent
            .classes
            .loaders
            .identify(jvm.jvmti, jvm.local, loader.as_ref());
        if !id.is_some_and(|id| seen.insert(id)) {
            continue;
        }
        let displayed = agent
            .classes
            .loaders
            .display(jvm.jvmti, jvm.local, loader.as_ref());
        let is_builtin = ["boot", "platform", "app"].contains(&displayed.as_str());
        let loader = if is_builtin { None } else { loader };
        match admitted(&displayed) {
            true => chosen.push(loader),
            false => others.push(loader),
        }
    }
    let mut all = if chosen.is_empty() { others } else { chosen };
    all.sort_by_key(Option::is_some);
    let builtin = all.iter().filter(|loader| loader.is_none()).count();
    all.drain(..builtin.saturating_sub(1));
    all.truncate(MOST_LOADERS);
    all
}

/// The first class file of this name that a loader finds.
fn class_file(jvm: Jvm<'_>, loaders: &[Option<LocalRef<'_>>], name: &[u8]) -> Option<Vec<u8>> {
    loaders.iter().find_map(|loader| {
        live::class_resource(jvm, loader.as_ref(), name).unwrap_or_else(|cause| {
            messages::debug(format_args!("no class file of {}: {cause}", decode(name)));
            None
        })
    })
}
