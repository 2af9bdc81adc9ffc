//! The probe table: which range of which shared array belongs to which class.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::arrays::{ARRAY_LENGTH, ARRAYS_AHEAD, MAX_ARRAYS, NEAR_LENGTH};
use crate::spans::{Counters, SESSIONS, SpanTable};

/// The length of an array, as the number type in which probes are counted.
const LENGTH: u32 = ARRAY_LENGTH as u32;
/// The same of the part that most classes share.
const NEAR: u32 = NEAR_LENGTH as u32;

/// Where the probes of a class lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// Number of the class in this table, from 0 in order of registration.
    pub class: u32,
    /// Which array holds the class's probes.
    pub array: u16,
    /// Index of the class's probe 0; probe `n` is at `base + n`, all in the same array.
    pub base: u16,
    /// Whether the class was unknown until this call.
    pub fresh: bool,
}

/// A range of one array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeRange {
    /// Which array.
    pub array: u16,
    /// Index of its first element.
    pub base: u16,
    /// How many elements.
    pub count: u32,
}

/// Why a class got no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The class needs more elements than one array has.
    #[error("class {name} needs {probes} probes, one class can have at most {ARRAY_LENGTH}")]
    TooManyProbes {
        /// Internal name of the class.
        name: String,
        /// Probes asked for.
        probes: u32,
    },
    /// No defined array has room; [`ProbeTable::wants_arrays`] is true from now on.
    #[error(
        "class {name} needs {probes} probes and none of the {arrays} arrays defined so far has room"
    )]
    NoRoom {
        /// Internal name of the class.
        name: String,
        /// Probes asked for.
        probes: u32,
        /// Arrays defined so far.
        arrays: u16,
    },
    /// The class has fewer probes in this snapshot than are requested now: its plugin is another one, or has another configuration.
    #[error(
        "class {name} is registered with {registered} probes, {probes} are asked for now. `classhook off` and then `classhook attach` begin a snapshot that has room for them"
    )]
    CountChanged {
        /// Internal name of the class.
        name: String,
        /// Probes it was registered with.
        registered: u32,
        /// Probes asked for now.
        probes: u32,
    },
}

/// A class that was registered and is not in the snapshot file yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingClass {
    /// Internal name (JVMS 4.2.1), for display: see `rewriter::Utf8::to_str_lossless`.
    pub name: String,
    /// JaCoCo's class id of the bytes as loaded.
    pub fingerprint: u64,
    /// The class loader that asked first.
    pub loader: String,
    /// The plugin that the probes belong to.
    pub plugin: String,
    /// Which array holds the probes.
    pub array: u16,
    /// Index of probe 0.
    pub base: u16,
    /// How many probes.
    pub probe_count: u32,
    /// The class file as loaded; empty when it is not to be kept.
    pub bytes: Vec<u8>,
}

/// Gives classes their ranges of the shared arrays; may be used from any number of threads.
///
/// The same (name, fingerprint, plugin) always gets the same range, whichever loader asks:
/// so a class loaded twice has its hits united, as JaCoCo does, and a retransformation finds its range again.
/// After [`ProbeTable::keep_loaders_apart`] the loader belongs to what has to be the same.
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

/// The code that records a hit.
///
/// Each form may write to the same array, so classes may have either.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HitCode {
    /// It stores to the array.
    #[default]
    Store,
    /// It calls a method that stores where there is no hit yet. Compilers that take an element which is not zero for a
    /// constant remove the call. So when elements are cleared, the compiled code that lacks calls has to be discarded.
    Call,
}

#[derive(Debug, Default)]
struct State {
    /// Elements in use at the front of each defined array.
    used: Vec<u32>,
    /// A request found no room since the last array was added.
    refused: bool,
    classes: Vec<Entry>,
    /// [`chain_of`] → the newest class that has it; others follow by `Entry::older`.
    newest: HashMap<u64, u32>,
    /// Whether the loader belongs to the identity of a class.
    per_loader: bool,
    pending: Vec<PendingClass>,
    /// Number of the snapshot that classes are written to.
    snapshot: u32,
    hit_code: HitCode,
}

