//! The reference paths that keep instances of a class alive, found by following references while the program is paused.

mod names;
mod objects;

use super::environment;
use super::methods::Methods;
use crate::agent::Agent;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::{HeapReference, ReferenceFilter, ReferenceKind, Referrer, Root};
use crate::ffi::vm::Vm;
use crate::loaded_classes;
use crate::names::class_name;
use control::message::{HeapPath, HeapPaths};
use host::Loader;
use jvm_events::path_kinds::{PathKinds, Step};
use jvm_events::paths::{Limits, Node, Path, Search};
use names::{Fields, Names};
use objects::{PathRoot, each_object, node, tag};
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

/// The limits of a search: at most some 80 MB.
const LIMITS: Limits = Limits {
    nodes: 1 << 20,
    references: 1 << 21,
    instances: 1_000,
};
/// Longest path that is found: each reference takes a pass through the heap.
const PASSES: u32 = 100;
/// Total pause of the program after which no pass begins, unless the request has a limit.
const STILL: Duration = Duration::from_secs(30);

/// Finds the paths to instances of a class, named as in Java. After the first, a pass begins only if the total pause,
/// estimated from earlier passes, stays below `still`.
///
/// # Errors
///
/// The function that the JVM refuses, or that no such class is loaded.
pub(crate) fn paths(
    agent: &Agent,
    jvm: Jvm<'_>,
    class: &str,
    still: Option<Duration>,
) -> Result<HeapPaths, String> {
    let jvmti = environment::tagging(Vm::of(jvm.local), jvm.live)?;
    let jvm = Jvm::new(jvmti, jvm.live, jvm.local);
    let found = jvm.with_frame(loaded_classes::CAPACITY, |jvm| {
        find(agent, jvm, class, still)
    });
    jvmti.dispose();
    found.unwrap_or_else(|| Err("the JVM has no memory for references".to_owned()))
}

fn find(
    agent: &Agent,
    jvm: Jvm<'_>,
    class: &str,
    most: Option<Duration>,
) -> Result<HeapPaths, String> {
    let refused = |error: JvmtiError| format!("the JVM does not follow references: {error}");
    let mut search = Search::new(LIMITS);
    let known = TaggedObjects::tag(jvm, class, &mut search).map_err(refused)?;
    if !known.classes.values().any(|found| found.is_wanted) {
        return Err(format!("no class `{class}` is loaded"));
    }
    let mut answer = HeapPaths::default();
    let (mut still, mut longest) = (Duration::ZERO, Duration::ZERO);
    loop {
        let begun = Instant::now();
        let classes = pass(jvm, &known, &mut search).map_err(refused)?;
        let pause = begun.elapsed();
        (still, longest) = (still + pause, longest.max(pause));
        answer.passes += 1;
        keep_classes(agent, jvm, &mut search, &classes).map_err(refused)?;
        if !search.pass_is_over() {
            break;
        }
        answer.out_of_time = most.map_or(still >= STILL, |most| still + longest > most);
        if answer.passes == PASSES || answer.out_of_time {
            answer.cut = true;
            break;
        }
    }
    let paths = search.paths();
    answer.instances = search.instances() as u64;
    answer.more = search.more_instances;
    answer.cut |= search.cut;
    answer.without_path = answer.instances - paths.len() as u64;
    answer.still_ms = u64::try_from(still.as_millis()).unwrap_or(u64::MAX);
    answer.paths = grouped(jvm, &known, &paths);
    Ok(answer)
}

/// Classes and threads that are tagged before the first pass.
struct TaggedObjects {
    /// Classes by their tags.
    classes: HashMap<i64, TaggedClass>,
    /// The tag of `java.lang.Class`.
    class_of_classes: i64,
    /// The names of threads by their tags.
    threads: HashMap<i64, String>,
}

#[derive(Default)]
struct TaggedClass {
    /// True if paths to its instances are searched.
    is_wanted: bool,
    /// The index of the field `referent`, which does not keep its object alive.
    referent: Option<i32>,
}

impl TaggedObjects {
    fn tag(
        jvm: Jvm<'_>,
        asked: &str,
        search: &mut Search<PathRoot, ReferenceKind>,
    ) -> Result<Self, JvmtiError> {
        let Jvm { jvmti, live, local } = jvm;
        let mut known = Self {
            classes: HashMap::new(),
            class_of_classes: 0,
            threads: HashMap::new(),
        };
        let mut fields = Fields::default();
        let reference = local.find_class(c"java/lang/ref/Reference");
        for class in jvmti.loaded_classes(live, local)? {
            let Ok(signature) = jvmti.class_signature(&class) else {
                continue; // unloaded meanwhile
            };
            let reference = reference.as_ref();
            let is_weak = reference.is_some_and(|it| local.is_assignable(&class, it));
            let found = TaggedClass {
                is_wanted: class_name(&signature) == asked,
                referent: is_weak
                    .then(|| fields.index(jvm, &class, "referent"))
                    .flatten(),
            };
            let is_class = signature == b"Ljava/lang/Class;";
            if !(found.is_wanted || is_weak || is_class) {
                continue;
            }
            let Some(tag) = search.add().map(tag) else {
                break;
            };
            jvmti.set_tag(live, &class, tag)?;
            known.classes.insert(tag, found);
            if is_class {
                known.class_of_classes = tag;
            }
        }
        for thread in jvmti.all_threads(live, local)? {
            let Some(tag) = search.add().map(tag) else {
                break;
            };
            jvmti.set_tag(live, &thread, tag)?;
            let name = jvmti.thread_name(live, local, &thread);
            known.threads.insert(tag, name.unwrap_or_default());
        }
        Ok(known)
    }

