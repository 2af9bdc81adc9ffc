//! Class loaders: their types, their display names, and the ids by which classes and patches refer to them.

use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::live::{self, BuiltinLoaders};
use crate::ffi::refs::{FieldId, Local, LocalRef, WeakRef};
use crate::names::display_name;
use control::classes::ClassLoader;
use host::Loader;
use jvms::names::binary;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// The id of a class loader. No other loader of this JVM ever gets the same id, even after the loader is collected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct LoaderId(pub u32);

/// The bootstrap loader.
pub(crate) const BOOT: LoaderId = LoaderId(0);
/// `ClassLoader.getSystemClassLoader()`.
const SYSTEM: LoaderId = LoaderId(1);
/// `ClassLoader.getPlatformClassLoader()`.
const PLATFORM: LoaderId = LoaderId(2);
/// The highest id of a built-in loader.
const LAST_BUILTIN: u32 = 2;
/// Longest chain of parents that is followed; a damaged chain may have no end.
const LONGEST_CHAIN: usize = 64;
/// Below this number of loaders it is not worth removing those that have been collected.
const FEW: usize = 64;

/// The class loaders of the JVM that the agent distinguishes.
#[derive(Debug, Default)]
pub(crate) struct Loaders {
    builtin: OnceLock<BuiltinLoaders>,
    fields: OnceLock<Fields>,
    identified: Mutex<Identified>,
}

/// The fields of `java.lang.ClassLoader` that are read.
#[derive(Debug)]
struct Fields {
    parent: Option<FieldId>,
    name: Option<FieldId>,
}

/// The loaders of the application that have an id. Weak references do not keep them alive.
#[derive(Debug, Default)]
struct Identified {
    /// By identity hash code, which several loaders may share.
    loaders: HashMap<u32, Vec<(LoaderId, WeakRef)>>,
    /// The number of ids that were assigned.
    given: u32,
    /// The number of loaders after the last removal of collected ones.
    after_sweep: usize,
    /// The number of loaders.
    count: usize,
}

impl Loaders {
    /// Fetches the built-in loaders. Before, every loader counts as the bootstrap loader.
    ///
    /// # Errors
    ///
    /// The exception that the JVM threw.
    pub fn resolve(&self, jvm: Jvm<'_>) -> Result<(), String> {
        let builtin = live::builtin_loaders(jvm)?;
        let _ = self.fields.set(Fields::find(jvm.local));
        let _ = self.builtin.set(builtin);
        Ok(())
    }

    /// The type of a loader; `None` is the bootstrap loader.
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

    /// The loader with its number, for results that are recorded separately for each loader. Built-in loaders have no
    /// number, and no loader has one if the JVM is out of memory.
    pub fn numbered(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        loader: Option<&LocalRef<'_>>,
        kind: &Loader,
    ) -> Loader {
        match (kind, self.identify(jvmti, local, loader)) {
            (Loader::Other(class), Some(LoaderId(id))) => {
                Loader::Numbered(Arc::clone(class), id.saturating_sub(LAST_BUILTIN))
            }
            _ => kind.clone(),
        }
    }

    /// The display name of a loader, which users pass as well: `boot`, `platform`, `app`, or
    /// `com.acme.Loader@1b6d3586`.
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