#[derive(Debug)]
struct Entry {
    name: Box<str>,
    plugin: Box<str>,
    /// Empty while loaders are not kept apart.
    loader: Box<str>,
    array: u16,
    base: u16,
    probe_count: u32,
    fingerprint: u64,
    older: Option<u32>,
    /// The last snapshot that the class was pending for.
    snapshot: u32,
}

impl ProbeTable {
    /// A table without arrays: nothing can be registered until [`ProbeTable::set_arrays`].
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The methods that are instrumented as spans of the agent's own session.
    #[must_use]
    pub fn spans(&self) -> &SpanTable {
        self.spans_of(0)
    }

    /// The methods that are instrumented as spans of a session, a number below [`SESSIONS`].
    #[must_use]
    pub fn spans_of(&self, session: u8) -> &SpanTable {
        let [own, ..] = &self.spans.0;
        self.spans.0.get(usize::from(session)).unwrap_or(own)
    }

    /// The methods that are instrumented as spans, session by session.
    pub fn all_spans(&self) -> impl Iterator<Item = &SpanTable> {
        self.spans.0.iter()
    }

    /// The counters of spans that count.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// From now on classes of the same name and bytes have a range for each loader, or again one for all.
    pub fn keep_loaders_apart(&self, apart: bool) {
        self.state().per_loader = apart;
    }

    /// Says that arrays `0..count` are defined in the JVM. Never takes arrays away; capped at [`MAX_ARRAYS`].
    pub fn set_arrays(&self, count: u16) {
        let mut state = self.state();
        let count = usize::from(count.min(MAX_ARRAYS));
        if count > state.used.len() {
            state.used.resize(count, 0);
            state.refused = false;
        }
    }

    /// Arrays defined so far.
    #[must_use]
    pub fn arrays(&self) -> u16 {
        u16::try_from(self.state().used.len()).unwrap_or(MAX_ARRAYS)
    }

    /// Arrays of which no element is in use.
    #[must_use]
    pub fn untouched(&self) -> u16 {
        let state = self.state();
        let untouched = state.used.iter().filter(|used| **used == 0).count();
        u16::try_from(untouched).unwrap_or(MAX_ARRAYS)
    }

    /// Whether another array should be defined now: fewer than [`ARRAYS_AHEAD`] are untouched, or a
    /// class was refused for lack of room.
    #[must_use]
    pub fn wants_arrays(&self) -> bool {
        let state = self.state();
        state.can_grow() && (state.refused || state.ahead() < ARRAYS_AHEAD.into())
    }

    /// Whether it is better to wait for another array than to go on: fewer than half of
    /// [`ARRAYS_AHEAD`] are untouched.
    #[must_use]
    pub fn is_short(&self) -> bool {
        let state = self.state();
        state.can_grow() && state.ahead() < usize::from(ARRAYS_AHEAD / 2)
    }

    /// Elements in use at the front of `array`, 0 for an array that is not defined.
    #[must_use]
    pub fn used(&self, array: u16) -> usize {
        self.state()
            .used
            .get(usize::from(array))
            .map_or(0, |used| *used as usize)
    }

    /// Classes registered so far.
    #[must_use]
    pub fn class_count(&self) -> u32 {
        u32::try_from(self.state().classes.len()).unwrap_or(u32::MAX)
    }

    /// Where the probes of a class lie, if it is registered; `loader` matters only where loaders are kept apart.
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

    /// Gives a class its range, or finds the one it has.
    ///
    /// `class_bytes` are kept until [`ProbeTable::take_pending`]; pass none if classes are not to be kept.
    ///
    /// # Errors
    /// See [`TableError`]; a refused class leaves the table as it was, but for [`ProbeTable::wants_arrays`].
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

    /// Gives the probes of several plugins in one class their ranges, all in one array: `wanted` is
    /// plugin and number of probes, the ranges are added in the same order.
    ///
    /// Only when some of them have ranges from an earlier call, and that array is full, do the others lie elsewhere.
    ///
    /// # Errors
    /// As for [`ProbeTable::register`]; what was registered before the failing one stays.
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

    /// From now on classes are written to another snapshot: each is pending again once it is registered
    /// again, with the range that it has, or another if it needs more.
    ///
    /// Where loaders are kept apart, every class gets another range: the numbers of loaders begin anew, and methods that
    /// were entered before may still store into the range of the loader that had the number.
    pub fn begin_again(&self) {
        let mut state = self.state();
        if state.per_loader {
            state.newest.clear();
        }
        state.snapshot += 1;
        state.pending.clear();
    }

