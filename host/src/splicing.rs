//! Splices the plugins' requests into a class and checks the result.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use rewriter::{Action, ClassFile, Edit, EditPlan, MethodIndex, ProbeStorage, SkipReason};

use crate::placement::{MergedPlan, ProbeArray};
use crate::plugin_failure::PluginFailure;
use crate::requests::{PlannedClass, PluginRequest};
use crate::stack::ScratchBuffers;
use crate::storage::{HIT_METHOD, Storage};
use crate::structural_edits::with_prefixed_natives;
use crate::{natives, placement};

/// The result of the edits of one class, by methods of the class that the plugins saw.
#[derive(Debug, Default)]
pub(crate) struct Spliced {
    /// Methods left unchanged, with the reason.
    pub(crate) skipped: Vec<(MethodIndex, String)>,
    /// Methods without the edits of one plugin, with the reason.
    pub(crate) partly: Vec<(MethodIndex, String)>,
    /// Skipped methods that may fit with fewer or shorter probes.
    oversized: Vec<MethodIndex>,
    /// A branch of some method was inverted to reach its target; shorter probes may avoid it.
    inverted: bool,
    /// Methods that are now longer than HotSpot compiles, with their lengths.
    pub(crate) huge: Vec<(MethodIndex, String)>,
    /// The duration of the self-check.
    pub(crate) check_time: Duration,
    /// `true` if calls record hits.
    pub(crate) hits_call: bool,
}

impl Spliced {
    /// Returns whether it contains no remarks and no check time.
    pub(crate) fn is_empty(&self) -> bool {
        self.skipped.is_empty()
            && self.partly.is_empty()
            && self.huge.is_empty()
            && self.check_time.is_zero()
    }

    /// Maps to a class with other method indices; drops methods without an index.
    fn renumbered(self, index: impl Fn(MethodIndex) -> Option<MethodIndex>) -> Self {
        let all = |methods: Vec<(MethodIndex, String)>| {
            methods
                .into_iter()
                .filter_map(|(method, text)| Some((index(method)?, text)))
                .collect()
        };
        let oversized = self.oversized.into_iter();
        Self {
            oversized: oversized.filter_map(&index).collect(),
            skipped: all(self.skipped),
            partly: all(self.partly),
            huge: all(self.huge),
            inverted: self.inverted,
            check_time: self.check_time,
            hits_call: self.hits_call,
        }
    }
}

/// Returns the class file of a plugin that replaces the class `bytes`. The native wrappers known to
/// the JVM are added, and the shape is checked.
fn replaced(
    planned: &PlannedClass,
    bytes: &[u8],
    (by, replacement): (&str, &[u8]),
    checks: bool,
) -> Result<Vec<u8>, PluginFailure> {
    let failure = |error: &dyn std::fmt::Display| {
        let cause = format!("its class file cannot replace the class: {error}");
        PluginFailure::new("H0317", cause).by(by)
    };
    let original = planned.class.class();
    if checks {
        // Plans from the cache were checked by another process.
        rewriter::check_replacement(original, replacement).map_err(|error| failure(&error))?;
    }
    if original.bytes() == bytes {
        return Ok(replacement.to_vec());
    }
    let replaced = with_prefixed_natives(replacement, bytes).into_owned();
    let both = ClassFile::read(bytes).and_then(|there| Ok((there, ClassFile::read(&replaced)?)));
    let (there, class) = both.map_err(|error| failure(&error))?;
    rewriter::check_shape(&there, &class).map_err(|error| failure(&error))?;
    Ok(replaced)
}

/// Assigns indices to the probes and splices; `out` stays empty without edits. A plugin whose edits
/// conflict with those of earlier plugins is left out and added to the failures.
pub(crate) fn apply(
    planned: &mut PlannedClass,
    bytes: &[u8],
    mut storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    if planned.is_empty() {
        out.clear();
        return Ok(Spliced::default());
    }
    let together = apply_fitting(planned, bytes, storage.again(), buffers, out);
    if together.is_ok() || planned.requests.len() < 2 {
        return together;
    }
    for asked in std::mem::take(&mut planned.requests) {
        planned.requests.push(asked);
        let goes_on = apply_fitting(planned, bytes, storage.again(), buffers, out);
        if let Err(failure) = goes_on
            && let Some(asked) = planned.requests.pop()
        {
            asked.plugin.note_refused();
            planned.failed.push(failure.by(&asked.plugin.name));
        }
    }
    apply_fitting(planned, bytes, storage, buffers, out)
}

