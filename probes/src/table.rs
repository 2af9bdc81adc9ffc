//! The probe table: maps each class to its range of a shared array.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arrays::{ARRAY_LENGTH, ARRAYS_AHEAD, MAX_ARRAYS, NEAR_LENGTH};
use crate::spans::{Counters, SESSIONS, SpanTable};

/// Length of an array, in the integer type that counts probes.
const LENGTH: u32 = ARRAY_LENGTH as u32;
/// Length of the front part of an array that most classes share.
const NEAR: u32 = NEAR_LENGTH as u32;

/// The location of a class's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Number of the class in this table, from 0 in order of registration.
    pub class: u32,
    /// Index of the array that holds the class's probes.
    pub array: u16,
    /// Index of the class's probe 0; probe `n` is at `base + n`, all in the same array.
    pub base: u16,
    /// `true` if this call registered the class.
    pub fresh: bool,
}

/// A range of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRange {
    /// Index of the array.
    pub array: u16,
    /// Index of its first element.
    pub base: u16,
    /// Number of elements.
    pub count: u32,
}

/// The reason why a class got no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The class needs more elements than one array has.
    #[error("class {name} needs {probes} probes, and one class can have at most {ARRAY_LENGTH}")]
    TooManyProbes {
        /// Internal name of the class.
        name: String,
        /// Requested number of probes.
        probes: u32,
    },
    /// No defined array has room; [`ProbeTable::wants_arrays`] is true from now on.
    #[error("class {name} needs {probes} probes, and the {arrays} defined arrays have no room")]
    NoRoom {
        /// Internal name of the class.
        name: String,
        /// Requested number of probes.
        probes: u32,
        /// Arrays defined so far.
        arrays: u16,
    },
    /// The plugin, or its configuration, changed: the class has fewer probes in this snapshot than requested now.
    #[error(
        "class {name} is registered with {registered} probes and now requests {probes}. Run `classhook off` and then `classhook attach` to start a new snapshot"
    )]
    CountChanged {
        /// Internal name of the class.
        name: String,
        /// Probes it was registered with.
        registered: u32,
        /// Number of probes requested now.
        probes: u32,
    },
}

/// A registered class that the snapshot file does not hold yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingClass {
    /// Internal name (JVMS 4.2.1), for display: see `rewriter::Utf8::to_str_lossless`.
    pub name: String,
    /// JaCoCo's class id of the bytes as loaded.
    pub fingerprint: u64,
    /// The class loader of the first request.
    pub loader: String,
    /// The plugin that owns the probes.
    pub plugin: String,
    /// Index of the array that holds the probes.
    pub array: u16,
    /// Index of probe 0.
    pub base: u16,
    /// Number of probes.
    pub probe_count: u32,
    /// The class file as loaded; empty if it is not kept.
    pub bytes: Vec<u8>,
}

/// Allocates ranges of the shared arrays to classes. All methods are thread-safe.
///
/// The key of a range is (name, fingerprint, plugin), independent of the loader. So a class that two loaders define
/// has one set of hits, as in JaCoCo, and a retransformation finds its range again. After
/// [`ProbeTable::keep_loaders_apart`] the loader is part of the key.
#[derive(Debug, Default)]
pub struct ProbeTable {
    state: Mutex<State>,
    spans: SessionSpans,
    counters: Counters,
}

/// The spans of each session.
#[derive(Debug)]
struct SessionSpans([SpanTable; SESSIONS]);

impl Default for SessionSpans {
    fn default() -> Self {
        Self(std::array::from_fn(|session| {
            SpanTable::of_session(u8::try_from(session).unwrap_or(0)) // below SESSIONS
        }))
    }
}

/// The instructions that record a hit.
///
/// Both forms may write to the same array, so classes with either form can coexist.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitCode {
    /// A store to the array.
    #[default]
    Store,
    /// A call of a method that stores if the element is zero. A compiler that treats a non-zero element as a constant
    /// removes the call. Compiled code without calls must therefore be discarded when elements are cleared.
    Call,
}

