//! Frames that execute former code when a class is patched.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::MethodId;
use crate::names::decode;
use crate::patch::in_force;
use crate::patch::target::Target;
use class_versions::fitting;
use control::patch::{BrokenRule, VirtualFrames};
use jvms::names::binary;
use rewriter::{ClassFile, Method};
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
    /// The threads in words: `thread main`.
    threads: Vec<String>,
    never_returns: bool,
}

/// Finds frames of methods whose code differs between the present and the new class file of a class. `files` holds the
/// index of each class among `targets` with both class files, and `of_virtual` the frames of virtual threads.
///
/// A frame that can return becomes a remark. A frame that never returns would execute former code forever: it is
/// returned as a broken rule, with the index of the class.
pub(super) fn find(
    agent: &Agent,
    jvm: Jvm<'_>,
    targets: &mut [Target],
    files: &[(usize, Vec<u8>, Vec<u8>)],
    of_virtual: &[VirtualFrames],
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
    let mut running = running(agent, jvm, targets, &changed);
    add_virtual(&mut running, targets, &changed, of_virtual);
    let mut endless = Vec::new();
    for ((target, method), running) in running {
        let threads = running.threads.join(", ");
        if running.never_returns {
            let text = format!(
                "{method} never returns in {threads}, which would execute the former code forever"
            );
            endless.push((target, crate::patch::schema::without_effect(text)));
        } else if let Some(target) = targets.get_mut(target) {
            let text = format!(
                "{method} runs in {threads}, which executes the former code until it returns"
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
                let thread = format!("thread {}", thread.unwrap_or_default());
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

/// Adds the frames of virtual threads. The JVM's dump of threads names methods without descriptors, and the loaders of
/// some classes only. So the line of a frame tells overloaded methods apart, and each loader's class is meant.
fn add_virtual(
    running: &mut BTreeMap<(usize, String), MethodFrames>,
    targets: &[Target],
    changed: &[ChangedMethod<'_>],
    of_virtual: &[VirtualFrames],
) {
    for frames in of_virtual {
        for method in changed.iter().filter(|method| method.name == frames.method) {
            let target = targets.get(method.target);
            let class = target.filter(|target| target.loaded.is_some());
            let class = class.map(|target| binary(&decode(&target.name)));
            let file = method.file.methods().find(|found| method.is(found));
            let (Some(class), Some(file)) = (class, file) else {
                continue;
            };
            let starts = frames.line.map(|line| starts(&file, line));
            if class != frames.class || starts.as_ref().is_some_and(Vec::is_empty) {
                continue;
            }
            let place = (
                method.target,
                format!("{}{}", method.name, method.descriptor),
            );
            let known = running.entry(place).or_default();
            let threads = frames.threads.iter();
            known
                .threads
                .extend(threads.map(|thread| format!("virtual thread {thread}")));
            let more = frames.count.saturating_sub(frames.threads.len());
            known
                .threads
                .extend((more > 0).then(|| format!("{more} more virtual threads")));
            let starts = starts.unwrap_or_else(|| vec![0]);
            let mut starts = starts.into_iter();
            known.never_returns |= !starts.any(|bci| fitting::returns_from(&file, bci));
        }
    }
}

/// The bytecode indices at which a line of a method begins.
fn starts(method: &Method<'_, '_>, line: u16) -> Vec<u16> {
    let code = method.code().ok().flatten();
    let lines = code.iter().flat_map(|code| code.lines());
    let of_line = lines.filter(|found| found.number == line);
    of_line.map(|found| found.bci.0).collect()
}

impl ChangedMethod<'_> {
    fn is(&self, method: &Method<'_, '_>) -> bool {
        method.name().to_str_lossless() == self.name
            && method.descriptor().to_str_lossless() == self.descriptor
    }
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
    let edits = agent.classes.instrumented.find(&target.name, loaded.loader);
    edits.is_none_or(|edits| edits.plugins.iter().all(|by| in_force::is_label(by)))
}

fn returns(method: &ChangedMethod<'_>, bci: u16) -> bool {
    let mut methods = method.file.methods();
    let found = methods.find(|found| method.is(found));
    found.is_none_or(|found| fitting::returns_from(&found, bci))
}
