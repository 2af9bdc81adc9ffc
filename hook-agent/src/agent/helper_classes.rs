//! The helper classes of plugins that each loader has.

use crate::agent::loaders::LoaderId;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The names of the helper classes, by loader.
#[derive(Debug, Default)]
pub(crate) struct HelperClasses(Mutex<HashMap<LoaderId, HashSet<String>>>);

impl HelperClasses {
    /// Checks whether a loader has the class.
    pub fn has(&self, loader: LoaderId, name: &str) -> bool {
        let defined = self.defined();
        defined
            .get(&loader)
            .is_some_and(|names| names.contains(name))
    }

    /// Notes that a loader has the class.
    pub fn add(&self, loader: LoaderId, name: &str) {
        self.defined()
            .entry(loader)
            .or_default()
            .insert(name.to_owned());
    }

    /// Removes the classes of loaders.
    pub fn remove_loaders(&self, gone: impl Fn(LoaderId) -> bool) {
        self.defined().retain(|loader, _| !gone(*loader));
    }

    /// The lock is never held during calls of the JVM: a loader may wait for a thread that needs it.
    fn defined(&self) -> MutexGuard<'_, HashMap<LoaderId, HashSet<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