/// Applies the edits of all plugins, or none. If the probes of all plugins do not fit into a
/// method, those of the last plugin are removed first.
fn apply_fitting(
    planned: &mut PlannedClass,
    bytes: &[u8],
    mut storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    let mut dropped = Vec::new();
    loop {
        let mut spliced = apply_all(planned, bytes, storage.again(), buffers, out)?;
        let without = remove_last_probes(planned, &spliced.oversized);
        if without.is_empty() {
            spliced.partly.extend(dropped);
            return Ok(spliced);
        }
        dropped.extend(without);
    }
}

/// Removes the probes of the last plugin that has some in these methods, unless it is the first
/// plugin. Returns the methods with a remark.
fn remove_last_probes(
    planned: &mut PlannedClass,
    oversized: &[MethodIndex],
) -> Vec<(MethodIndex, String)> {
    let additional = planned.requests.iter_mut().skip(1).rev();
    for PluginRequest { plugin, request } in additional {
        let has_probes = |method: &&MethodIndex| {
            let mut edits = request.plan.edits().iter();
            edits.any(|edit| edit.point.method == **method && is_probe(edit))
        };
        let methods: Vec<_> = oversized.iter().filter(has_probes).copied().collect();
        if request.plan.remove_probes(&methods) > 0 {
            let cause = format!("the probes of plugin `{}` do not fit into it", plugin.name);
            return methods.into_iter().map(|it| (it, cause.clone())).collect();
        }
    }
    Vec::new()
}

fn is_probe(edit: &Edit) -> bool {
    matches!(edit.action, Action::Hit(_) | Action::Count(_))
}

/// Applies the edits of all plugins, or none.
fn apply_all(
    planned: &PlannedClass,
    bytes: &[u8],
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    let spliced = splice_all(planned, bytes, storage, buffers, out)?;
    if !out.is_empty() {
        planned.expect_helpers_have_what_is_used(out)?;
    }
    Ok(spliced)
}

fn splice_all(
    planned: &PlannedClass,
    bytes: &[u8],
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    out.clear();
    let replacement = planned.replacement()?;
    let base = match replacement {
        None => Cow::Borrowed(bytes),
        Some(found) => Cow::Owned(replaced(planned, bytes, found, buffers.self_check)?),
    };
    let bytes = &*base;
    let original = &planned.class;
    let table = match storage {
        Storage::Shared(table) => Some(table),
        Storage::Own(_) => None,
    };
    let MergedPlan {
        array,
        mut plan,
        left_alone,
    } = placement::merge(planned, storage, &mut buffers.memory)?;
    let storage = array.storage();
    let natives = |plan: &mut EditPlan, class: &ClassFile<'_>| {
        table.map_or_else(Vec::new, |table| natives::add(plan, planned, class, table))
    };
    if original.class().bytes() == bytes {
        let skipped = natives(&mut plan, original.class());
        let mut spliced = Spliced::default();
        if !plan.is_empty() {
            spliced = splice(original.class(), &plan, &storage, buffers, out)?;
        }
        spliced.partly.extend(skipped);
        spliced.partly.extend(left_alone);
        buffers.memory.plan = plan;
        if let ProbeArray::Shared(owner) | ProbeArray::Called(owner) = array {
            buffers.memory.owner = owner;
        }
        return Ok(spliced);
    }
    let handed_over = ClassFile::read(bytes).map_err(|error| PluginFailure::unreadable(&error))?;
    let (mut plan, refused) = class_versions::transfer(&plan, original.class(), &handed_over);
    let skipped: Vec<_> = refused
        .into_iter()
        .map(|(method, reason)| match replacement {
            None => (method, reason.to_string()),
            Some((by, _)) => (method, format!("plugin `{by}` replaced its code: {reason}")),
        })
        .collect();
    let partly = natives(&mut plan, &handed_over);
    let mut spliced = Spliced::default();
    if !plan.is_empty() {
        let index = |method| index_of(original.class(), &handed_over, method);
        spliced = splice(&handed_over, &plan, &storage, buffers, out)?.renumbered(index);
    }
    if out.is_empty() && replacement.is_some() {
        out.extend_from_slice(bytes);
    }
    spliced.skipped.extend(skipped);
    spliced.partly.extend(partly);
    spliced.partly.extend(left_alone);
    Ok(spliced)
}

