//! The classes of the JVM that the hook knows.

use crate::agent::code_sources::CodeSources;
use crate::agent::helper_classes::HelperClasses;
use crate::agent::huge_methods::HugeMethods;
use crate::agent::instrumented::Instrumented;
use crate::agent::loaders::Loaders;
use crate::agent::reconstituted::Reconstituted;
use probes::Unselected;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The classes, with their loaders and their counts.
#[derive(Debug)]
pub(crate) struct Classes {
    /// The classes that hold edits.
    pub instrumented: Instrumented,
    /// Class files of classes for which the JVM passes other bytes to the hook.
    pub reconstituted: Reconstituted,
    /// Class loaders.
    pub loaders: Loaders,
    /// Helper classes of plugins.
    pub helpers: HelperClasses,
    /// The code sources of classes.
    pub code_sources: CodeSources,
    /// The loaded classes, if the selectors selected no class; set at the end of the JVM.
    pub unselected: OnceLock<Unselected>,
    /// HotSpot's length limit for methods that it compiles.
    pub huge_methods: HugeMethods,
    seen: AtomicU64,
    /// Instrumentations of classes that held edits before; each such class counts once.
    again: AtomicU64,
    /// Instrumentations among these that changed the class again.
    changed_again: AtomicU64,
}

impl Classes {
    /// Begins without a class.
    pub fn new(huge_methods: HugeMethods) -> Self {
        Self {
            instrumented: Instrumented::default(),
            reconstituted: Reconstituted::default(),
            loaders: Loaders::default(),
            helpers: HelperClasses::default(),
            code_sources: CodeSources::default(),
            unselected: OnceLock::new(),
            huge_methods,
            seen: AtomicU64::new(0),
            again: AtomicU64::new(0),
            changed_again: AtomicU64::new(0),
        }
    }

    /// Counts a class that is being loaded, or that was loaded earlier and is selected now.
    pub fn count_seen(&self) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of classes that were loaded, or loaded earlier and selected.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Counts another instrumentation of a class, and whether it changed the class again.
    pub fn count_again(&self, is_changed: bool) {
        self.again.fetch_add(1, Ordering::Relaxed);
        self.changed_again
            .fetch_add(is_changed.into(), Ordering::Relaxed);
    }

    /// The number of repeated instrumentations, and the number that changed the class again.
    pub fn again(&self) -> (u64, u64) {
        let counts = [&self.again, &self.changed_again];
        let [again, changed] = counts.map(|count| count.load(Ordering::Relaxed));
        (again, changed)
    }
}
