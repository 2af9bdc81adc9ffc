//! Classes that were loaded before the agent: by an AOT cache, by other agents, or before an attach.
//!
//! What a retransformation hands over is the JVM's own rebuilding of a class, not its file
//! (measured: other pool order, other method order). So each class's file is fetched from its
//! loader first and given to the pipeline beside the rebuilt bytes.

use crate::agent::Agent;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::live;
use crate::ffi::phases::Live;
use crate::ffi::refs::{GlobalRef, Local, LocalRef};
use crate::messages::{self, Code};
use crate::recording;
use std::cell::RefCell;
use std::collections::HashMap;

/// Local references asked for while all classes of the JVM are looked at; the JVM's own limit.
const CAPACITY: i32 = 65_536;
/// Classes of one retransformation: it costs a pause per call, not per class, but a pause that
/// grows with the classes.
const BATCH: usize = 512;
/// Class-file bytes per probe, low: what is needed to define arrays before they are used up.
const BYTES_PER_PROBE: usize = 8;

/// A class that some plugin wants.
struct Candidate<'a> {
    class: LocalRef<'a>,
    name: Vec<u8>,
}

/// A class to be retransformed.
struct Selected {
    class: GlobalRef,
    name: Vec<u8>,
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
    let selected = local.with_frame(CAPACITY, |local| select(agent, phase, local));
    let Some(selected) = selected else {
        return messages::warning(
            Code::Retransform,
            "no memory to look at the classes that are loaded already; they stay as they are",
        );
    };
    for batch in selected.chunks(BATCH) {
        let classes: Vec<&Selected> = batch.iter().collect();
        retransform(agent, phase, &classes);
    }
    let originals = ORIGINALS.with_borrow_mut(std::mem::take);
    let originals = originals.into_values().flatten();
    let classes = selected.into_iter().map(|selected| selected.class);
    for global in originals.map(|original| original.class).chain(classes) {
        local.release(global);
    }
}

/// The classes to be retransformed, their files fetched; leaves no local reference behind.
fn select(agent: &Agent, phase: Live, local: Local<'_>) -> Vec<Selected> {
    let candidates = candidates(agent, phase, local);
    if candidates.is_empty() {
        return Vec::new();
    }
    messages::info(format_args!(
        "{} classes were loaded before the agent",
        candidates.len()
    ));
    fetch_originals(agent, phase, local, &candidates);
    let selected = candidates.into_iter().filter_map(|candidate| {
        let class = local.globalize(&candidate.class)?;
        Some(Selected {
            class,
            name: candidate.name,
        })
    });
    selected.collect()
}

fn candidates<'a>(agent: &Agent, phase: Live, local: Local<'a>) -> Vec<Candidate<'a>> {
    match agent.jvmti().loaded_classes(phase, local) {
        Ok(classes) => classes
            .into_iter()
            .filter_map(|class| candidate(agent, phase, local, class))
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

/// The class, if it can be changed and some plugin wants it.
fn candidate<'a>(
    agent: &Agent,
    phase: Live,
    local: Local<'a>,
    class: LocalRef<'a>,
) -> Option<Candidate<'a>> {
    let jvmti = agent.jvmti();
    let signature = jvmti.class_signature(&class).ok()?;
    let name = signature.strip_prefix(b"L")?.strip_suffix(b";")?.to_vec();
    if is_excluded(&name) {
        return None;
    }
    let loader = jvmti.class_loader(local, &class).ok()?;
    let loader = agent.loader(local, loader.as_ref());
    if !agent.pipeline.wants(&name, &loader, true) || !jvmti.is_prepared_and_modifiable(&class) {
        return None;
    }
    let located = live::with_protection_domain(jvmti, local, phase, &class, |domain| {
        agent.has_location(local, domain.as_ref())
    });
    let wanted = located.unwrap_or(false) || agent.pipeline.wants(&name, &loader, false);
    wanted.then_some(Candidate { class, name })
}

/// Asks each class's loader for its file, and defines arrays enough for what they may need.
fn fetch_originals(agent: &Agent, phase: Live, local: Local<'_>, candidates: &[Candidate<'_>]) {
    let mut bytes = 0;
    for candidate in candidates {
        let Some(original) = original(agent, phase, local, candidate) else {
            continue;
        };
        bytes += original.bytes.len();
        let name = candidate.name.clone();
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

fn original(
    agent: &Agent,
    phase: Live,
    local: Local<'_>,
    candidate: &Candidate<'_>,
) -> Option<Original> {
    let jvmti = agent.jvmti();
    let loader = jvmti.class_loader(local, &candidate.class).ok()?;
    let found = live::class_resource(jvmti, local, phase, loader.as_ref(), &candidate.name);
    let bytes = found.unwrap_or_else(|cause| {
        messages::debug(format_args!(
            "no file of {}: {cause}",
            live::decode(&candidate.name)
        ));
        None
    })?;
    Some(Original {
        class: local.globalize(&candidate.class)?,
        bytes,
    })
}

/// Retransforms a batch; one that fails as a whole is halved until the culprit stands alone.
fn retransform(agent: &Agent, phase: Live, batch: &[&Selected]) {
    let classes: Vec<&GlobalRef> = batch.iter().map(|selected| &selected.class).collect();
    let Err(error) = agent.jvmti().retransform_classes(phase, &classes) else {
        return;
    };
    match batch {
        [] => {}
        [culprit] => agent.retransform_failed(live::decode(&culprit.name), error),
        _ => {
            let (one, other) = batch.split_at(batch.len() / 2);
            retransform(agent, phase, one);
            retransform(agent, phase, other);
        }
    }
}

/// Runs `body` with the file of the class that is being retransformed, if it is known: fetched by
/// this thread just now, or kept from an earlier retransformation.
pub(crate) fn with_original(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    body: impl FnOnce(Option<&[u8]>),
) {
    let Some(class) = &load.class_being_redefined else {
        return body(None);
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
                body(Some(&original.bytes));
            }
            None => body(agent.rebuilt.find(name, load.class_data).as_deref()),
        }
    });
}

/// `Lcom/acme/Loader;` → `com/acme/Loader`, as text.
pub(crate) fn display_name(signature: &[u8]) -> String {
    let name = signature
        .strip_prefix(b"L")
        .and_then(|rest| rest.strip_suffix(b";"));
    live::decode(name.unwrap_or(signature))
}