    /// Checks whether a reference does not keep its object alive.
    fn is_weak(&self, referrer_class_tag: i64, holds: ReferenceKind) -> bool {
        let class = self.classes.get(&referrer_class_tag);
        let referent = class.and_then(|class| class.referent);
        referent.is_some_and(|index| holds == ReferenceKind::Field(index))
    }
}

/// Makes one pass through the heap, and returns the classes that were found as holders for the first time.
fn pass(
    jvm: Jvm<'_>,
    known: &TaggedObjects,
    search: &mut Search<PathRoot, ReferenceKind>,
) -> Result<HashSet<Node>, JvmtiError> {
    let mut classes = HashSet::new();
    let is_first = search.is_first();
    let wanted = match is_first {
        true => ReferenceFilter::OfTaggedClasses,
        false => ReferenceFilter::Tagged,
    };
    let mut visit = |reference: &mut HeapReference| {
        let to = node(reference.tag);
        let to = match is_first {
            false => to,
            true => {
                let class = known.classes.get(&reference.class_tag);
                let is_wanted = class.is_some_and(|class| class.is_wanted);
                is_wanted.then(|| search.instance(to)).flatten()
            }
        };
        let Some(to) = to else { return };
        reference.tag = tag(to);
        if !search.asks_for(to) {
            return;
        }
        match reference.referrer {
            Referrer::Root(root) => search.root(to, PathRoot::Root(root)),
            Referrer::Object(holds) if known.is_weak(reference.referrer_class_tag, holds) => {}
            Referrer::Object(holds) => {
                let Some(from) = search.reference(node(reference.referrer_tag), to, holds) else {
                    return;
                };
                reference.referrer_tag = tag(from);
                if reference.referrer_class_tag == known.class_of_classes {
                    classes.insert(from);
                }
            }
        }
    };
    jvm.jvmti.follow_references(jvm.live, wanted, &mut visit)?;
    Ok(classes)
}

/// Classes of the built-in loaders are roots: they are never unloaded.
fn keep_classes(
    agent: &Agent,
    jvm: Jvm<'_>,
    search: &mut Search<PathRoot, ReferenceKind>,
    classes: &HashSet<Node>,
) -> Result<(), JvmtiError> {
    let new = classes.iter().filter(|node| !search.is_root(**node));
    let new: Vec<i64> = new.map(|node| tag(*node)).collect();
    each_object(jvm, &new, |jvm, tag, class| {
        let Ok(loader) = jvm.jvmti.class_loader(jvm.local, class) else {
            return;
        };
        let loader = agent
            .classes
            .loaders
            .kind(jvm.jvmti, jvm.local, loader.as_ref());
        if let (false, Some(node)) = (matches!(loader, Loader::Other(_)), node(tag)) {
            search.root(node, PathRoot::PermanentClass);
        }
    })
}

/// Groups paths of the same kind, the most frequent first. Each group shows one path as an example.
fn grouped(
    jvm: Jvm<'_>,
    known: &TaggedObjects,
    paths: &[Path<PathRoot, ReferenceKind>],
) -> Vec<HeapPath> {
    let names = Names::read(jvm, paths);
    let mut methods = Methods::default();
    let mut kinds = PathKinds::default();
    for path in paths {
        let root = root(jvm, known, &names, &mut methods, path);
        let steps: Vec<Step> = path.references.iter().map(|it| names.step(it)).collect();
        let last = path.references.last().map_or(path.first, |last| last.to);
        kinds.add(root, &steps, &names.class(last));
    }
    let kinds = kinds.into_sorted().into_iter();
    kinds
        .map(|(instances, steps)| HeapPath { instances, steps })
        .collect()
}

/// The text of the root of a path. Returns `None` if the first reference describes it.
fn root(
    jvm: Jvm<'_>,
    known: &TaggedObjects,
    names: &Names,
    methods: &mut Methods,
    path: &Path<PathRoot, ReferenceKind>,
) -> Option<String> {
    let mut thread = |tag: i64, method, location| {
        let name = known.threads.get(&tag);
        let thread = name.map_or_else(
            || "a thread".to_owned(),
            |name| format!("thread \"{name}\""),
        );
        names::place(jvm, methods, method, location)
            .map_or_else(|| thread.clone(), |place| format!("{place} in {thread}"))
    };
    Some(match path.root {
        PathRoot::Root(Root::SystemClass) | PathRoot::PermanentClass => {
            let is_static = matches!(
                path.references.first().map(|first| first.kind),
                Some(ReferenceKind::StaticField(_))
            );
            if is_static {
                return None;
            }
            format!(
                "the class {}, which stays loaded",
                names.of_class(path.first)
            )
        }
        PathRoot::Root(Root::JniGlobal) => "a global reference of JNI".to_owned(),
        PathRoot::Root(Root::Monitor) => "an owned monitor".to_owned(),
        PathRoot::Root(Root::Frame {
            thread: tag,
            method,
            location,
            slot,
        }) => format!("local variable {slot} of {}", thread(tag, method, location)),
        PathRoot::Root(Root::JniLocal {
            thread: tag,
            method,
        }) => format!("a local reference of JNI of {}", thread(tag, method, -1)),
        PathRoot::Root(Root::Thread) => {
            let name = known.threads.get(&tag(path.first));
            let name = name.map_or_else(String::new, |name| format!(" \"{name}\""));
            format!("a live thread:{name}")
        }
        PathRoot::Root(Root::Other) => "the JVM itself".to_owned(),
    })
}
