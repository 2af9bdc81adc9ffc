//! Which helper classes of plugins each loader has.

use crate::agent::loaders::LoaderId;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of the helper classes that loaders have.
#[derive(Debug, Default)]
pub(crate) struct HelperClasses(Mutex<HashMap<LoaderId, HashSet<String>>>);

impl HelperClasses {
    /// Whether a loader has the class.
    pub fn has(&self, loader: LoaderId, name: &str) -> bool {
        let defined = self.defined();
        defined
            .get(&loader)
            .is_some_and(|names| names.contains(name))
    }

    /// A loader has the class from now on.
    pub fn add(&self, loader: LoaderId, name: &str) {
        self.defined()
            .entry(loader)
            .or_default()
            .insert(name.to_owned());
    }

    /// Forgets the classes of loaders.
    pub fn forget_loaders(&self, gone: impl Fn(LoaderId) -> bool) {
        self.defined().retain(|loader, _| !gone(*loader));
    }

    /// Never held while the JVM is called: a loader may wait for a thread that asks here.
    fn defined(&self) -> MutexGuard<'_, HashMap<LoaderId, HashSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
