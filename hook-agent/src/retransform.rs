//! Classes that are loaded already: by an AOT cache, by other agents, before an attach, or under plugins
//! that have been exchanged since.
//!
//! What a retransformation hands over is the JVM's own rebuilding of a class, not its file
//! (measured: other pool order, other method order). So each class's file is fetched from its
//! loader first and given to the pipeline beside the rebuilt bytes.

use crate::agent::Agent;
use crate::changed::Edits;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::error::JvmtiError;
use crate::ffi::live;
use crate::ffi::phases::Live;
use crate::ffi::refs::{GlobalRef, Local, LocalRef};
use crate::ffi::table::Event;
use crate::messages::{self, Code};
use crate::{foundation, recording};
use host::Loader;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// Local references asked for while all classes of the JVM are looked at; the JVM's own limit.
const CAPACITY: i32 = 65_536;
/// Classes of one retransformation: it costs a pause per call, not per class, but a pause that
/// grows with the classes.
const BATCH: usize = 512;
/// How often classes that are being loaded are waited for, and how long each time.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);
/// Class-file bytes per probe, low: what is needed to define arrays before they are used up.
const BYTES_PER_PROBE: usize = 8;

/// A class that is loaded.
pub(crate) struct Loaded<'a> {
    class: LocalRef<'a>,
    /// Internal name.
    pub name: Vec<u8>,
    /// Its defining loader.
    pub loader: Loader,
}

/// A class to be retransformed.
struct Selected {
    class: GlobalRef,
    name: Vec<u8>,
    loader: Loader,
    /// What it holds before.
    edits: Option<Edits>,
}

/// What came of a retransformation.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Classes that the JVM has taken.
    pub retransformed: usize,
    /// Classes that it has not taken, and why; they stay as they are.
    pub failed: Vec<(String, JvmtiError)>,
}

/// The file of a class that is being retransformed on this thread.
struct Original {
    class: GlobalRef,
    bytes: Vec<u8>,
}

thread_local! {
    /// By internal name; several loaders may have a class of the same name.
    static ORIGINALS: RefCell<HashMap<Vec<u8>, Vec<Original>>> = RefCell::default();
}

/// Retransforms every class that is loaded already and that some plugin wants.
pub(crate) fn retransform_loaded(agent: &Agent, phase: Live, local: Local<'_>) {
    let Some(generation) = agent.plugins.current() else {
        return;
    };
    let wanted = |class: &Loaded<'_>| {
        wanted(agent, phase, local, class, &|class, located| {
            generation.wants(&class.name, &class.loader, located)
        })
    };
    pass(agent, phase, local, &wanted);
}

/// Retransforms the classes that hold edits which are `stale`, and those that are `wanted`, until no
/// class holds stale edits.
///
/// A class that was on its way through the hook when the plugins were exchanged is not loaded yet:
/// it is waited for. One that does not come was unloaded.
pub(crate) fn settle(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    stale: impl Fn(&Edits) -> bool,
    wanted: impl Fn(&Loaded<'_>) -> bool,
) -> Report {
    let changed = &agent.plugins.changed;
    let is_stale = |class: &Loaded<'_>| {
        let edits = changed.find(&class.name, &class.loader);
        edits.is_some_and(|edits| stale(&edits))
    };
    let mut report = pass(agent, phase, local, &|class| {
        is_stale(class) || wanted(class)
    });
    for _ in 0..TRIES {
        if changed.count(&stale) <= report.failed.len() {
            break;
        }
        std::thread::sleep(PAUSE);
        let failed: HashSet<String> = report.failed.iter().map(|(name, _)| name.clone()).collect();
        let again =
            |class: &Loaded<'_>| is_stale(class) && !failed.contains(&live::decode(&class.name));
        let more = pass(agent, phase, local, &again);
        report.retransformed += more.retransformed;
        report.failed.extend(more.failed);
    }
    let failed: HashSet<String> = report.failed.iter().map(|(name, _)| name.clone()).collect();
    changed.forget(|name, edits| stale(edits) && !failed.contains(&live::decode(name)));
    report
}

/// Retransforms those classes that waited to be linked and now are.
pub(crate) fn retransform_prepared(agent: &Agent, phase: Live, local: Local<'_>) {
    let (prepared, others) = agent.waiting.take_prepared();
    if prepared.is_empty() {
        return;
    }
    if !others {
        let _ = agent.jvmti().set_event(phase, Event::CLASS_PREPARE, false);
    }
    let Some(generation) = agent.plugins.current() else {
        return;
    };
    let wants = |class: &Loaded<'_>, located| generation.wants(&class.name, &class.loader, located);
    pass(agent, phase, local, &|class| {
        prepared.contains(&class.name) && wanted(agent, phase, local, class, &wants)
    });
}