    /// The ranges of one plugin's classes, or of all, in order of registration.
    #[must_use]
    pub fn ranges(&self, plugin: Option<&str>) -> Vec<ProbeRange> {
        let state = self.state();
        let wanted = |entry: &&Entry| plugin.is_none_or(|plugin| *entry.plugin == *plugin);
        let ranges = state.classes.iter().filter(wanted).map(Entry::range);
        ranges.filter(|range| range.count > 0).collect()
    }

    /// The classes of one plugin that have probes, by internal name and fingerprint, in order of registration.
    #[must_use]
    pub fn classes_of(&self, plugin: &str) -> Vec<(String, u64, ProbeRange)> {
        let state = self.state();
        let classes = state.classes.iter();
        let classes = classes.filter(|entry| entry.probe_count > 0 && *entry.plugin == *plugin);
        classes
            .map(|entry| (entry.name.to_string(), entry.fingerprint, entry.range()))
            .collect()
    }

    /// Returns the code that records hits in classes that are instrumented from now on.
    #[must_use]
    pub fn hit_code(&self) -> HitCode {
        self.state().hit_code
    }

    /// Sets how hits are recorded in classes that are instrumented from now on.
    pub fn set_hit_code(&self, code: HitCode) {
        self.state().hit_code = code;
    }

    /// Takes the classes registered since the last call, in order of registration.
    #[must_use]
    pub fn take_pending(&self) -> Vec<PendingClass> {
        std::mem::take(&mut self.state().pending)
    }

    /// The state; a panic elsewhere while it was held cannot have left it half-changed in a harmful way.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn can_grow(&self) -> bool {
        self.used.len() < usize::from(MAX_ARRAYS)
    }

    /// Arrays of which no element is in use, among the last ones; they are always these but for large classes.
    fn ahead(&self) -> usize {
        let newest = self.used.iter().rev().take(2 * usize::from(ARRAYS_AHEAD));
        newest.filter(|used| **used == 0).count()
    }

    /// The loader as a part of a class's identity.
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

    /// The array that a plugin's probes in a class lie in, if it is registered.
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

    /// Makes a class pending if it was not yet for this snapshot.
    fn make_pending(&mut self, class: u32, pending: impl FnOnce(ProbeRange) -> PendingClass) {
        let Some(entry) = self.classes.get_mut(class as usize) else {
            return;
        };
        if std::mem::replace(&mut entry.snapshot, self.snapshot) != self.snapshot {
            let range = entry.range();
            self.pending.push(pending(range));
        }
    }

    /// A range of the preferred array if it has room, else in the first that has.
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

    /// First fit over the arrays defined so far.
    fn array_with_room(&mut self, name: &str, probes: u32) -> Result<u16, TableError> {
        if probes > LENGTH {
            return Err(TableError::TooManyProbes {
                name: name.to_owned(),
                probes,
            });
        }
        // A class that fits into the front of an array has shorter code there.
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

/// By what classes are looked up: thousands of loaders may have the same class.
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

    /// The class is asked for once more; fewer probes are fine (a plan transferred to other bytes may lose some).
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
    fn class_with_more_probes_than_the_front_of_an_array_has_goes_on_behind_it() {
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
    fn other_bytes_another_plugin_and_another_name_get_ranges_of_their_own() {
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
    fn same_class_of_loaders_that_are_kept_apart_has_a_range_for_each() {
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
        // One that comes later numbers loaders anew; methods that were entered before still store into the former range.
        table.begin_again();
        assert_eq!(of("web#1").base, 10);
        // An agent that comes later unites them, in a range that none of them has.
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
    fn refused_class_asks_for_an_array_and_gets_room_there() {
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
    fn class_is_pending_for_the_next_snapshot_with_the_range_it_has() {
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
    fn plugin_that_wants_more_of_a_class_gets_it_in_the_next_snapshot() {
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
    fn class_without_probes_takes_no_element() {
        let table = ProbeTable::new();
        assert!(register(&table, "a/Marker", 1, 0).unwrap().fresh);
        assert_eq!(table.used(0), 0);
    }

    #[test]
    fn threads_that_register_the_same_classes_agree() {
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