#[derive(Debug, Default)]
struct State {
    /// Number of elements in use at the front of each array.
    used: Vec<u32>,
    /// Set when a request found no room since the last array was added.
    refused: bool,
    classes: Vec<Entry>,
    /// Maps [`chain_of`] to the newest class with this hash; `Entry::older` links the others.
    newest: HashMap<u64, u32>,
    /// Set if the loader is part of the key of a class.
    per_loader: bool,
    pending: Vec<PendingClass>,
    /// Number of the snapshot that receives the classes.
    snapshot: u32,
    hit_code: HitCode,
    /// Probes without code, with the probes that imply them, by the class's first element.
    implied: HashMap<(u16, u16), Vec<(u32, u32)>>,
}

#[derive(Debug)]
struct Entry {
    name: Box<str>,
    plugin: Box<str>,
    /// Empty unless loaders are kept apart.
    loader: Box<str>,
    array: u16,
    base: u16,
    probe_count: u32,
    fingerprint: u64,
    older: Option<u32>,
    /// The last snapshot for which the class was pending.
    snapshot: u32,
}

impl ProbeTable {
    /// Creates a table without arrays. Registration fails until [`ProbeTable::set_arrays`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the instrumented methods (spans) of the agent's own session.
    #[must_use]
    pub fn spans(&self) -> &SpanTable {
        self.spans_of(0)
    }

    /// Returns the instrumented methods (spans) of a session, a number below [`SESSIONS`].
    #[must_use]
    pub fn spans_of(&self, session: u8) -> &SpanTable {
        let [own, ..] = &self.spans.0;
        self.spans.0.get(usize::from(session)).unwrap_or(own)
    }

    /// Iterates over the span tables of all sessions.
    pub fn all_spans(&self) -> impl Iterator<Item = &SpanTable> {
        self.spans.0.iter()
    }

    /// Returns the counters of spans in count mode.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Sets whether classes of the same name and bytes get a range for each loader, or one for all.
    pub fn keep_loaders_apart(&self, apart: bool) {
        self.state().per_loader = apart;
    }

    /// Records that arrays `0..count` are defined in the JVM. The count never shrinks and is capped at
    /// [`MAX_ARRAYS`].
    pub fn set_arrays(&self, count: u16) {
        let mut state = self.state();
        let count = usize::from(count.min(MAX_ARRAYS));
        if count > state.used.len() {
            state.used.resize(count, 0);
            state.refused = false;
        }
    }

    /// Returns the number of arrays defined so far.
    #[must_use]
    pub fn arrays(&self) -> u16 {
        u16::try_from(self.state().used.len()).unwrap_or(MAX_ARRAYS)
    }

    /// Returns the number of arrays without an element in use.
    #[must_use]
    pub fn untouched(&self) -> u16 {
        let state = self.state();
        let untouched = state.used.iter().filter(|used| **used == 0).count();
        u16::try_from(untouched).unwrap_or(MAX_ARRAYS)
    }

    /// Checks whether another array should be defined now: fewer than [`ARRAYS_AHEAD`] are untouched, or a class was
    /// refused for lack of room.
    #[must_use]
    pub fn wants_arrays(&self) -> bool {
        let state = self.state();
        state.can_grow() && (state.refused || state.ahead() < ARRAYS_AHEAD.into())
    }

