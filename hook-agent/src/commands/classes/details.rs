//! What is told of classes besides their names: where they come from, their loaders, methods and code.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::MethodId;
use crate::ffi::live;
use crate::ffi::refs::LocalRef;
use crate::loaded::Loaded;
use crate::names::decode;
use crate::patch;
use control::classes::{ClassLoader, Details, LoadedMethod, Plan};
use control::message::Class;

/// Frames of one thread that are looked at.
const FRAMES: usize = 1_024;
/// Bytes of text that one answer holds, of all classes together.
const MOST_TEXT: usize = 16 << 20;

/// A frame in which code runs that has been replaced since it was entered.
struct Former<'a> {
    class: LocalRef<'a>,
    method: MethodId,
}

/// Adds what is asked of each class.
pub(super) fn add<'a>(
    agent: &Agent,
    jvm: Jvm<'a>,
    details: Details,
    classes: &mut [(Class, Loaded<'a>)],
) {
    let former = if details.methods {
        former(jvm)
    } else {
        Vec::new()
    };
    let mut room = MOST_TEXT;
    for (class, loaded) in classes {
        if details.source {
            class.source = Some(source(jvm, loaded));
        }
        if details.loaders {
            class.loaders = Some(loaders(agent, jvm, loaded));
        }
        if details.methods {
            class.methods = Some(methods(jvm, loaded, &former));
        }
        if details.plan {
            class.plan = Some(plan(agent, jvm, loaded, &mut room));
        }
    }
}

fn source(jvm: Jvm<'_>, class: &Loaded<'_>) -> String {
    live::location(jvm, &class.class)
        .unwrap_or_else(|cause| Some(format!("unknown: {cause}")))
        .unwrap_or_default()
}

fn loaders(agent: &Agent, jvm: Jvm<'_>, class: &Loaded<'_>) -> Vec<ClassLoader> {
    match jvm.jvmti.class_loader(jvm.local, &class.class) {
        Ok(loader) => agent.loaders.chain(jvm, loader),
        Err(_) => Vec::new(),
    }
}

/// The frames of all platform threads that run former code; each thread is stopped by itself.
fn former(jvm: Jvm<'_>) -> Vec<Former<'_>> {
    let Jvm { jvmti, live, local } = jvm;
    let threads = jvmti.all_threads(live, local).unwrap_or_default();
    let mut former = Vec::new();
    for thread in threads {
        // A thread that has ended has none.
        let stack = jvmti.stack(live, Some(&thread), FRAMES);
        let methods = stack.into_iter().flatten().map(|frame| frame.method);
        let obsolete = methods.filter(|method| jvmti.is_obsolete(*method));
        former.extend(obsolete.filter_map(|method| {
            let class = jvmti.declaring_class(local, method).ok()?;
            Some(Former { class, method })
        }));
    }
    former
}

/// The methods of a class, and those that only frames still have.
fn methods(jvm: Jvm<'_>, class: &Loaded<'_>, former: &[Former<'_>]) -> Vec<LoadedMethod> {
    // A class that is not linked has none to show.
    let methods = jvm.jvmti.class_methods(&class.class).unwrap_or_default();
    let mut methods: Vec<LoadedMethod> = methods
        .into_iter()
        .filter_map(|method| describe(jvm, method))
        .collect();
    let of_class = |former: &&Former<'_>| jvm.local.is_same_object(&former.class, &class.class);
    for former in former.iter().filter(of_class) {
        let Some(method) = describe(jvm, former.method) else {
            continue;
        };
        let same = |known: &&mut LoadedMethod| {
            (&known.name, &known.descriptor) == (&method.name, &method.descriptor)
        };
        match methods.iter_mut().find(same) {
            Some(known) => known.former_frames += 1,
            None => methods.push(LoadedMethod {
                former_frames: 1,
                ..method
            }),
        }
    }
    methods
}

fn describe(jvm: Jvm<'_>, method: MethodId) -> Option<LoadedMethod> {
    let (name, descriptor) = jvm.jvmti.method_name(method).ok()?;
    Some(LoadedMethod {
        name: decode(&name),
        descriptor: decode(&descriptor),
        flags: jvm.jvmti.method_flags(method).ok()?,
        former_frames: 0,
    })
}

fn plan(agent: &Agent, jvm: Jvm<'_>, class: &Loaded<'_>, room: &mut usize) -> Plan {
    if *room == 0 {
        return Plan {
            cause: format!("the answer has {MOST_TEXT} bytes of text already; list fewer classes"),
            ..Plan::default()
        };
    }
    let plan = patch::explain::explain(agent, jvm, class);
    *room = room.saturating_sub(plan.text.len());
    plan
}
