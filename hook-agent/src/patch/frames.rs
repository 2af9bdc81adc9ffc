//! Frames that execute former code when a class is patched.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::MethodId;
use crate::names::decode;
use crate::patch::in_force;
use crate::patch::target::Target;
use class_versions::fitting;
use control::patch::BrokenRule;
use rewriter::ClassFile;
use std::collections::{BTreeMap, HashSet};

/// Largest number of frames that are examined in one thread.
const FRAMES: usize = 1_024;
/// Local references for the frames of one thread.
const CAPACITY: i32 = 2_048;

/// A method that gets other code.
struct ChangedMethod<'t> {
    /// The index of its class among the targets.
    target: usize,
    /// The class file that runs now.
    file: &'t ClassFile<'t>,
    name: String,
    descriptor: String,
}

/// The frames of one method.
#[derive(Default)]
struct MethodFrames {
    threads: Vec<String>,
    never_returns: bool,
}

/// Finds frames of methods whose code differs between the present and the new class file of a class. `files` holds the
/// index of each class among `targets` with both class files.
///
/// A frame that can return becomes a remark. A frame that never returns would execute former code forever: it is
/// returned as a broken rule, with the index of the class.
pub(super) fn find(
    agent: &Agent,
    jvm: Jvm<'_>,
    targets: &mut [Target],
    files: &[(usize, Vec<u8>, Vec<u8>)],
) -> Vec<(usize, BrokenRule)> {
    let read: Vec<_> = files
        .iter()
        .filter_map(|(target, now, new)| {
            let (now, new) = (ClassFile::read(now).ok()?, ClassFile::read(new).ok()?);
            let methods = fitting::changed_methods(&now, &new);
            Some((*target, now, methods))
        })
        .collect();
    let changed: Vec<ChangedMethod<'_>> = read
        .iter()
        .flat_map(|(target, file, methods)| {
            methods.iter().map(|(name, descriptor)| ChangedMethod {
                target: *target,
                file,
                name: name.clone(),
                descriptor: descriptor.clone(),
            })
        })
        .collect();
    if changed.is_empty() {
        return Vec::new();
    }
    let running = running(agent, jvm, targets, &changed);
    let mut endless = Vec::new();
    for ((target, method), running) in running {
        let threads = running.threads.join(", ");
        if running.never_returns {
            let text = format!(
                "{method} never returns in thread {threads}, which would execute the former code forever"
            );
            endless.push((target, crate::patch::schema::without_effect(text)));
        } else if let Some(target) = targets.get_mut(target) {
            let text = format!(
                "{method} runs in thread {threads}, which executes the former code until it returns"
            );
            target.outcome.remarks.push(text);
        }
    }
    endless
}

/// The frames of the methods, by index of their class and by name.
fn running(
    agent: &Agent,
    jvm: Jvm<'_>,
    targets: &[Target],
    changed: &[ChangedMethod<'_>],
) -> BTreeMap<(usize, String), MethodFrames> {
    let names: HashSet<&str> = changed.iter().map(|method| method.name.as_str()).collect();
    let mut running: BTreeMap<(usize, String), MethodFrames> = BTreeMap::new();
    let threads = jvm
        .jvmti
        .all_threads(jvm.live, jvm.local)
        .unwrap_or_default();
    for thread in threads {
        // A thread that has ended has no frames.
        let stack = jvm.jvmti.stack(jvm.live, Some(&thread), FRAMES);
        let _ = jvm.with_frame(CAPACITY, |jvm| {
            for frame in stack.into_iter().flatten() {
                let Some(found) = method_of(jvm, frame.method, targets, changed, &names) else {
                    continue;
                };
                let place = (found.target, format!("{}{}", found.name, found.descriptor));
                let known = running.entry(place).or_default();
                let thread = jvm.jvmti.thread_name(jvm.live, jvm.local, &thread);
                let thread = thread.unwrap_or_default();
                if !known.threads.contains(&thread) {
                    known.threads.push(thread);
                }
                let target = targets.get(found.target);
                let is_own = target.is_some_and(|target| runs_own_code(agent, target));
                let at = if is_own { frame.location } else { 0 };
                known.never_returns |= !returns(found, u16::try_from(at).unwrap_or(0));
            }
        });
    }
    running
}

/// The changed method of a frame, unless the frame executes former code already.
fn method_of<'c, 't>(
    jvm: Jvm<'_>,
    method: MethodId,
    targets: &[Target],
    changed: &'c [ChangedMethod<'t>],
    names: &HashSet<&str>,
) -> Option<&'c ChangedMethod<'t>> {
    let (name, descriptor) = jvm.jvmti.method_name(method).ok()?;
    let (name, descriptor) = (decode(&name), decode(&descriptor));
    if !names.contains(name.as_str()) || jvm.jvmti.is_obsolete(method) {
        return None;
    }
    let class = jvm.jvmti.declaring_class(jvm.local, method).ok()?;
    changed.iter().find(|found| {
        let target = targets.get(found.target);
        let loaded = target.and_then(|target| target.loaded.as_ref());
        found.name == name
            && found.descriptor == descriptor
            && loaded.is_some_and(|loaded| jvm.local.is_same(&class, &loaded.class))
    })
}

/// Checks that no plugin has moved the instructions of a class.
fn runs_own_code(agent: &Agent, target: &Target) -> bool {
    let Some(loaded) = &target.loaded else {
        return true;
    };
    let edits = agent.instrumented.find(&target.name, loaded.loader);
    edits.is_none_or(|edits| edits.plugins.iter().all(|by| in_force::is_label(by)))
}

fn returns(method: &ChangedMethod<'_>, bci: u16) -> bool {
    let mut methods = method.file.methods();
    let found = methods.find(|found| {
        found.name().to_str_lossless() == method.name
            && found.descriptor().to_str_lossless() == method.descriptor
    });
    found.is_none_or(|found| fitting::returns_from(&found, bci))
}