    /// Checks whether callers should wait for another array: fewer than half of [`ARRAYS_AHEAD`] are untouched.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let state = self.state();
        state.can_grow() && state.ahead() < usize::from(ARRAYS_AHEAD / 2)
    }

    /// Returns the number of elements in use at the front of `array`, 0 for an undefined array.
    #[must_use]
    pub fn used(&self, array: u16) -> usize {
        self.state()
            .used
            .get(usize::from(array))
            .map_or(0, |used| *used as usize)
    }

    /// Returns the number of classes registered so far.
    #[must_use]
    pub fn class_count(&self) -> u32 {
        u32::try_from(self.state().classes.len()).unwrap_or(u32::MAX)
    }

    /// Finds the registration of a class. `loader` matters only if loaders are kept apart.
    #[must_use]
    pub fn find(
        &self,
        name: &str,
        fingerprint: u64,
        loader: &str,
        plugin: &str,
    ) -> Option<Registration> {
        self.state()
            .find(name, fingerprint, loader, plugin)
            .map(|(class, entry)| entry.at(class))
    }

    /// Allocates the range of a class, or returns the existing one.
    ///
    /// `class_bytes` are kept until [`ProbeTable::take_pending`]; pass an empty slice if classes are not kept.
    ///
    /// # Errors
    /// See [`TableError`]. A refused class changes only [`ProbeTable::wants_arrays`].
    pub fn register(
        &self,
        name: &str,
        fingerprint: u64,
        loader: &str,
        plugin: &str,
        probe_count: u32,
        class_bytes: &[u8],
    ) -> Result<Registration, TableError> {
        let state = &mut *self.state();
        let array = state.array_of(name, fingerprint, loader, plugin);
        let wanted = (plugin, probe_count);
        state.register(name, fingerprint, loader, wanted, array, class_bytes)
    }

    /// Allocates the probes of several plugins in one class, all in one array. `wanted` holds pairs of plugin and
    /// number of probes; the ranges are added in the same order.
    ///
    /// Ranges lie in different arrays only if an earlier call allocated some of them in an array that is now full.
    ///
    /// # Errors
    /// As for [`ProbeTable::register`]; registrations before the failing one remain.
    pub fn register_together(
        &self,
        name: &str,
        fingerprint: u64,
        loader: &str,
        wanted: &[(&str, u32)],
        class_bytes: &[u8],
        ranges: &mut impl Extend<Registration>,
    ) -> Result<(), TableError> {
        let state = &mut *self.state();
        let known = |plugin| state.array_of(name, fingerprint, loader, plugin);
        let mut array = wanted.iter().find_map(|(plugin, _)| known(plugin));
        if array.is_none() && wanted.len() > 1 {
            let total = wanted
                .iter()
                .fold(0, |sum: u32, (_, count)| sum.saturating_add(*count));
            array = Some(state.array_with_room(name, total)?);
        }
        for wanted in wanted {
            let range = state.register(name, fingerprint, loader, *wanted, array, class_bytes)?;
            ranges.extend([range]);
        }
        Ok(())
    }

    /// Starts another snapshot. Each class is pending again once it is registered again, with its range, or another
    /// one if it needs more probes.
    ///
    /// If loaders are kept apart, every class gets another range. Loader numbers start anew, and methods entered
    /// before may still store into the range of the loader that had the number.
    pub fn begin_again(&self) {
        let mut state = self.state();
        if state.per_loader {
            state.newest.clear();
        }
        state.snapshot += 1;
        state.pending.clear();
    }

    /// Returns the ranges of one plugin's classes, or of all classes, in order of registration.
    #[must_use]
    pub fn ranges(&self, plugin: Option<&str>) -> Vec<ProbeRange> {
        let state = self.state();
        let wanted = |entry: &&Entry| plugin.is_none_or(|plugin| *entry.plugin == *plugin);
        let ranges = state.classes.iter().filter(wanted).map(Entry::range);
        ranges.filter(|range| range.count > 0).collect()
    }

    /// Returns the classes of one plugin that have probes: internal name, fingerprint and range, in order of
    /// registration.
    #[must_use]
    pub fn classes_of(&self, plugin: &str) -> Vec<(String, u64, ProbeRange)> {
        let state = self.state();
        let classes = state.classes.iter();
        let classes = classes.filter(|entry| entry.probe_count > 0 && *entry.plugin == *plugin);
        classes
            .map(|entry| (entry.name.to_string(), entry.fingerprint, entry.range()))
            .collect()
    }

    /// Records probes of a class that have no code, each with the later probe whose hit implies it, in ascending order.
    pub fn imply(&self, class: Registration, implied: Vec<(u32, u32)>) {
        let key = (class.array, class.base);
        self.state().implied.insert(key, implied);
    }

    /// Marks the probes of a class as hit that other hits imply.
    pub fn add_implied(&self, class: ProbeRange, hits: &mut [bool]) {
        let state = self.state();
        let implied = state.implied.get(&(class.array, class.base));
        for (probe, by) in implied.into_iter().flatten().rev() {
            if hits.get(*by as usize) == Some(&true)
                && let Some(hit) = hits.get_mut(*probe as usize)
            {
                *hit = true;
            }
        }
    }

    /// Returns the hit code of classes that are instrumented from now on.
    #[must_use]
    pub fn hit_code(&self) -> HitCode {
        self.state().hit_code
    }

    /// Sets the hit code of classes that are instrumented from now on.
    pub fn set_hit_code(&self, code: HitCode) {
        self.state().hit_code = code;
    }

    /// Takes the classes registered since the last call, in order of registration.
    #[must_use]
    pub fn take_pending(&self) -> Vec<PendingClass> {
        std::mem::take(&mut self.state().pending)
    }

    /// Locks the state. A panic of another holder cannot leave it in a harmful state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn can_grow(&self) -> bool {
        self.used.len() < usize::from(MAX_ARRAYS)
    }

    /// Counts the arrays without an element in use among the last ones. Except for large classes, all of them are the
    /// last ones.
    fn ahead(&self) -> usize {
        let newest = self.used.iter().rev().take(2 * usize::from(ARRAYS_AHEAD));
        newest.filter(|used| **used == 0).count()
    }

    /// Returns the loader as a part of a class's key.
    fn apart<'l>(&self, loader: &'l str) -> &'l str {
        if self.per_loader { loader } else { "" }
    }

    fn find(
        &self,
        name: &str,
        fingerprint: u64,
        loader: &str,
        plugin: &str,
    ) -> Option<(u32, &Entry)> {
        let loader = self.apart(loader);
        let mut next = self.newest.get(&chain_of(fingerprint, loader)).copied();
        while let Some(class) = next {
            let entry = self.classes.get(class as usize)?;
            if entry.fingerprint == fingerprint
                && *entry.name == *name
                && *entry.plugin == *plugin
                && *entry.loader == *loader
            {
                return Some((class, entry));
            }
            next = entry.older;
        }
        None
    }

    /// Returns the array that holds a plugin's probes in a class, if the class is registered.
    fn array_of(&self, name: &str, fingerprint: u64, loader: &str, plugin: &str) -> Option<u16> {
        let found = self.find(name, fingerprint, loader, plugin);
        found.map(|(_, entry)| entry.array)
    }

    fn register(
        &mut self,
        name: &str,
        fingerprint: u64,
        loader: &str,
        (plugin, probe_count): (&str, u32),
        preferred: Option<u16>,
        class_bytes: &[u8],
    ) -> Result<Registration, TableError> {
        let pending = |range: ProbeRange| PendingClass {
            name: name.to_owned(),
            fingerprint,
            loader: loader.to_owned(),
            plugin: plugin.to_owned(),
            array: range.array,
            base: range.base,
            probe_count: range.count,
            bytes: class_bytes.to_vec(),
        };
        let known = self.find(name, fingerprint, loader, plugin);
        let known = known.filter(|(_, entry)| {
            probe_count <= entry.probe_count || entry.snapshot == self.snapshot
        });
        if let Some((class, entry)) = known {
            let found = entry.again(class, probe_count)?;
            self.make_pending(class, pending);
            return Ok(found);
        }
        let (array, base) = self.place(name, probe_count, preferred)?;
        let entry = Entry {
            name: name.into(),
            plugin: plugin.into(),
            loader: self.apart(loader).into(),
            array,
            base,
            probe_count,
            fingerprint,
            older: None,
            snapshot: self.snapshot.wrapping_sub(1),
        };
        let class = self.add(entry);
        self.make_pending(class, pending);
        Ok(Registration {
            class,
            array,
            base,
            fresh: true,
        })
    }

    /// Makes a class pending, at most once for each snapshot.
    fn make_pending(&mut self, class: u32, pending: impl FnOnce(ProbeRange) -> PendingClass) {
        let Some(entry) = self.classes.get_mut(class as usize) else {
            return;
        };
        if std::mem::replace(&mut entry.snapshot, self.snapshot) != self.snapshot {
            let range = entry.range();
            self.pending.push(pending(range));
        }
    }

    /// Allocates a range in the preferred array if it has room, else in the first array that has.
    fn place(
        &mut self,
        name: &str,
        probe_count: u32,
        preferred: Option<u16>,
    ) -> Result<(u16, u16), TableError> {
        if probe_count == 0 {
            return Ok((0, 0));
        }
        let fits = |array: &u16| {
            self.used
                .get(usize::from(*array))
                .is_some_and(|used| LENGTH - used >= probe_count)
        };
        let array = match preferred.filter(fits) {
            Some(array) => array,
            None => self.array_with_room(name, probe_count)?,
        };
        let Some(used) = self.used.get_mut(usize::from(array)) else {
            return Err(self.no_room(name, probe_count));
        };
        let base = *used;
        *used += probe_count;
        Ok((array, base as u16)) // base < ARRAY_LENGTH
    }

    /// Finds the first array with room.
    fn array_with_room(&mut self, name: &str, probes: u32) -> Result<u16, TableError> {
        if probes > LENGTH {
            return Err(TableError::TooManyProbes {
                name: name.to_owned(),
                probes,
            });
        }
        // Probes in the front part of an array have shorter code.
        let length = if probes > NEAR { LENGTH } else { NEAR };
        let has_room = |used: &u32| length.saturating_sub(*used) >= probes;
        match self.used.iter().position(has_room) {
            Some(array) => Ok(array as u16), // array < MAX_ARRAYS
            None => Err(self.no_room(name, probes)),
        }
    }

    fn no_room(&mut self, name: &str, probes: u32) -> TableError {
        self.refused = true;
        let arrays = u16::try_from(self.used.len()).unwrap_or(MAX_ARRAYS);
        TableError::NoRoom {
            name: name.to_owned(),
            probes,
            arrays,
        }
    }

    fn add(&mut self, mut entry: Entry) -> u32 {
        let class = u32::try_from(self.classes.len()).unwrap_or(u32::MAX);
        let chain = chain_of(entry.fingerprint, &entry.loader);
        entry.older = self.newest.insert(chain, class);
        self.classes.push(entry);
        class
    }
}

