//! Retransforms loaded classes: those loaded from an AOT cache, by other agents or before an attach, and those whose
//! plugins have changed since.

use crate::agent::Agent;
use crate::agent::code_sources::FoundLocation;
use crate::agent::instrumented::Edits;
use crate::agent::loaders::LoaderId;
use crate::batch_size::BatchSize;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::GlobalRef;
use crate::ffi::table::Event;
use crate::loaded_classes::{self, CAPACITY, LoadedClass};
use crate::messages::{self, Code};
use crate::names::decode;
use crate::originals::{self, Files};
use crate::unchangeable::is_unchangeable;
use crate::{collected_loaders, probe_arrays};
use host::{CodeSource, Loader, Pipeline, PoolNames};
use rewriter::front_of_class_file;
use std::collections::HashSet;
use std::time::{Duration, Instant};

/// Number and length of waits for classes that are being loaded.
const TRIES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);
/// A low estimate of the class-file bytes for each probe. It decides how many arrays are defined in advance.
const BYTES_PER_PROBE: usize = 8;

/// A class to be retransformed.
struct SelectedClass {
    class: GlobalRef,
    name: Vec<u8>,
    loader: LoaderId,
    /// Its edits before.
    edits: Option<Edits>,
}

/// The outcome of a retransformation.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// Number of classes that the JVM has retransformed.
    pub retransformed: usize,
    /// Classes that the JVM refused, with the errors; they stay unchanged.
    pub failed: Vec<(String, JvmtiError)>,
    /// True if no class was retransformed for lack of metaspace.
    pub lacks_metaspace: bool,
}

impl Report {
    fn add(&mut self, other: Report) {
        self.retransformed += other.retransformed;
        self.failed.extend(other.failed);
        self.lacks_metaspace |= other.lacks_metaspace;
    }

    fn failed_names(&self) -> HashSet<String> {
        self.failed.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Retransforms every loaded class that some plugin wants.
pub(crate) fn retransform_loaded(agent: &Agent, jvm: Jvm<'_>) {
    let Some(plugins) = agent.plugins.current() else {
        return;
    };
    let wants = |class: &LoadedClass<'_>, location: CodeSource<'_>| {
        plugins.wants(&class.name, &class.loader, location)
    };
    pass(agent, jvm, &|class| is_wanted(agent, jvm, class, &wants));
}

/// Retransforms the classes that are `wanted`, and those that hold `stale` edits, until no class holds stale edits.
///
/// A class that was in the hook when the plugins changed is not loaded yet: this waits for it. A class that does not
/// appear was unloaded.
pub(crate) fn settle(
    agent: &Agent,
    jvm: Jvm<'_>,
    stale: impl Fn(&Edits) -> bool,
    wanted: impl Fn(&LoadedClass<'_>) -> bool,
) -> Report {
    let instrumented = &agent.classes.instrumented;
    let is_stale = |class: &LoadedClass<'_>| {
        let edits = instrumented.find(&class.name, class.loader_id);
        edits.is_some_and(|edits| stale(&edits))
    };
    let mut report = pass(agent, jvm, &|class| is_stale(class) || wanted(class));
    if report.lacks_metaspace {
        return report;
    }
    collected_loaders::remove(agent, jvm.local);
    for _ in 0..TRIES {
        if instrumented.count(&stale) <= report.failed.len() {
            break;
        }
        std::thread::sleep(PAUSE);
        if agent.change.work.is_cancelled() {
            return report;
        }
        let failed = report.failed_names();
        let again =
            |class: &LoadedClass<'_>| is_stale(class) && !failed.contains(&decode(&class.name));
        report.add(pass(agent, jvm, &again));
    }
    if agent.change.work.is_cancelled() {
        return report;
    }
    let failed = report.failed_names();
    instrumented.forget(|name, edits| stale(edits) && !failed.contains(&decode(name)));
    report
}

/// Retransforms unprepared classes that have been prepared since.
pub(crate) fn retransform_prepared(agent: &Agent, jvm: Jvm<'_>) {
    let (prepared, others) = agent.change.unprepared.take_prepared();
    if prepared.is_empty() {
        return;
    }
    if !others {
        let _ = jvm.jvmti.set_event(jvm.live, Event::CLASS_PREPARE, false);
    }
    let Some(plugins) = agent.plugins.current() else {
        return;
    };
    let wants = |class: &LoadedClass<'_>, location: CodeSource<'_>| {
        plugins.wants(&class.name, &class.loader, location)
    };
    pass(agent, jvm, &|class| {
        prepared.contains(&class.name) && is_wanted(agent, jvm, class, &wants)
    });
}

/// Retransforms the loaded classes that `pick` selects. Classes that are not linked yet follow when they are.
fn pass(agent: &Agent, jvm: Jvm<'_>, pick: &dyn Fn(&LoadedClass<'_>) -> bool) -> Report {
    let mut report = once(agent, jvm, pick);
    if report.lacks_metaspace {
        agent.change.unprepared.clear();
        return report;
    }
    if !agent.change.unprepared.take_more() {
        return report;
    }
    if let Err(error) = jvm.jvmti.set_event(jvm.live, Event::CLASS_PREPARE, true) {
        agent.change.unprepared.clear();
        messages::warning(
            Code::Retransform,
            format_args!(
                "the JVM does not report when classes are linked ({error}); classes that are not linked stay unchanged"
            ),
        );
        return report;
    }
    // A class that was linked meanwhile sends no event any more.
    report.add(once(agent, jvm, &|class| {
        agent.change.unprepared.has(&class.name) && pick(class)
    }));
    report
}

/// Retransforms the loaded classes that `pick` selects, once.
fn once(agent: &Agent, jvm: Jvm<'_>, pick: &dyn Fn(&LoadedClass<'_>) -> bool) -> Report {
    let selected = jvm.with_frame(CAPACITY, |jvm| select(agent, jvm, pick));
    let mut report = Report::default();
    let Some((selected, files)) = selected else {
        messages::warning(
            Code::Retransform,
            "the JVM has no memory to list its classes; loaded classes stay unchanged",
        );
        return report;
    };
    let fresh = selected
        .iter()
        .filter(|class| class.edits.is_none())
        .count();
    report.lacks_metaspace = !agent
        .change
        .metaspace
        .has_room(fresh, files.count, files.bytes);
    if files.count > 0 && !report.lacks_metaspace {
        jvm.with_frame(CAPACITY, |jvm| define_arrays(agent, jvm, files.bytes));
    }
    let (mut rest, mut batches) = (selected.as_slice(), BatchSize::new());
    while let Some((batch, others)) = rest.split_at_checked(batches.size().min(rest.len()))
        && !batch.is_empty()
        && !agent.change.work.is_cancelled()
        && !report.lacks_metaspace
    {
        let begun = Instant::now();
        let classes: Vec<&SelectedClass> = batch.iter().collect();
        retransform(agent, jvm, &classes, &mut report);
        agent.change.work.advance(batch.len());
        let time = begun.elapsed();
        messages::debug(format_args!("{} classes in {time:?}", batch.len()));
        batches.took(batch.len(), time);
        rest = others;
    }
    originals::clear(jvm);
    for class in selected {
        jvm.local.release(class.class);
    }
    report
}

