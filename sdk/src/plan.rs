//! What a plugin can do to a class.

use crate::source::PlanSink;
use crate::wit::{Failure, ProbeId, Site};

/// Edits to one class: recorded and checked call by call, applied only if
/// [`crate::Transformer::transform`] returns `Ok`.
pub struct Plan<'a> {
    sink: &'a dyn PlanSink,
}

impl<'a> Plan<'a> {
    /// A plan that records into `sink`.
    #[must_use]
    pub fn new(sink: &'a dyn PlanSink) -> Self {
        Self { sink }
    }

    /// One bit per site: reached or not. Returns the probes in the order of the sites.
    ///
    /// `tag` is kept with these probes. One call for many sites is far cheaper than many calls.
    ///
    /// # Errors
    /// When a site does not exist or a limit is reached (32,768 edits, 1 MiB of tags per class).
    pub fn hit(&mut self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.sink.hit(at, tag)
    }

    /// A line for people: why something was done, or left undone, at a site.
    pub fn note(&mut self, at: Site, text: &str) {
        self.sink.note(at, text);
    }
}