/// Returns the hash for look-ups; thousands of loaders may define the same class.
fn chain_of(fingerprint: u64, loader: &str) -> u64 {
    if loader.is_empty() {
        return fingerprint;
    }
    let mut hasher = DefaultHasher::new();
    loader.hash(&mut hasher);
    fingerprint ^ hasher.finish()
}

impl Entry {
    fn at(&self, class: u32) -> Registration {
        Registration {
            class,
            array: self.array,
            base: self.base,
            fresh: false,
        }
    }

    fn range(&self) -> ProbeRange {
        ProbeRange {
            array: self.array,
            base: self.base,
            count: self.probe_count,
        }
    }

    /// Registers the class again. Fewer probes are accepted: a plan transferred to other bytes may lose some.
    fn again(&self, class: u32, probe_count: u32) -> Result<Registration, TableError> {
        if probe_count > self.probe_count {
            return Err(TableError::CountChanged {
                name: self.name.to_string(),
                registered: self.probe_count,
                probes: probe_count,
            });
        }
        Ok(self.at(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn register(
        table: &ProbeTable,
        name: &str,
        fingerprint: u64,
        probes: u32,
    ) -> Result<Registration, TableError> {
        table.register(name, fingerprint, "app", "coverage", probes, b"")
    }

    #[test]
    fn class_never_straddles_two_arrays_and_small_ones_fill_the_gap() {
        let table = ProbeTable::new();
        table.set_arrays(2);
        let ranges = [30_000, 3_000, 2_768]
            .map(|probes| register(&table, &probes.to_string(), 1, probes).unwrap());
        assert_eq!(
            ranges.map(|at| (at.array, at.base)),
            [(0, 0), (1, 0), (0, 30_000)]
        );
        assert_eq!(
            (table.used(0), table.used(1), table.used(2)),
            (32_768, 3_000, 0)
        );
    }

    #[test]
    fn large_class_extends_beyond_the_front_of_an_array() {
        let table = ProbeTable::new();
        table.set_arrays(3);
        let ranges = [1_000, 40_000, 1_000, 65_536].map(|probes| {
            let at = register(&table, &format!("{probes}"), u64::from(probes), probes);
            at.map(|at| (at.array, at.base)).unwrap()
        });
        // The same class is found again.
        assert_eq!(ranges, [(0, 0), (0, 1_000), (0, 0), (1, 0)]);
        assert_eq!(register(&table, "a/B", 5, 10).unwrap().array, 2);
        assert_eq!(table.used(0), 41_000);
    }

    #[test]
    fn same_class_from_another_loader_finds_its_range() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        let first = register(&table, "a/A", 7, 5).unwrap();
        let again = table
            .register("a/A", 7, "plugin-loader", "coverage", 5, b"")
            .unwrap();
        assert_eq!(
            again,
            Registration {
                fresh: false,
                ..first
            }
        );
        assert_eq!(table.find("a/A", 7, "other", "coverage"), Some(again));
        assert_eq!(table.take_pending().len(), 1);
        assert_eq!(table.class_count(), 1);
    }

    #[test]
    fn other_bytes_plugins_and_names_get_separate_ranges() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        register(&table, "a/A", 7, 5).unwrap();
        assert_eq!(register(&table, "a/A", 8, 5).unwrap().base, 5);
        assert_eq!(register(&table, "a/B", 7, 5).unwrap().base, 10);
        assert_eq!(
            table
                .register("a/A", 7, "app", "trace", 5, b"")
                .unwrap()
                .base,
            15
        );
        assert_eq!(table.find("a/A", 7, "app", "coverage").unwrap().base, 0);
        assert_eq!(table.find("a/A", 9, "app", "coverage"), None);
    }

    #[test]
    fn class_has_a_range_for_each_loader_if_loaders_are_kept_apart() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        table.keep_loaders_apart(true);
        let of = |loader| {
            table
                .register("a/A", 7, loader, "coverage", 5, b"")
                .unwrap()
        };
        let ranges = ["web#1", "web#2", "web#1"].map(|loader| of(loader).base);
        assert_eq!(ranges, [0, 5, 0]);
        let pending = table.take_pending().into_iter();
        let loaders: Vec<String> = pending.map(|class| class.loader).collect();
        assert_eq!(loaders, ["web#1", "web#2"]);
        // A later agent numbers loaders anew; methods that were entered before still store into the former range.
        table.begin_again();
        assert_eq!(of("web#1").base, 10);
        // A later agent unites the loaders, in a new range.
        table.keep_loaders_apart(false);
        table.begin_again();
        assert_eq!((of("web#1").base, of("web#2").base), (15, 15));
    }