/// Returns the method of `from` with the name and descriptor that `method` has in `to`.
fn index_of(from: &ClassFile<'_>, to: &ClassFile<'_>, method: MethodIndex) -> Option<MethodIndex> {
    let wanted = to.method(method)?;
    let same = |found: &rewriter::Method<'_, '_>| {
        found.name() == wanted.name() && found.descriptor() == wanted.descriptor()
    };
    from.methods().find(same).map(|found| found.index())
}

/// Splices with the fastest probe code. If a method or branch would become too long, splices with
/// shorter code.
fn splice(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    let spliced = splice_with(class, plan, storage, buffers, out)?;
    match *storage {
        ProbeStorage::SharedArray { owner, field }
            if spliced.inverted || !spliced.oversized.is_empty() =>
        {
            let shorter = ProbeStorage::SharedMethods {
                owner,
                field,
                method: HIT_METHOD,
            };
            splice_with(class, plan, &shorter, buffers, out)
        }
        ProbeStorage::ClassArray { runtime, key }
            if spliced.inverted || !spliced.oversized.is_empty() =>
        {
            let shorter = ProbeStorage::ClassMethods { runtime, key };
            splice_with(class, plan, &shorter, buffers, out)
        }
        _ => Ok(spliced),
    }
}

fn splice_with(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    let scratch = &mut buffers.scratch;
    let report = rewriter::splice(class, plan, storage, scratch, out)
        .map_err(|error| PluginFailure::new("H0302", error.to_string()))?;
    let mut check_time = Duration::ZERO;
    if buffers.self_check {
        let begun = Instant::now();
        rewriter::check_splice(class, plan, storage, out, &mut buffers.check_scratch).map_err(
            |error| {
                PluginFailure::new(
                    "H0303",
                    format!("the result did not pass the self-check: {error}"),
                )
            },
        )?;
        check_time = begun.elapsed();
    }
    if let Some(refusal) = report.refused {
        return Err(PluginFailure::new("H0308", refusal.to_string()));
    }
    let is_oversized = |reason: &SkipReason| {
        use SkipReason::{FramesTooLarge, MethodTooLarge, OutOfReach};
        matches!(
            reason,
            MethodTooLarge { .. } | OutOfReach { .. } | FramesTooLarge
        )
    };
    let oversized = report.skipped.iter();
    let oversized = oversized.filter(|(_, reason)| is_oversized(reason));
    let oversized = oversized.map(|(method, _)| *method).collect();
    let skipped = report.skipped.into_iter();
    let mut warnings = report.warnings.iter();
    let inverted =
        warnings.any(|warning| matches!(warning, rewriter::Warning::InvertedBranch { .. }));
    Ok(Spliced {
        oversized,
        inverted,
        partly: Vec::new(),
        skipped: skipped
            .map(|(method, reason)| (method, reason.to_string()))
            .collect(),
        huge: report.warnings.into_iter().filter_map(huge).collect(),
        check_time,
        hits_call: matches!(storage, ProbeStorage::SharedMethods { .. }),
    })
}

/// Returns the method that became too long, with a text about its lengths.
fn huge(warning: rewriter::Warning) -> Option<(MethodIndex, String)> {
    match warning {
        rewriter::Warning::HugeMethod {
            method,
            before,
            after,
        } => Some((
            method,
            format!(
                "it grew from {before} to {after} bytes; HotSpot compiles no method of more than 8,000"
            ),
        )),
        _ => None,
    }
}
