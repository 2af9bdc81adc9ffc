//! Class loaders that patches are bound to, without keeping them alive.

use crate::agent::Agent;
use crate::ffi::refs::{Local, LocalRef, WeakRef};
use crate::patch::store::LoaderId;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The loaders met so far.
#[derive(Debug, Default)]
pub(crate) struct Loaders(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    loaders: Vec<(LoaderId, WeakRef)>,
    last: u32,
}

/// The bootstrap loader.
const BOOT: LoaderId = LoaderId(0);

impl Loaders {
    /// The loader's id, which it gets now if it has none; `None` when the JVM's memory is out.
    pub fn meet(&self, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Option<LoaderId> {
        let Some(loader) = loader else {
            return Some(BOOT);
        };
        if let Some(id) = self.known().find(local, loader) {
            return Some(id);
        }
        let weak = local.weaken(loader)?;
        let mut known = self.known();
        known.forget_dead(local);
        known.last += 1;
        let id = LoaderId(known.last);
        known.loaders.push((id, weak));
        Some(id)
    }

    /// The loader's id, if it has one.
    pub fn find(&self, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Option<LoaderId> {
        match loader {
            None => Some(BOOT),
            Some(loader) => self.known().find(local, loader),
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn find(&self, local: Local<'_>, loader: &LocalRef<'_>) -> Option<LoaderId> {
        let same = |(_, weak): &&(LoaderId, WeakRef)| local.is_same_weak(loader, weak);
        self.loaders.iter().find(same).map(|(id, _)| *id)
    }

    fn forget_dead(&mut self, local: Local<'_>) {
        let dead = |(_, weak): &mut (LoaderId, WeakRef)| local.is_cleared(weak);
        for (_, weak) in self.loaders.extract_if(.., dead) {
            local.release_weak(weak);
        }
    }
}

/// A loader as it is shown and asked for: `boot`, `platform`, `app`, or `com.acme.Loader@1b6d3586`.
pub(crate) fn describe(agent: &Agent, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> String {
    let kind = agent.loader(local, loader);
    match (kind, loader) {
        (host::Loader::Other(class), Some(loader)) => {
            let class = class.replace('/', ".");
            match agent.jvmti().object_hash(loader) {
                Ok(hash) => format!("{class}@{hash:x}"),
                Err(_) => class,
            }
        }
        (kind, _) => kind.as_str().to_owned(),
    }
}

/// Whether a pattern of the user's admits a loader, as [`describe`] shows it.
pub(crate) fn admits(pattern: Option<&str>, shown: &str) -> bool {
    pattern.is_none_or(|pattern| {
        pattern == shown
            || shown
                .split_once('@')
                .is_some_and(|(class, _)| class == pattern)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loader_is_asked_for_by_kind_class_or_identity() {
        assert!(admits(None, "boot"));
        assert!(admits(Some("app"), "app"));
        assert!(!admits(Some("app"), "platform"));
        assert!(admits(Some("com.acme.Loader"), "com.acme.Loader@1f"));
        assert!(admits(Some("com.acme.Loader@1f"), "com.acme.Loader@1f"));
        assert!(!admits(Some("com.acme.Loader@20"), "com.acme.Loader@1f"));
        assert!(!admits(Some("com.acme"), "com.acme.Loader@1f"));
    }
}