    #[test]
    fn retransformation_may_lose_probes_but_not_gain_any() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        register(&table, "a/A", 7, 5).unwrap();
        assert!(register(&table, "a/A", 7, 4).is_ok());
        assert!(matches!(
            register(&table, "a/A", 7, 6),
            Err(TableError::CountChanged {
                registered: 5,
                probes: 6,
                ..
            })
        ));
    }

    #[test]
    fn arrays_are_wanted_ahead_of_need() {
        let table = ProbeTable::new();
        assert!(table.wants_arrays() && table.is_short(), "none is defined");
        assert!(matches!(
            register(&table, "a/A", 1, 1),
            Err(TableError::NoRoom { arrays: 0, .. })
        ));
        table.set_arrays(4);
        assert!(!table.wants_arrays());
        register(&table, "a/A", 1, 32_768).unwrap();
        assert!(table.wants_arrays() && !table.is_short(), "three are free");
        register(&table, "a/B", 1, 32_768).unwrap();
        assert!(!table.is_short(), "two are free");
        register(&table, "a/C", 1, 1).unwrap();
        assert!(table.is_short(), "one is free");
        table.set_arrays(7);
        assert!(!table.wants_arrays());
        table.set_arrays(1);
        assert_eq!(table.arrays(), 7, "arrays are never taken away");
    }

    #[test]
    fn last_array_is_not_waited_for() {
        let table = ProbeTable::new();
        table.set_arrays(MAX_ARRAYS);
        for class in 0..MAX_ARRAYS {
            register(&table, &class.to_string(), 1, 32_768).unwrap();
        }
        assert!(!table.wants_arrays() && !table.is_short());
    }

    #[test]
    fn refused_class_requests_an_array_and_is_placed_there() {
        let table = ProbeTable::new();
        table.set_arrays(2);
        register(&table, "a/A", 1, 1).unwrap();
        register(&table, "a/B", 2, 1).unwrap();
        register(&table, "a/C", 3, 32_767).unwrap();
        table.set_arrays(3);
        register(&table, "a/D", 4, 32_768).unwrap();
        assert!(matches!(
            register(&table, "a/E", 5, 32_768),
            Err(TableError::NoRoom { arrays: 3, .. })
        ));
        assert!(table.wants_arrays());
        table.set_arrays(4);
        assert_eq!(register(&table, "a/E", 5, 32_768).unwrap().array, 3);
        assert!(matches!(
            register(&table, "a/F", 6, 65_537),
            Err(TableError::TooManyProbes { .. })
        ));
    }

    #[test]
    fn class_is_pending_for_the_next_snapshot_with_its_range() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        let first = register(&table, "a/A", 7, 5).unwrap();
        register(&table, "a/B", 8, 5).unwrap();
        register(&table, "a/A", 7, 5).unwrap();
        assert_eq!(table.take_pending().len(), 2);
        table.begin_again();
        assert!(table.take_pending().is_empty());
        for _ in 0..2 {
            let again = register(&table, "a/A", 7, 5).unwrap();
            assert_eq!((again.base, again.fresh), (first.base, false));
        }
        let pending = table.take_pending();
        assert_eq!(pending.len(), 1);
        assert_eq!((pending[0].base, pending[0].probe_count), (first.base, 5));
    }

    #[test]
    fn additional_probes_of_a_class_are_accepted_in_the_next_snapshot() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        let before = register(&table, "a/A", 7, 5).unwrap();
        let refused = register(&table, "a/A", 7, 6).unwrap_err().to_string();
        assert!(refused.contains("classhook off"), "{refused}");
        table.begin_again();
        let after = register(&table, "a/A", 7, 6).unwrap();
        assert!(after.fresh && after.base >= before.base + 5);
        assert_eq!(register(&table, "a/A", 7, 6).unwrap().base, after.base);
        let pending = table.take_pending();
        let last = pending.last().unwrap();
        assert_eq!((last.base, last.probe_count), (after.base, 6));
    }

    #[test]
    fn ranges_are_listed_by_plugin() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        table.register("a/A", 7, "app", "one", 5, b"").unwrap();
        table.register("a/A", 7, "app", "two", 3, b"").unwrap();
        table.register("a/Marker", 8, "app", "two", 0, b"").unwrap();
        assert_eq!(table.ranges(None).len(), 2);
        let two = ProbeRange {
            array: 0,
            base: 5,
            count: 3,
        };
        assert_eq!(table.ranges(Some("two")), [two]);
        assert_eq!(table.classes_of("two"), [("a/A".to_owned(), 7, two)]);
    }

    #[test]
    fn hits_imply_probes_without_code() {
        let table = ProbeTable::new();
        table.set_arrays(1);
        register(&table, "a/A", 7, 3).unwrap();
        let at = register(&table, "a/B", 8, 5).unwrap();
        table.imply(at, vec![(0, 1), (1, 2), (3, 4)]);
        let range = |base, count| ProbeRange {
            array: 0,
            base,
            count,
        };
        let mut hits = [false, false, true, false, false];
        table.add_implied(range(3, 5), &mut hits);
        assert_eq!(hits, [true, true, true, false, false]);
        let mut others = [false, true, false];
        table.add_implied(range(0, 3), &mut others);
        assert_eq!(others, [false, true, false]);
    }

    #[test]
    fn class_without_probes_takes_no_element() {
        let table = ProbeTable::new();
        assert!(register(&table, "a/Marker", 1, 0).unwrap().fresh);
        assert_eq!(table.used(0), 0);
    }

    #[test]
    fn concurrent_registrations_of_a_class_agree() {
        let table = ProbeTable::new();
        table.set_arrays(4);
        let all = || {
            (0..500u64)
                .map(|id| register(&table, &format!("a/C{id}"), id, 40).unwrap())
                .collect::<Vec<_>>()
        };
        let found: Vec<Vec<Registration>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(all)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        for class in 0..500 {
            let indices = found
                .iter()
                .map(|all| (all[class].class, all[class].array, all[class].base));
            assert_eq!(
                indices.collect::<std::collections::HashSet<_>>().len(),
                1,
                "class {class}"
            );
            assert_eq!(
                found.iter().filter(|all| all[class].fresh).count(),
                1,
                "class {class}"
            );
        }
        assert_eq!(
            (0..4).map(|array| table.used(array)).sum::<usize>(),
            500 * 40
        );
    }
}
