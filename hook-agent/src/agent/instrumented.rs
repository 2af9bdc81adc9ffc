//! The classes that hold edits, with the edits' plugins, and the classes that are counted.
//!
//! A class is identified by its name and its loader: when the hook receives a class that is being loaded, it has no
//! other identity yet.

use crate::agent::loaders::LoaderId;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The classes that plugins select, or that hold edits.
#[derive(Debug, Default)]
pub(crate) struct Instrumented {
    classes: Mutex<Classes>,
}

/// By internal name and loader.
type Classes = HashMap<(Box<[u8]>, LoaderId), ClassRecord>;

/// The state of one class.
#[derive(Debug, Default)]
struct ClassRecord {
    edits: Option<Edits>,
    counted: Counted,
}

/// The counters in which a class is included, as long as it is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counted {
    /// Selected by plugins.
    pub selected: bool,
    /// Changed.
    pub changed: bool,
}

/// The edits that a class holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edits {
    /// The revision of the plugin set that made them; 0 if no plugins were in force.
    pub revision: u32,
    /// The plugins of the edits, in order, after the label of a hot patch.
    pub plugins: Vec<String>,
    /// Plugins among them whose only edit comes from the host: their spans follow Kotlin's continuations.
    pub followers: Vec<String>,
    /// True if calls record its hits ([`probes::HitCode::Call`]).
    pub hits_call: bool,
}

impl Edits {
    /// Checks whether a plugin itself requested edits.
    pub fn are_of(&self, plugin: &str) -> bool {
        let has = |names: &[String]| names.iter().any(|name| name == plugin);
        has(&self.plugins) && !has(&self.followers)
    }
}

impl Instrumented {
    /// Notes the edits that a class holds from now on; `None` for no edits.
    pub fn note(&self, name: &[u8], loader: LoaderId, edits: Option<Edits>) {
        let key = (name.into(), loader);
        let mut classes = self.classes();
        if edits.is_some() {
            classes.entry(key).or_default().edits = edits;
        } else if let Entry::Occupied(mut known) = classes.entry(key) {
            known.get_mut().edits = None;
            if known.get().counted == Counted::default() {
                known.remove();
            }
        }
    }

    /// Counts a class that plugins select, when it is loaded or changed later. Returns the counters that included it
    /// before.
    pub fn count_selected(
        &self,
        name: &[u8],
        loader: LoaderId,
        is_load: bool,
        is_changed: bool,
    ) -> Counted {
        let mut classes = self.classes();
        let known = classes.entry((name.into(), loader)).or_default();
        let before = match is_load {
            true => Counted::default(),
            false => known.counted,
        };
        known.counted = Counted {
            selected: true,
            changed: before.changed || is_changed,
        };
        before
    }

    /// Notes that the edits of a class are also those that this plugin set would make.
    pub fn renew(&self, name: &[u8], loader: LoaderId, revision: u32) {
        let mut classes = self.classes();
        let known = classes.get_mut(&(name.into(), loader));
        if let Some(edits) = known.and_then(|known| known.edits.as_mut()) {
            edits.revision = revision;
        }
    }

    /// The edits of a class.
    pub fn find(&self, name: &[u8], loader: LoaderId) -> Option<Edits> {
        let classes = self.classes();
        let known = classes.get(&(name.into(), loader))?;
        known.edits.clone()
    }

    /// The number of classes with such edits.
    pub fn count(&self, is_counted: impl Fn(&Edits) -> bool) -> usize {
        let classes = self.classes();
        let edits = classes.values().filter_map(|known| known.edits.as_ref());
        edits.filter(|edits| is_counted(edits)).count()
    }

    /// Removes classes, by name and edits, that the JVM has unloaded.
    pub fn forget(&self, gone: impl Fn(&[u8], &Edits) -> bool) {
        let stays = |name: &[u8], known: &ClassRecord| {
            let edits = known.edits.as_ref();
            edits.is_none_or(|edits| !gone(name, edits))
        };
        self.classes().retain(|(name, _), known| stays(name, known));
    }

    /// Removes the classes of loaders.
    pub fn remove_loaders(&self, gone: impl Fn(LoaderId) -> bool) {
        self.classes().retain(|(_, loader), _| !gone(*loader));
    }

    fn classes(&self) -> MutexGuard<'_, Classes> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_is_identified_by_name_and_loader() {
        let instrumented = Instrumented::default();
        let (one, other) = (LoaderId(7), LoaderId(8));
        let edits = |revision| {
            Some(Edits {
                revision,
                plugins: vec!["coverage".to_owned()],
                followers: Vec::new(),
                hits_call: false,
            })
        };
        instrumented.note(b"a/A", one, edits(1));
        instrumented.note(b"a/A", other, edits(2));
        assert_eq!(instrumented.find(b"a/A", one), edits(1));
        assert_eq!(instrumented.count(|edits| edits.revision < 2), 1);
        instrumented.renew(b"a/A", one, 5);
        assert_eq!(instrumented.find(b"a/A", one), edits(5));
        assert_eq!(instrumented.find(b"a/A", other), edits(2));
        instrumented.note(b"a/A", one, None);
        assert_eq!(instrumented.find(b"a/A", one), None);
        assert_eq!(instrumented.find(b"a/A", other), edits(2));
        instrumented.note(b"a/B", one, edits(3));
        instrumented.forget(|_, edits| edits.revision == 2);
        assert_eq!(instrumented.count(|_| true), 1);
        instrumented.remove_loaders(|loader| loader == one);
        assert_eq!(instrumented.count(|_| true), 0);
    }

    #[test]
    fn class_is_counted_once_until_another_of_its_name_is_loaded() {
        let instrumented = Instrumented::default();
        let count = |is_load, is_changed| {
            let before = instrumented.count_selected(b"a/A", LoaderId(7), is_load, is_changed);
            (before.selected, before.changed)
        };
        let patched = Edits {
            revision: 0,
            plugins: vec!["hot patch 1".to_owned()],
            followers: Vec::new(),
            hits_call: false,
        };
        instrumented.note(b"a/A", LoaderId(7), Some(patched));
        assert_eq!(count(false, false), (false, false));
        assert_eq!(count(false, true), (true, false));
        instrumented.note(b"a/A", LoaderId(7), None);
        assert_eq!(count(false, true), (true, true));
        assert_eq!(instrumented.count(|_| true), 0);
        assert_eq!(count(true, true), (false, false));
        instrumented.remove_loaders(|_| true);
        assert_eq!(count(false, true), (false, false));
    }
}
