//! A change of the loaded classes.

use crate::agent::metaspace::Metaspace;
use crate::agent::unprepared::Unprepared;
use crate::agent::work::Work;

/// The change of the loaded classes that is under way, and its limits.
#[derive(Debug)]
pub(crate) struct Change {
    /// Its progress.
    pub work: Work,
    /// The metaspace that it may take.
    pub metaspace: Metaspace,
    /// Classes that cannot be retransformed yet.
    pub unprepared: Unprepared,
}

impl Change {
    /// Begins without a change.
    pub fn new(metaspace: Metaspace) -> Self {
        Self {
            work: Work::default(),
            metaspace,
            unprepared: Unprepared::default(),
        }
    }
}
