//! Hot patches: the class files that replace those of loaded classes.
//!
//! Patches stack: the newest patch of a class wins. A change is tried first: the thread that tries it sees the new
//! stack, every other thread sees the old stack, until the change is kept or dropped.

use crate::agent::loaders::LoaderId;
use class_versions::fitting::Companion;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{
    Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard,
};
use std::thread::{self, ThreadId};

/// The new class files of one request.
#[derive(Debug)]
pub(crate) struct Patch {
    /// From 1 on, never used twice.
    pub id: u32,
    /// The user's note.
    pub note: String,
    /// The time of the request, in milliseconds since 1970.
    pub time_ms: u64,
    /// The user who requested it.
    pub uid: u32,
    /// Pairs of name and scope are unique.
    pub classes: Vec<Arc<PatchedClass>>,
}

impl Patch {
    /// Checks whether the patch was applied before any loader had a class of this name.
    pub fn waits_for(&self, name: &[u8]) -> bool {
        let mut classes = self.classes.iter().filter(|class| class.name == name);
        classes.any(|class| matches!(class.scope, Scope::Later(_)))
    }
}

/// The class file that replaces that of one class.
#[derive(Debug)]
pub(crate) struct PatchedClass {
    /// The id of its patch.
    pub id: u32,
    /// The internal name, in modified UTF-8.
    pub name: Vec<u8>,
    /// The class file.
    pub bytes: Vec<u8>,
    /// SHA-256 of the class file, lower-case hex.
    pub digest: String,
    /// The classes of that name to which it applies.
    pub scope: Scope,
    /// True if the JVM gets the class file even if its schema differs.
    pub forced: bool,
    /// The later loads of a class that was not loaded when the patch was applied.
    pub loads: Loads,
    /// The classes that the new code needs.
    pub companions: Vec<Companion>,
}

/// The classes of one name that were loaded while a patch waited for them.
#[derive(Debug, Default)]
pub(crate) struct Loads(Mutex<Vec<Load>>);

/// The load of a class that a patch waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Load {
    /// The class's loader.
    pub loader: LoaderId,
    /// The display name of the loader.
    pub displayed: String,
    /// The reason, if the class kept its own code.
    pub refused: Option<String>,
}

impl Loads {
    /// Notes a load, and replaces an earlier one by the same loader.
    pub fn note(&self, load: Load) {
        let mut loads = self.loads();
        loads.retain(|known| known.loader != load.loader);
        loads.push(load);
    }

    /// The load by this loader.
    pub fn find(&self, loader: LoaderId) -> Option<Load> {
        let loads = self.loads();
        loads.iter().find(|load| load.loader == loader).cloned()
    }

    /// Every load, oldest first.
    pub fn all(&self) -> Vec<Load> {
        self.loads().clone()
    }

    fn loads(&self) -> MutexGuard<'_, Vec<Load>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The classes of one name to which a patch applies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The classes of these loaders, which had the class when the patch was applied.
    Loaded(Vec<LoaderId>),
    /// No loader had the class: the patch applies to the class of any loader that matches this pattern, or of any
    /// loader without one.
    Later(Option<String>),
}

/// All patches in force.
#[derive(Debug, Default)]
pub(crate) struct Patches {
    /// False while there is neither patch nor trial, so that the hook does not search then.
    active: AtomicBool,
    state: RwLock<State>,
    /// Held during a change: one at a time.
    turn: Mutex<()>,
    /// The folder of the log, from the first change on.
    log_folder: OnceLock<PathBuf>,
}

/// Patches, oldest first.
pub(crate) type Stack = Vec<Arc<Patch>>;

#[derive(Debug, Default)]
struct State {
    stack: Stack,
    trial: Option<Trial>,
    /// The highest id ever assigned.
    last: u32,
}

/// A change that the JVM is trying.
#[derive(Debug)]
struct Trial {
    owner: ThreadId,
    stack: Stack,
    /// The names of the classes that change.
    names: HashSet<Vec<u8>>,
    /// True if another thread got such a class as it was before the change.
    raced: AtomicBool,
}