    /// A loader and its parents, the bootstrap loader last; `None` is the bootstrap loader. It reads fields, and calls
    /// no method of a loader.
    pub fn chain(&self, jvm: Jvm<'_>, loader: Option<LocalRef<'_>>) -> Vec<ClassLoader> {
        let fields = self.fields.get();
        let field = |object: &LocalRef<'_>, id: fn(&Fields) -> Option<FieldId>| {
            jvm.local.object_field(object, id(fields?)?)
        };
        let mut chain = Vec::new();
        let mut next = loader;
        while let Some(loader) = next
            && chain.len() < LONGEST_CHAIN
        {
            let class = jvm.local.object_class(&loader);
            let class = class.and_then(|class| jvm.jvmti.class_signature(&class).ok());
            let hash = jvm.jvmti.identity_hash(&loader);
            let name = field(&loader, |fields| fields.name);
            chain.push(ClassLoader {
                class: class.map_or_else(String::new, |class| binary(&display_name(&class))),
                hash: hash.map_or_else(String::new, |hash| format!("{hash:x}")),
                name: name.map_or_else(String::new, |name| {
                    live::text(jvm, &name).unwrap_or_default()
                }),
            });
            next = field(&loader, |fields| fields.parent);
        }
        chain.push(ClassLoader {
            class: Loader::Boot.as_str().to_owned(),
            ..ClassLoader::default()
        });
        chain
    }

    /// The loader's id, assigned at the first call. Returns `None` if the JVM is out of memory.
    pub fn identify(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        loader: Option<&LocalRef<'_>>,
    ) -> Option<LoaderId> {
        let known = self.find(jvmti, local, loader);
        if known.is_some() {
            return known;
        }
        let loader = loader?;
        let weak = local.weaken(loader)?;
        let hash = jvmti.identity_hash(loader).unwrap_or_default();
        let mut identified = self.identified();
        // Another thread may have been faster.
        if let Some(id) = identified.find(hash, local, loader) {
            local.release_weak(weak);
            return Some(id);
        }
        Some(identified.add(hash, weak))
    }

    /// The loader's id, if it has one.
    pub fn find(
        &self,
        jvmti: Jvmti,
        local: Local<'_>,
        loader: Option<&LocalRef<'_>>,
    ) -> Option<LoaderId> {
        let Some(loader) = loader else {
            return Some(BOOT);
        };
        if let Some(builtin) = self.builtin.get() {
            if local.is_same(loader, &builtin.system) {
                return Some(SYSTEM);
            }
            if local.is_same(loader, &builtin.platform) {
                return Some(PLATFORM);
            }
        }
        let hash = jvmti.identity_hash(loader).unwrap_or_default();
        self.identified().find(hash, local, loader)
    }

    /// Checks whether enough loaders have an id, so that it is worth removing those that have been collected.
    pub fn are_many(&self) -> bool {
        let identified = self.identified();
        identified.count > FEW.max(identified.after_sweep * 2)
    }

    /// Removes the loaders that have been collected, and returns their ids.
    pub fn remove_collected(&self, local: Local<'_>) -> HashSet<LoaderId> {
        self.identified().remove_collected(local)
    }

    fn identified(&self) -> MutexGuard<'_, Identified> {
        self.identified
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fields {
    fn find(local: Local<'_>) -> Self {
        let class = local.find_class(c"java/lang/ClassLoader");
        let field = |name, descriptor| local.field_id(class.as_ref()?, name, descriptor);
        Self {
            parent: field(c"parent", c"Ljava/lang/ClassLoader;"),
            name: field(c"name", c"Ljava/lang/String;"),
        }
    }
}

impl Identified {
    fn find(&self, hash: u32, local: Local<'_>, loader: &LocalRef<'_>) -> Option<LoaderId> {
        let same = |(_, weak): &&(LoaderId, WeakRef)| local.is_same_weak(loader, weak);
        let alike = self.loaders.get(&hash)?;
        alike.iter().find(same).map(|(id, _)| *id)
    }

    fn add(&mut self, hash: u32, weak: WeakRef) -> LoaderId {
        self.given += 1;
        self.count += 1;
        let id = LoaderId(LAST_BUILTIN + self.given);
        self.loaders.entry(hash).or_default().push((id, weak));
        id
    }

    fn remove_collected(&mut self, local: Local<'_>) -> HashSet<LoaderId> {
        let mut collected = HashSet::new();
        self.loaders.retain(|_, alike| {
            let gone = |(_, weak): &mut (LoaderId, WeakRef)| local.is_cleared(weak);
            for (id, weak) in alike.extract_if(.., gone) {
                local.release_weak(weak);
                collected.insert(id);
            }
            !alike.is_empty()
        });
        self.count -= collected.len();
        self.after_sweep = self.count;
        collected
    }
}

/// Checks whether the user's pattern matches a loader, by the name that [`Loaders::display`] returns.
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
    fn loader_pattern_matches_type_class_or_identity() {
        assert!(admits(None, "boot"));
        assert!(admits(Some("app"), "app"));
        assert!(!admits(Some("app"), "platform"));
        assert!(admits(Some("com.acme.Loader"), "com.acme.Loader@1f"));
        assert!(admits(Some("com.acme.Loader@1f"), "com.acme.Loader@1f"));
        assert!(!admits(Some("com.acme.Loader@20"), "com.acme.Loader@1f"));
        assert!(!admits(Some("com.acme"), "com.acme.Loader@1f"));
    }
}
