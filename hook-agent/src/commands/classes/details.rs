//! The details of classes: code source, loaders, methods and code.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::MethodId;
use crate::ffi::live;
use crate::ffi::refs::LocalRef;
use crate::loaded_classes::LoadedClass;
use crate::names::decode;
use crate::patch;
use control::classes::{ClassLoader, Details, LoadedMethod, Plan};
use control::message::Class;

/// Largest number of frames that are examined in one thread.
const FRAMES: usize = 1_024;
/// Largest size of the text in one answer, for all classes together, in bytes.
const MOST_TEXT: usize = 16 << 20;

/// A frame that executes former code of a method: the method was replaced after the frame was entered.
struct FormerFrame<'a> {
    class: LocalRef<'a>,
    method: MethodId,
}

/// Adds the requested details to each class.
pub(super) fn add<'a>(
    agent: &Agent,
    jvm: Jvm<'a>,
    details: Details,
    classes: &mut [(Class, LoadedClass<'a>)],
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

fn source(jvm: Jvm<'_>, class: &LoadedClass<'_>) -> String {
    live::location(jvm, &class.class)
        .unwrap_or_else(|cause| Some(format!("unknown: {cause}")))
        .unwrap_or_default()
}

fn loaders(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>) -> Vec<ClassLoader> {
    match jvm.jvmti.class_loader(jvm.local, &class.class) {
        Ok(loader) => agent.classes.loaders.chain(jvm, loader),
        Err(_) => Vec::new(),
    }
}

/// The frames of all platform threads that execute former code. The threads are stopped one after another.
fn former(jvm: Jvm<'_>) -> Vec<FormerFrame<'_>> {
    let Jvm { jvmti, live, local } = jvm;
    let threads = jvmti.all_threads(live, local).unwrap_or_default();
    let mut former = Vec::new();
    for thread in threads {
        // The stack of a thread that has ended is empty.
        let stack = jvmti.stack(live, Some(&thread), FRAMES);
        let methods = stack.into_iter().flatten().map(|frame| frame.method);
        let obsolete = methods.filter(|method| jvmti.is_obsolete(*method));
        former.extend(obsolete.filter_map(|method| {
            let class = jvmti.declaring_class(local, method).ok()?;
            Some(FormerFrame { class, method })
        }));
    }
    former
}

/// The methods of a class, and former methods that only stacks refer to.
fn methods(jvm: Jvm<'_>, class: &LoadedClass<'_>, former: &[FormerFrame<'_>]) -> Vec<LoadedMethod> {
    // JVM TI returns no methods of a class that is not linked.
    let methods = jvm.jvmti.class_methods(&class.class).unwrap_or_default();
    let mut methods: Vec<LoadedMethod> = methods
        .into_iter()
        .filter_map(|method| describe(jvm, method))
        .collect();
    let of_class =
        |former: &&FormerFrame<'_>| jvm.local.is_same_object(&former.class, &class.class);
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

fn plan(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>, room: &mut usize) -> Plan {
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
