//! Attempts to apply the edits of all plugins: merge → splice → check.
//!
//! If they do not fit together, the attempt is repeated without the probes of the last plugin, or
//! with one plugin after the other.

use std::collections::BTreeMap;

use probes::ProbeTable;
use rewriter::{Action, ClassFile, Edit, ImpliedHit, MethodIndex};

use super::base::{self, Base, Hook};
use super::{check, merge, replace, splice};
use crate::outcome::ClassRequest;
use crate::plugin_failure::PluginFailure;
use crate::requests::{PlannedClass, PluginRequest};
use crate::spliced::{Spliced, SplicedClass};
use crate::stack::ScratchBuffers;
use crate::storage::Storage;
use crate::structural_edits::StructuralEdits;

/// Bytes of the shortest hit.
const SHORTEST_HIT: u32 = 5;

/// Applies the edits of a class, in the memory of `out`.
pub(super) fn attempt(
    mut planned: PlannedClass,
    request: &ClassRequest<'_>,
    hook: Hook,
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    mut out: Vec<u8>,
) -> SplicedClass {
    let Base { bytes, wrapped } = base::find(&planned, request, hook);
    let spliced = apply(&mut planned, &bytes, storage, buffers, &mut out);
    let structural = match hook {
        Hook::Retransforming => None,
        Hook::LoadTime => {
            let all = spliced.is_ok().then(|| {
                let natives = wrapped.clone().unwrap_or_default();
                StructuralEdits::of(&planned, natives)
            });
            let natives = || Some((StructuralEdits::of_natives(wrapped?), bytes.into_owned()));
            all.flatten().or_else(natives)
        }
    };
    SplicedClass {
        planned,
        spliced: spliced.map(|spliced| (spliced, out)),
        structural,
    }
}

/// Assigns indices to the probes and splices; `out` stays empty without edits. A plugin whose edits
/// conflict with those of earlier plugins is left out and added to the failures.
fn apply(
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
/// method, those of the last plugin are removed first, and then hits that later hits imply.
fn apply_fitting(
    planned: &mut PlannedClass,
    bytes: &[u8],
    mut storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    let mut dropped = Vec::new();
    let mut implied = BTreeMap::new();
    loop {
        let mut spliced = once(planned, bytes, storage.again(), buffers, out)?;
        let without = remove_last_probes(planned, &spliced.oversized);
        if without.is_empty() && !remove_implied(planned, &spliced.oversized, &mut implied) {
            for (skipped, _) in &spliced.oversized {
                implied.remove(skipped);
            }
            spliced.partly.extend(dropped);
            spliced.partly.extend(implied.iter().map(remark));
            if let Storage::Shared(table) = storage {
                register(planned, table, implied.into_values().flatten());
            }
            return Ok(spliced);
        }
        dropped.extend(without);
    }
}

/// Removes hits of the first plugin that later hits imply, in methods that are too long by some
/// bytes. Returns true if there are any; they are added to `implied`.
fn remove_implied(
    planned: &mut PlannedClass,
    oversized: &[(MethodIndex, u32)],
    implied: &mut BTreeMap<MethodIndex, Vec<ImpliedHit>>,
) -> bool {
    let class = planned.class.class();
    let Some(first) = planned.requests.first_mut() else {
        return false;
    };
    let mut is_any = false;
    for (method, excess) in oversized {
        let plan = &mut first.request.plan;
        let removed = plan.remove_implied_hits(class, *method, *excess, SHORTEST_HIT);
        is_any |= !removed.is_empty();
        if !removed.is_empty() {
            implied.entry(*method).or_default().extend(removed);
        }
    }
    is_any
}

/// Returns a method with a remark about its missing hits.
fn remark((method, implied): (&MethodIndex, &Vec<ImpliedHit>)) -> (MethodIndex, String) {
    let probes = match implied.len() {
        1 => "1 of its probes does".to_owned(),
        many => format!("{many} of its probes do"),
    };
    let cause = format!(
        "{probes} not fit into it; code without them counts as executed once a later line of the same straight-line code is"
    );
    (*method, cause)
}

/// Registers the missing hits of the first plugin, so that the hits that imply them count for both.
fn register(planned: &PlannedClass, table: &ProbeTable, implied: impl Iterator<Item = ImpliedHit>) {
    let mut pairs: Vec<(u32, u32)> = implied.map(|hit| (hit.probe, hit.by)).collect();
    let Some(first) = planned.requests.first().filter(|_| !pairs.is_empty()) else {
        return;
    };
    pairs.sort_unstable();
    let class = &planned.class;
    let registered = table.find(
        &class.class().this_class().to_str_lossless(),
        class.fingerprint(),
        &class.loader().recorded_name(),
        &first.plugin.name,
    );
    if let Some(at) = registered {
        table.imply(at, pairs);
    }
}

/// Removes the probes of the last plugin that has some in these methods, unless it is the first
/// plugin. Returns the methods with a remark.
fn remove_last_probes(
    planned: &mut PlannedClass,
    oversized: &[(MethodIndex, u32)],
) -> Vec<(MethodIndex, String)> {
    let additional = planned.requests.iter_mut().skip(1).rev();
    for PluginRequest { plugin, request } in additional {
        let has_probes = |method: &&MethodIndex| {
            let mut edits = request.plan.edits().iter();
            edits.any(|edit| edit.point.method == **method && is_probe(edit))
        };
        let methods = oversized.iter().map(|(method, _)| method);
        let methods: Vec<_> = methods.filter(has_probes).copied().collect();
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
fn once(
    planned: &PlannedClass,
    bytes: &[u8],
    storage: Storage<'_>,
    buffers: &mut ScratchBuffers,
    out: &mut Vec<u8>,
) -> Result<Spliced, PluginFailure> {
    out.clear();
    let base = replace::replace(planned, bytes, buffers.self_check)?;
    let seen = planned.class.class();
    let there = (seen.bytes() != &*base.bytes).then(|| ClassFile::read(&base.bytes));
    let there = there.transpose();
    let there = there.map_err(|error| PluginFailure::unreadable(&error))?;
    let target = (there.as_ref(), base.by);
    let merged = merge::merge(planned, target, storage, &mut buffers.memory)?;
    let mut spliced = Spliced::default();
    if !merged.plan.is_empty() {
        let class = there.as_ref().unwrap_or(seen);
        spliced = splice::splice(class, &merged.plan, merged.array.storage(), buffers, out)?;
    }
    if let Some(there) = &there {
        spliced = spliced.renumbered(|method| merge::index_of(seen, there, method));
    }
    if out.is_empty() && base.by.is_some() {
        out.extend_from_slice(&base.bytes);
    }
    if !out.is_empty() {
        check::helper_uses(planned, out)?;
    }
    spliced.skipped.extend(merged.skipped);
    spliced.partly.extend(merged.partly);
    buffers.memory.plan = merged.plan;
    merged.array.leave_name(&mut buffers.memory.owner);
    Ok(spliced)
}