impl Patches {
    /// The newest patch of a class for this thread. `covers` checks whether a patched class is for the current loader.
    pub fn find(
        &self,
        name: &[u8],
        mut covers: impl FnMut(&PatchedClass) -> bool,
    ) -> Option<Arc<PatchedClass>> {
        if !self.active.load(Ordering::Acquire) {
            return None;
        }
        let state = self.read();
        let stack = match &state.trial {
            Some(trial) if trial.owner == thread::current().id() => &trial.stack,
            Some(trial) => {
                if trial.names.contains(name) {
                    trial.raced.store(true, Ordering::Release);
                }
                &state.stack
            }
            None => &state.stack,
        };
        newest(stack, name, &mut covers).cloned()
    }

    /// Waits for the turn to make a change, and blocks other changes until the guard is dropped.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The stack in force.
    pub fn stack(&self) -> Stack {
        self.read().stack.clone()
    }

    /// The folder of the log, once it contains a change.
    pub fn log_folder(&self) -> Option<&Path> {
        self.log_folder.get().map(PathBuf::as_path)
    }

    /// Sets the folder of the log, which never changes afterwards.
    pub fn keep_log_folder(&self, folder: &Path) {
        self.log_folder.get_or_init(|| folder.to_path_buf());
    }

    /// A new id for a patch.
    pub fn next_id(&self) -> u32 {
        let mut state = self.write();
        state.last = state.last.saturating_add(1);
        state.last
    }

    /// Shows another stack to this thread only. It replaces a trial that was under way.
    pub fn try_stack(&self, stack: Stack) {
        let mut state = self.write();
        let names = changed_names(&state.stack, &stack);
        state.trial = Some(Trial {
            owner: thread::current().id(),
            stack,
            names,
            raced: AtomicBool::new(false),
        });
        self.active.store(true, Ordering::Release);
    }

    /// Puts the tried stack in force. Returns true if another thread got a changed class as it was before, so that
    /// these classes must be retransformed once more.
    pub fn keep(&self) -> bool {
        let mut state = self.write();
        let Some(trial) = state.trial.take() else {
            return false;
        };
        state.stack = trial.stack;
        self.active
            .store(!state.stack.is_empty(), Ordering::Release);
        trial.raced.load(Ordering::Acquire)
    }

    /// Drops the tried stack.
    pub fn drop_trial(&self) {
        let mut state = self.write();
        state.trial = None;
        self.active
            .store(!state.stack.is_empty(), Ordering::Release);
    }

    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The newest patched class of this name that `covers` accepts.
pub(crate) fn newest<'s>(
    stack: &'s [Arc<Patch>],
    name: &[u8],
    covers: &mut dyn FnMut(&PatchedClass) -> bool,
) -> Option<&'s Arc<PatchedClass>> {
    let mut classes = stack.iter().rev().flat_map(|patch| &patch.classes);
    classes.find(|class| class.name == name && covers(class))
}

