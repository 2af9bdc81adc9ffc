//! Caches the plans computed in the load-time hook until the hook that can retransform gets the
//! same bytes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::outcome::{ClassRequest, Loader};
use crate::plugin_failure::PluginFailure;
use crate::spliced::SplicedClass;

/// Maximum number of cached classes. A class that the JVM drops between the hooks is never taken.
const KEPT: usize = 32;

/// The cached result of a class.
pub(crate) struct LoadTimePlan {
    /// The class, if the plugins could be called.
    pub(crate) made: Result<SplicedClass, PluginFailure>,
    /// The time that it took.
    pub(crate) time: Duration,
}

/// Results by the class files to which they belong.
#[derive(Default)]
pub(crate) struct LoadTimePlans {
    waiting: Mutex<VecDeque<(Key, LoadTimePlan)>>,
}

/// The class, in the form in which the hook that can retransform gets it.
struct Key {
    name: Vec<u8>,
    loader: Loader,
    bytes: Vec<u8>,
}

impl LoadTimePlans {
    /// Caches the result of a class that will next come with these bytes.
    pub(crate) fn keep(&self, request: &ClassRequest<'_>, bytes: Vec<u8>, prepared: LoadTimePlan) {
        let key = Key {
            name: request.name.to_vec(),
            loader: request.loader.clone(),
            bytes,
        };
        let mut waiting = self.waiting();
        if waiting.len() == KEPT {
            waiting.pop_front();
        }
        waiting.push_back((key, prepared));
    }

    /// Takes the cached result of a class that is being loaded, if any.
    pub(crate) fn take(&self, request: &ClassRequest<'_>) -> Option<LoadTimePlan> {
        if request.retransforming {
            return None;
        }
        let mut waiting = self.waiting();
        let at = waiting.iter().rposition(|(key, _)| {
            key.name == request.name && key.loader == *request.loader && key.bytes == request.bytes
        })?;
        waiting.remove(at).map(|(_, prepared)| prepared)
    }

    /// Removes all classes, because the plugins' states may have changed.
    pub(crate) fn forget(&self) {
        self.waiting().clear();
    }

    fn waiting(&self) -> MutexGuard<'_, VecDeque<(Key, LoadTimePlan)>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code_source::CodeSource;

    fn request(bytes: &[u8]) -> ClassRequest<'_> {
        ClassRequest {
            name: b"a/A",
            loader: &Loader::App,
            location: CodeSource::Unread,
            bytes,
            original: None,
            retransforming: false,
        }
    }

    fn prepared() -> LoadTimePlan {
        LoadTimePlan {
            made: Err(PluginFailure::unreadable(&"for a test")),
            time: Duration::ZERO,
        }
    }

    #[test]
    fn a_class_is_found_once_by_its_bytes_while_it_is_loaded() {
        let classes = LoadTimePlans::default();
        classes.keep(&request(b"file"), b"edited".to_vec(), prepared());
        assert!(classes.take(&request(b"file")).is_none());
        let loaded = ClassRequest {
            retransforming: true,
            ..request(b"edited")
        };
        assert!(classes.take(&loaded).is_none());
        assert!(classes.take(&request(b"edited")).is_some());
        assert!(classes.take(&request(b"edited")).is_none());
        classes.keep(&request(b"file"), b"edited".to_vec(), prepared());
        classes.forget();
        assert!(classes.take(&request(b"edited")).is_none());
    }

    #[test]
    fn classes_that_never_come_are_dropped() {
        let classes = LoadTimePlans::default();
        for number in 0..=KEPT {
            classes.keep(&request(b""), vec![number as u8], prepared());
        }
        assert!(classes.take(&request(&[0])).is_none());
        assert!(classes.take(&request(&[1])).is_some());
    }
}
