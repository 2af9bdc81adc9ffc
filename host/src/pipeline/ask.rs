//! Asks the plugins that select a class for their requests.

use std::sync::Arc;

use smallvec::SmallVec;

use super::select::{Candidate, Candidates};
use crate::class::TransformedClass;
use crate::class_array;
use crate::outcome::ClassRequest;
use crate::plugin_failure::PluginFailure;
use crate::requests::{PlannedClass, PluginRequest};
use crate::reusable_buffers::ReusableBuffers;
use crate::selector::Verdict;

/// Calls each plugin that selects the class; a plugin's failure does not affect the others. Returns
/// `None` if no plugin selects the class. An instrumented class has no plugins either.
///
/// # Errors
/// If a trap lost the class.
pub(super) fn ask(
    mut class: TransformedClass,
    mut candidates: Candidates<'_>,
    request: &ClassRequest<'_>,
    memory: &mut ReusableBuffers,
) -> Result<Option<PlannedClass>, PluginFailure> {
    candidates.retain(|candidate| {
        if candidate.verdict == Verdict::NeedsClass {
            let (name, loader) = (request.name, request.loader);
            candidate.verdict = candidate.plugin.wants_class(name, loader, class.class());
        }
        candidate.follows || candidate.verdict == Verdict::Yes
    });
    if candidates.is_empty() || class_array::is_instrumented(class.class()) {
        return Ok(None);
    }
    let (mut requests, mut failed) = (SmallVec::new(), Vec::new());
    for candidate in candidates {
        let Candidate { plugin, key, .. } = candidate;
        let mut earlier = memory.requests.pop().unwrap_or_default();
        let answer = match candidate.verdict {
            Verdict::Yes => {
                let (given_back, answer) = plugin.transform(class, key, earlier);
                let lost = || PluginFailure::unreadable(&"it was lost in a trap");
                class = given_back.ok_or_else(lost)?;
                answer
            }
            _ => {
                earlier.clear();
                Ok(earlier)
            }
        };
        match answer {
            Ok(mut request) => {
                request.follows_continuations = candidate.follows;
                requests.push(PluginRequest {
                    plugin: Arc::clone(plugin),
                    request,
                });
            }
            Err(failure) => failed.push(failure.by(&plugin.name)),
        }
    }
    Ok(Some(PlannedClass {
        class,
        requests,
        failed,
    }))
}