/// The names of classes in patches that only one of the stacks has.
fn changed_names(one: &Stack, other: &Stack) -> HashSet<Vec<u8>> {
    let missing = |from: &Stack, patch: &Arc<Patch>| !from.iter().any(|there| there.id == patch.id);
    let gone = one.iter().filter(|patch| missing(other, patch));
    let new = other.iter().filter(|patch| missing(one, patch));
    gone.chain(new)
        .flat_map(|patch| &patch.classes)
        .map(|class| class.name.clone())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const APP: LoaderId = LoaderId(1);
    const WEB: LoaderId = LoaderId(2);

    fn class(name: &str, bytes: &str, scope: Scope) -> Arc<PatchedClass> {
        Arc::new(PatchedClass {
            id: 0,
            name: name.into(),
            bytes: bytes.into(),
            digest: String::new(),
            scope,
            forced: false,
            loads: Loads::default(),
            companions: Vec::new(),
        })
    }

    fn patch(id: u32, classes: Vec<Arc<PatchedClass>>) -> Arc<Patch> {
        Arc::new(Patch {
            id,
            note: String::new(),
            time_ms: 0,
            uid: 0,
            classes,
        })
    }

    fn of(loader: LoaderId) -> Scope {
        Scope::Loaded(vec![loader])
    }

    fn seen(patches: &Patches, name: &str, loader: LoaderId) -> Option<String> {
        let covers = |class: &PatchedClass| match &class.scope {
            Scope::Loaded(loaders) => loaders.contains(&loader),
            Scope::Later(_) => true,
        };
        let found = patches.find(name.as_bytes(), covers)?;
        Some(String::from_utf8_lossy(&found.bytes).into_owned())
    }

    fn put(patches: &Patches, stack: Stack) {
        patches.try_stack(stack);
        assert!(!patches.keep());
    }

    #[test]
    fn newest_patch_of_a_class_wins_and_rollback_restores_the_older() {
        let patches = Patches::default();
        let one = patch(
            1,
            vec![class("a/A", "one", of(APP)), class("a/B", "b", of(APP))],
        );
        let two = patch(2, vec![class("a/A", "two", of(APP))]);
        put(&patches, vec![Arc::clone(&one), Arc::clone(&two)]);
        assert_eq!(seen(&patches, "a/A", APP).as_deref(), Some("two"));
        assert_eq!(seen(&patches, "a/B", APP).as_deref(), Some("b"));
        put(&patches, vec![one]);
        assert_eq!(seen(&patches, "a/A", APP).as_deref(), Some("one"));
        put(&patches, vec![two]);
        assert_eq!(seen(&patches, "a/A", APP).as_deref(), Some("two"));
        assert_eq!(seen(&patches, "a/B", APP), None);
        put(&patches, Vec::new());
        assert_eq!(seen(&patches, "a/A", APP), None);
    }

    #[test]
    fn class_of_another_loader_is_another_class() {
        let patches = Patches::default();
        let one = patch(1, vec![class("a/A", "app", of(APP))]);
        let two = patch(2, vec![class("a/A", "web", of(WEB))]);
        put(&patches, vec![one, two]);
        assert_eq!(seen(&patches, "a/A", APP).as_deref(), Some("app"));
        assert_eq!(seen(&patches, "a/A", WEB).as_deref(), Some("web"));
        assert_eq!(seen(&patches, "a/A", LoaderId(0)), None);
    }

    #[test]
    fn trial_is_visible_to_its_own_thread_only() {
        let patches = Patches::default();
        let one = patch(1, vec![class("a/A", "one", of(APP))]);
        patches.try_stack(vec![one]);
        assert_eq!(seen(&patches, "a/A", APP).as_deref(), Some("one"));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| seen(&patches, "a/A", APP));
            assert_eq!(other.join().expect("a thread"), None);
        });
        patches.drop_trial();
        assert_eq!(seen(&patches, "a/A", APP), None);
        assert!(patches.stack().is_empty());
    }

    #[test]
    fn class_handed_to_another_thread_during_a_trial_is_reported() {
        let patches = Patches::default();
        let one = patch(1, vec![class("a/A", "one", of(APP))]);
        for (name, raced) in [("a/A", true), ("a/B", false)] {
            patches.try_stack(vec![Arc::clone(&one)]);
            std::thread::scope(|scope| {
                scope.spawn(|| seen(&patches, name, APP));
            });
            assert_eq!(patches.keep(), raced, "{name}");
            put(&patches, Vec::new());
        }
    }

    #[test]
    fn ids_are_never_reused() {
        let patches = Patches::default();
        assert_eq!((patches.next_id(), patches.next_id()), (1, 2));
        put(&patches, vec![patch(2, Vec::new())]);
        put(&patches, Vec::new());
        assert_eq!(patches.next_id(), 3);
    }

    #[test]
    fn no_class_is_searched_while_there_is_no_patch() {
        let patches = Patches::default();
        let never = |_: &PatchedClass| panic!("asked");
        assert!(patches.find(b"a/A", never).is_none());
        put(
            &patches,
            vec![patch(1, vec![class("a/A", "one", Scope::Later(None))])],
        );
        assert!(patches.find(b"a/B", never).is_none());
        assert_eq!(seen(&patches, "a/A", WEB).as_deref(), Some("one"));
    }
}
