//! Class loaders: which kind each is, how it is displayed, and an id for those that patches are bound to.

use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::live::{self, BuiltinLoaders};
use crate::ffi::refs::{Local, LocalRef, WeakRef};
use crate::names::display_name;
use host::Loader;
use jvms::names::binary;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A class loader that has an id: 0 is the bootstrap loader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoaderId(pub u32);

/// The bootstrap loader.
const BOOT: LoaderId = LoaderId(0);

/// The class loaders of the JVM, as far as the agent distinguishes them.
#[derive(Debug, Default)]
pub(crate) struct Loaders {
    builtin: OnceLock<BuiltinLoaders>,
    identified: Mutex<Identified>,
}

/// The loaders that have an id, without keeping them alive.
#[derive(Debug, Default)]
struct Identified {
    loaders: Vec<(LoaderId, WeakRef)>,
    last: u32,
}

impl Loaders {
    /// Asks the JVM for its own loaders; until then every loader is taken for the bootstrap loader.
    ///
    /// # Errors
    ///
    /// What the JVM threw.
    pub fn resolve(&self, jvm: Jvm<'_>) -> Result<(), String> {
        let builtin = live::builtin_loaders(jvm)?;
        let _ = self.builtin.set(builtin);
        Ok(())
    }

    /// Which kind of loader this is; `None` is the bootstrap loader.
    pub fn kind(&self, jvmti: Jvmti, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Loader {
        let (Some(loader), Some(builtin)) = (loader, self.builtin.get()) else {
            return Loader::Boot;
        };
        if local.is_same(loader, &builtin.system) {
            return Loader::App;
        }
        if local.is_same(loader, &builtin.platform) {
            return Loader::Platform;
        }
        let signature = local
            .object_class(loader)
            .and_then(|class| jvmti.class_signature(&class).ok());
        Loader::Other(signature.map_or_else(
            || "unknown".into(),
            |signature| display_name(&signature).into(),
        ))
    }

    /// A loader as it is displayed and asked for: `boot`, `platform`, `app`, or `com.acme.Loader@1b6d3586`.
    pub fn display(&self, jvmti: Jvmti, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> String {
        let kind = self.kind(jvmti, local, loader);
        match (kind, loader) {
            (Loader::Other(class), Some(loader)) => {
                let class = binary(&class);
                match jvmti.identity_hash(loader) {
                    Some(hash) => format!("{class}@{hash:x}"),
                    None => class,
                }
            }
            (kind, _) => kind.as_str().to_owned(),
        }
    }

    /// The loader's id, which it gets now if it has none; `None` when the JVM's memory is out.
    pub fn identify(&self, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Option<LoaderId> {
        let Some(loader) = loader else {
            return Some(BOOT);
        };
        if let Some(id) = self.identified().find(local, loader) {
            return Some(id);
        }
        let weak = local.weaken(loader)?;
        let mut identified = self.identified();
        identified.forget_dead(local);
        identified.last += 1;
        let id = LoaderId(identified.last);
        identified.loaders.push((id, weak));
        Some(id)
    }

    /// The loader's id, if it has one.
    pub fn find(&self, local: Local<'_>, loader: Option<&LocalRef<'_>>) -> Option<LoaderId> {
        match loader {
            None => Some(BOOT),
            Some(loader) => self.identified().find(local, loader),
        }
    }

    fn identified(&self) -> MutexGuard<'_, Identified> {
        self.identified
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Identified {
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

/// Whether a pattern of the user's admits a loader, as [`Loaders::display`] displays it.
pub(crate) fn admits(pattern: Option<&str>, displayed: &str) -> bool {
    pattern.is_none_or(|pattern| {
        pattern == displayed
            || displayed
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