/// The classes to be retransformed, with their class files fetched. No local reference remains.
fn select(
    agent: &Agent,
    jvm: Jvm<'_>,
    pick: &dyn Fn(&LoadedClass<'_>) -> bool,
) -> (Vec<SelectedClass>, Files) {
    let picked: Vec<LoadedClass<'_>> = loaded_classes::list(&agent.classes.loaders, jvm)
        .filter(|class| pick(class))
        .collect();
    if picked.is_empty() {
        return (Vec::new(), Files::default());
    }
    messages::info(format_args!("{} classes are loaded already", picked.len()));
    agent.change.work.add(picked.len());
    let held: Vec<Option<Edits>> = picked
        .iter()
        .map(|class| {
            agent
                .classes
                .instrumented
                .find(&class.name, class.loader_id)
        })
        .collect();
    // For a class that was instrumented before, the JVM passes bytes that the hook has seen already.
    let unknown = picked.iter().zip(&held).filter(|(_, held)| held.is_none());
    // Their loaders may take seconds for thousands of class files.
    let unknown = unknown.take_while(|_| !agent.change.work.is_cancelled());
    let files = fetch_originals(agent, jvm, unknown.map(|(class, _)| class));
    let selected = picked.into_iter().zip(held).filter_map(|(class, edits)| {
        Some(SelectedClass {
            class: jvm.local.globalize(&class.class)?,
            name: class.name,
            loader: class.loader_id,
            edits,
        })
    });
    (selected.collect(), files)
}

/// Fetches the class files, if plugins are in force.
fn fetch_originals<'c>(
    agent: &Agent,
    jvm: Jvm<'_>,
    classes: impl Iterator<Item = &'c LoadedClass<'c>>,
) -> Files {
    if agent.plugins.current().is_none() {
        return Files::default();
    }
    originals::fetch(jvm, classes)
}

/// Defines enough arrays for classes with class files of this total size, in bytes.
fn define_arrays(agent: &Agent, jvm: Jvm<'_>, bytes: usize) {
    let arrays = arrays_for(bytes, agent.results.table.untouched());
    if let Err((code, text)) = probe_arrays::define(jvm, arrays) {
        messages::warning(
            code,
            format_args!("{text}; some classes may stay unchanged"),
        );
    }
}

