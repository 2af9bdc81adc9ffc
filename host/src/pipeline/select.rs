//! Selects the plugins that may edit a class by its name, loader and location.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::class_key::ClassKey;
use crate::exclusions::is_excluded;
use crate::outcome::ClassRequest;
use crate::plugin::Plugin;
use crate::selector::Verdict;

/// A plugin that may select a class by its name, loader and location.
pub(super) struct Candidate<'p> {
    /// The plugin.
    pub(super) plugin: &'p Arc<Plugin>,
    /// The verdict of its selectors.
    pub(super) verdict: Verdict,
    /// `true` if its spans need an edit in the class, whatever it selects.
    pub(super) follows: bool,
    /// The key of its plans for the class, if computed.
    pub(super) key: Option<ClassKey>,
}

/// The plugins that may select one class. They are few.
pub(super) type Candidates<'p> = SmallVec<[Candidate<'p>; 4]>;

/// Returns the plugins that may select a class.
pub(super) fn select<'p>(plugins: &'p [Arc<Plugin>], request: &ClassRequest<'_>) -> Candidates<'p> {
    let ClassRequest {
        name,
        loader,
        location,
        ..
    } = *request;
    if is_excluded(name) {
        return Candidates::new();
    }
    let candidates = plugins.iter().map(|plugin| Candidate {
        plugin,
        verdict: plugin.selects(name, loader, location),
        follows: plugin.follows(name, loader),
        key: None,
    });
    let may_edit = |it: &Candidate<'_>| it.follows || it.verdict != Verdict::No;
    candidates.filter(may_edit).collect()
}
