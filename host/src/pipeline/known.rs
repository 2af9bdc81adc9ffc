//! Classes without edits, which the plan cache knows.

use super::select::Candidate;
use crate::class::ClassIdentity;
use crate::outcome::ClassRequest;
use crate::selector::Verdict;

/// Checks whether the plan cache has an empty plan of every plugin that selects a class. The class
/// then need not be read, and the empty plan counts as each plugin's answer. Stores the computed
/// keys in `candidates`.
pub(super) fn have_empty_plans(
    request: &ClassRequest<'_>,
    candidates: &mut [Candidate<'_>],
) -> bool {
    // The original of a retransformed class may be another file; only reading both can tell.
    let is_read_first = request.retransforming && request.original.is_some();
    let is_open = |it: &Candidate<'_>| it.verdict != Verdict::Yes || it.follows;
    if is_read_first || candidates.iter().any(is_open) {
        return false;
    }
    let class = ClassIdentity {
        bytes: request.original.unwrap_or(request.bytes),
        loader: request.loader,
        retransforming: request.retransforming,
        first_load: !request.retransforming,
    };
    let asks_nothing = |it: &mut Candidate<'_>| {
        it.key = it.plugin.key(&class);
        let key = it.key.as_ref();
        key.is_some_and(|key| it.plugin.has_empty_plan(key))
    };
    if !candidates.iter_mut().all(asks_nothing) {
        return false;
    }
    for Candidate { plugin, key, .. } in candidates {
        if let Some(key) = key {
            plugin.note_empty_plan(request.name, key);
        }
    }
    true
}