/// The number of arrays that classes of this total size may need, beyond the unused arrays. An agent that has left
/// leaves unused arrays.
fn arrays_for(bytes: usize, untouched: u16) -> u16 {
    let arrays = bytes / BYTES_PER_PROBE / probes::NEAR_LENGTH;
    let arrays = u16::try_from(arrays).unwrap_or(probes::MAX_ARRAYS);
    arrays.saturating_sub(untouched)
}

/// Checks whether a loaded class is modifiable and wanted. `wants` gets its location if that is known. A class that is
/// not modifiable yet is noted as unprepared.
pub(crate) fn is_wanted(
    agent: &Agent,
    jvm: Jvm<'_>,
    class: &LoadedClass<'_>,
    wants: &dyn Fn(&LoadedClass<'_>, CodeSource<'_>) -> bool,
) -> bool {
    if !wants(class, CodeSource::Unread) {
        return false;
    }
    if !jvm.jvmti.is_prepared_and_modifiable(&class.class) && !is_linked_now(agent, jvm, class) {
        return false;
    }
    let Some(plugins) = agent.plugins.current() else {
        return wants(class, location(agent, jvm, class, false).for_selectors());
    };
    let found = location(agent, jvm, class, plugins.pipeline.needs_location());
    let location = found.for_selectors();
    wants(class, location) && may_be_wanted(jvm, class, &plugins.pipeline, location)
}

/// Checks whether the constant pool of a loaded class leaves open that a plugin wants it.
fn may_be_wanted(
    jvm: Jvm<'_>,
    class: &LoadedClass<'_>,
    pipeline: &Pipeline,
    location: CodeSource<'_>,
) -> bool {
    if !pipeline.needs_pool(&class.name, &class.loader, location) {
        return true;
    }
    let Some(pool) = jvm.jvmti.constant_pool(jvm.live, &class.class) else {
        return true;
    };
    let front = front_of_class_file(pool.count, &pool.entries);
    PoolNames::read(&front).map_or(true, |names| {
        pipeline.wants_of_pool(&class.name, &class.loader, location, &names)
    })
}

/// Links a class of the JDK that is not linked yet, so that its first call is recorded too. Any other class is noted as
/// unprepared: linking it could load classes of the program.
fn is_linked_now(agent: &Agent, jvm: Jvm<'_>, class: &LoadedClass<'_>) -> bool {
    if !jvm.jvmti.is_unprepared(&class.class) {
        return false;
    }
    let is_linked = class.loader == Loader::Boot
        && live::link(jvm, &class.class).is_ok()
        && jvm.jvmti.is_prepared_and_modifiable(&class.class);
    if !is_linked {
        agent.change.unprepared.add(&class.name);
    }
    is_linked
}

/// The location of a loaded class. Its path is read only if `asked`.
pub(crate) fn location(
    agent: &Agent,
    jvm: Jvm<'_>,
    class: &LoadedClass<'_>,
    asked: bool,
) -> FoundLocation {
    let found = live::with_protection_domain(jvm, &class.class, |domain| {
        let sources = &agent.classes.code_sources;
        sources.find(jvm.local, domain.as_ref(), asked)
    });
    found.unwrap_or(FoundLocation::None)
}

/// Retransforms a batch. A batch that fails is halved until only the failing class is left.
fn retransform(agent: &Agent, jvm: Jvm<'_>, batch: &[&SelectedClass], report: &mut Report) {
    let classes: Vec<&GlobalRef> = batch.iter().map(|selected| &selected.class).collect();
    let instrumented = &agent.classes.instrumented;
    let outcome = match batch.iter().any(|class| is_unchangeable(&class.name)) {
        true => Err(JvmtiError::UNMODIFIABLE_CLASS),
        false => jvm.jvmti.retransform_classes(jvm.live, &classes),
    };
    match (outcome, batch) {
        (Ok(()), _) => {
            report.retransformed += batch.len();
            if agent.plugins.current().is_none() {
                batch
                    .iter()
                    .for_each(|class| instrumented.note(&class.name, class.loader, None));
            }
        }
        (Err(_), []) => {}
        (Err(error), [culprit]) => {
            instrumented.note(&culprit.name, culprit.loader, culprit.edits.clone());
            let name = decode(&culprit.name);
            agent
                .results
                .failures
                .retransform_failed(name.clone(), error);
            report.failed.push((name, error));
        }
        (Err(_), _) => {
            let (one, other) = batch.split_at(batch.len() / 2);
            retransform(agent, jvm, one, report);
            retransform(agent, jvm, other, report);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_of_an_earlier_agent_are_reused_before_new_ones_are_defined() {
        let bytes = 120 * BYTES_PER_PROBE * probes::NEAR_LENGTH;
        assert_eq!(arrays_for(bytes, 0), 120);
        assert_eq!(arrays_for(bytes, 105), 15);
        assert_eq!(arrays_for(bytes, 121), 0);
        assert_eq!(arrays_for(usize::MAX, 0), probes::MAX_ARRAYS);
    }
}