/// Retransforms the loaded classes that are picked; those that are not linked yet, when they are.
fn pass(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    pick: &dyn Fn(&Loaded<'_>) -> bool,
) -> Report {
    let mut report = once(agent, phase, local, pick);
    if !agent.waiting.take_more() {
        return report;
    }
    if let Err(error) = agent.jvmti().set_event(phase, Event::CLASS_PREPARE, true) {
        agent.waiting.clear();
        messages::warning(
            Code::Retransform,
            format_args!(
                "the JVM does not say when classes are linked ({error}); those that are not yet stay as they are"
            ),
        );
        return report;
    }
    // One that was linked meanwhile is not told of any more.
    let again = once(agent, phase, local, &|class| {
        agent.waiting.has(&class.name) && pick(class)
    });
    report.retransformed += again.retransformed;
    report.failed.extend(again.failed);
    report
}

/// One retransformation of the loaded classes that are picked.
fn once(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    pick: &dyn Fn(&Loaded<'_>) -> bool,
) -> Report {
    let selected = local.with_frame(CAPACITY, |local| select(agent, phase, local, pick));
    let mut report = Report::default();
    let Some(selected) = selected else {
        messages::warning(
            Code::Retransform,
            "no memory to look at the classes that are loaded already; they stay as they are",
        );
        return report;
    };
    for batch in selected.chunks(BATCH) {
        let classes: Vec<&Selected> = batch.iter().collect();
        retransform(agent, phase, &classes, &mut report);
    }
    let originals = ORIGINALS.with_borrow_mut(std::mem::take);
    let originals = originals.into_values().flatten();
    let classes = selected.into_iter().map(|selected| selected.class);
    for global in originals.map(|original| original.class).chain(classes) {
        local.release(global);
    }
    report
}

/// The classes to be retransformed, their files fetched; leaves no local reference behind.
fn select(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    pick: &dyn Fn(&Loaded<'_>) -> bool,
) -> Vec<Selected> {
    let mut picked = loaded(agent, phase, local);
    picked.retain(pick);
    if picked.is_empty() {
        return Vec::new();
    }
    messages::info(format_args!("{} classes are loaded already", picked.len()));
    let changed = &agent.plugins.changed;
    let held: Vec<Option<Edits>> = picked
        .iter()
        .map(|class| changed.find(&class.name, &class.loader))
        .collect();
    // Of a class that was changed before, the JVM hands over the bytes that we have seen already.
    let unknown = picked.iter().zip(&held).filter(|(_, held)| held.is_none());
    fetch_originals(agent, phase, local, unknown.map(|(class, _)| class));
    let selected = picked.into_iter().zip(held).filter_map(|(class, edits)| {
        Some(Selected {
            class: local.globalize(&class.class)?,
            name: class.name,
            loader: class.loader,
            edits,
        })
    });
    selected.collect()
}

/// Every class that is loaded, but for arrays, hidden classes and those that are never changed.
pub(crate) fn loaded<'a>(agent: &Agent, phase: Live, local: Local<'a>) -> Vec<Loaded<'a>> {
    match agent.jvmti().loaded_classes(phase, local) {
        Ok(classes) => classes
            .into_iter()
            .filter_map(|class| described(agent, local, class))
            .collect(),
        Err(error) => {
            messages::warning(
                Code::Retransform,
                format_args!("the JVM does not list its classes: {error}"),
            );
            Vec::new()
        }
    }
}

/// Runs `body` with every class that is loaded; `None` if there is no memory for it.
pub(crate) fn with_loaded<R>(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    body: impl FnOnce(Vec<Loaded<'_>>) -> R,
) -> Option<R> {
    local.with_frame(CAPACITY, |local| body(loaded(agent, phase, local)))
}

fn described<'a>(agent: &Agent, local: Local<'a>, class: LocalRef<'a>) -> Option<Loaded<'a>> {
    let jvmti = agent.jvmti();
    let signature = jvmti.class_signature(&class).ok()?;
    let name = signature.strip_prefix(b"L")?.strip_suffix(b";")?.to_vec();
    if is_excluded(&name) {
        return None;
    }
    let loader = jvmti.class_loader(local, &class).ok()?;
    let loader = agent.loader(local, loader.as_ref());
    Some(Loaded {
        class,
        name,
        loader,
    })
}

/// Whether a loaded class can be changed and is wanted; `wants` is given whether it has a location.
pub(crate) fn wanted(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    class: &Loaded<'_>,
    wants: &dyn Fn(&Loaded<'_>, bool) -> bool,
) -> bool {
    let jvmti = agent.jvmti();
    if !wants(class, true) {
        return false;
    }
    if !jvmti.is_prepared_and_modifiable(&class.class) {
        if jvmti.is_unprepared(&class.class) {
            agent.waiting.add(&class.name);
        }
        return false;
    }
    let located = live::with_protection_domain(jvmti, local, phase, &class.class, |domain| {
        agent.has_location(local, domain.as_ref())
    });
    located.unwrap_or(false) || wants(class, false)
}

/// Asks each class's loader for its file, and defines arrays enough for what they may need.
fn fetch_originals<'c>(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    classes: impl Iterator<Item = &'c Loaded<'c>>,
) {
    if agent.plugins.current().is_none() {
        return; // nobody will ask for them
    }
    let mut bytes = 0;
    for class in classes {
        let Some(original) = original(agent, phase, local, class) else {
            continue;
        };
        bytes += original.bytes.len();
        let name = class.name.clone();
        ORIGINALS.with_borrow_mut(|originals| originals.entry(name).or_default().push(original));
    }
    let arrays = bytes / BYTES_PER_PROBE / probes::ARRAY_LENGTH;
    let arrays = u16::try_from(arrays).unwrap_or(probes::MAX_ARRAYS);
    if let Err((code, text)) = recording::define_arrays(agent, phase, local, arrays) {
        messages::warning(
            code,
            format_args!("{text}; some classes may stay unchanged"),
        );
    }
}

fn original(agent: &Agent, phase: Live, local: Local<'_>, class: &Loaded<'_>) -> Option<Original> {
    let jvmti = agent.jvmti();
    let loader = jvmti.class_loader(local, &class.class).ok()?;
    let found = live::class_resource(jvmti, local, phase, loader.as_ref(), &class.name);
    let bytes = found.unwrap_or_else(|cause| {
        messages::debug(format_args!(
            "no file of {}: {cause}",
            live::decode(&class.name)
        ));
        None
    })?;
    Some(Original {
        class: local.globalize(&class.class)?,
        bytes,
    })
}

/// Retransforms a batch; one that fails as a whole is halved until the culprit stands alone.
fn retransform(agent: &Agent, phase: Live, batch: &[&Selected], report: &mut Report) {
    let classes: Vec<&GlobalRef> = batch.iter().map(|selected| &selected.class).collect();
    let changed = &agent.plugins.changed;
    match (agent.jvmti().retransform_classes(phase, &classes), batch) {
        (Ok(()), _) => {
            report.retransformed += batch.len();
            if agent.plugins.current().is_none() {
                batch
                    .iter()
                    .for_each(|class| changed.note(&class.name, &class.loader, None));
            }
        }
        (Err(_), []) => {}
        (Err(error), [culprit]) => {
            changed.note(&culprit.name, &culprit.loader, culprit.edits.clone());
            let name = live::decode(&culprit.name);
            agent.retransform_failed(name.clone(), error);
            report.failed.push((name, error));
        }
        (Err(_), _) => {
            let (one, other) = batch.split_at(batch.len() / 2);
            retransform(agent, phase, one, report);
            retransform(agent, phase, other, report);
        }
    }
}

/// Runs `body` with the file of the class that is being retransformed, if it is known: fetched by
/// this thread just now, or kept from an earlier retransformation.
pub(crate) fn with_original(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    body: impl FnOnce(Option<&[u8]>) -> Option<Edits>,
) -> Option<Edits> {
    let Some(class) = &load.class_being_redefined else {
        let wrapped = foundation::knows(name);
        let file = wrapped.then(|| agent.rebuilt.find(name, load.class_data));
        return body(file.flatten().as_deref());
    };
    ORIGINALS.with_borrow(|originals| {
        let found = originals.get(name).and_then(|originals| {
            originals
                .iter()
                .find(|original| load.local.is_same(class, &original.class))
        });
        match found {
            Some(original) => {
                agent.rebuilt.keep(name, load.class_data, &original.bytes);
                body(Some(&original.bytes))
            }
            None => body(agent.rebuilt.find(name, load.class_data).as_deref()),
        }
    })
}

/// `Lcom/acme/Loader;` → `com/acme/Loader`, as text.
pub(crate) fn display_name(signature: &[u8]) -> String {
    let name = signature
        .strip_prefix(b"L")
        .and_then(|rest| rest.strip_suffix(b";"));
    live::decode(name.unwrap_or(signature))
}
