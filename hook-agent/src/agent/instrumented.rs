//! Which classes hold edits now, and from which plugins.
//!
//! A class is identified by its name and its loader: when the hook receives a class that is being loaded, there is
//! nothing else yet.

use crate::agent::loaders::LoaderId;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The classes that hold edits.
#[derive(Debug, Default)]
pub(crate) struct Instrumented {
    classes: Mutex<Classes>,
}

/// By internal name and loader.
type Classes = HashMap<(Box<[u8]>, LoaderId), Edits>;

/// The edits that a class holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edits {
    /// The revision of the plugin set at that time; 0 if there was none.
    pub revision: u32,
    /// The plugins that made them, in order, behind a hot patch.
    pub plugins: Vec<String>,
    /// Whether probes are left out because it is on record that they were hit; the class may hold none then.
    pub without_spent: bool,
    /// Whether somebody else has redefined or retransformed the class since it was loaded: a JVM of version 17 forgets a
    /// redefinition at the next retransformation.
    pub changed_by_others: bool,
}

impl Instrumented {
    /// Notes what a class holds from now on; `None`: nothing.
    pub fn note(&self, name: &[u8], loader: LoaderId, edits: Option<Edits>) {
        let key = (name.into(), loader);
        let mut classes = self.classes();
        match edits {
            Some(mut edits) => {
                let before = classes.get(&key);
                edits.changed_by_others |= before.is_some_and(|before| before.changed_by_others);
                classes.insert(key, edits);
            }
            None => drop(classes.remove(&key)),
        }
    }

    /// Notes that a class holds what this plugin set would make of it.
    pub fn renew(&self, name: &[u8], loader: LoaderId, revision: u32) {
        if let Some(edits) = self.classes().get_mut(&(name.into(), loader)) {
            edits.revision = revision;
        }
    }

    /// What a class holds.
    pub fn find(&self, name: &[u8], loader: LoaderId) -> Option<Edits> {
        self.classes().get(&(name.into(), loader)).cloned()
    }

    /// How many classes hold edits of this kind.
    pub fn count(&self, is_counted: impl Fn(&Edits) -> bool) -> usize {
        let classes = self.classes();
        classes.values().filter(|edits| is_counted(edits)).count()
    }

    /// Forgets classes, by name and edits, because they are not in the JVM any more.
    pub fn forget(&self, gone: impl Fn(&[u8], &Edits) -> bool) {
        self.classes().retain(|(name, _), edits| !gone(name, edits));
    }

    /// Forgets the classes of loaders.
    pub fn forget_loaders(&self, gone: impl Fn(LoaderId) -> bool) {
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
                without_spent: false,
                changed_by_others: false,
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
        instrumented.forget_loaders(|loader| loader == one);
        assert_eq!(instrumented.count(|_| true), 0);
    }
}
