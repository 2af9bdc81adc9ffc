//! The plans of one plugin for classes that it saw before, in this process or another one of this
//! user.
//!
//! A cache holds the plans in at most three files of growing size, so the cost of a start and its
//! end does not grow with the cache. A start reads three headers, and new plans are merged into the
//! smallest file only. A full file is merged into the next one. Two processes that write at once
//! replace whole files; a lost plan is computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use plan_rules::PlanRequest;
use plugin_code::sha256_hex;
use stored::Stored;

use crate::cache::Cache;
use crate::class::ClassIdentity;
use crate::class_key::{ClassKey, Seed};
use crate::config::LogLevel;
use crate::outcome::PlanCounts;
use crate::plan_file::{self, Damage, Entry, Macs, PlanFile, Record, Source};

/// Maximum size in bytes of one plugin's new plans.
const MAX_ADDED: usize = 16 << 20;
/// The file is written when no plan was added for this time …
const SETTLED: Duration = Duration::from_secs(1);
/// … or when a plan has waited for this time.
const LATEST: Duration = Duration::from_secs(30);
/// A digest of all sources that affect plans and their stored form.
const SOURCES: &str = env!("CLASSHOOK_SOURCES");
/// Maximum size of each file in bytes. New plans are merged into the first.
const LEVELS: [u64; 3] = [128 << 10, 2 << 20, 32 << 20];
/// Days after which the day of last use is updated, so that plans in use are not removed first.
const USE_NOTED: u32 = 7;

/// The plans of one plugin with one configuration.
pub(crate) struct PlanStore {
    caches: Arc<[Cache]>,
    /// The common prefix of the files' names.
    name: String,
    seed: Seed,
    /// The files with keys of this seed, in the order of look-up.
    files: Vec<Level>,
    added: Mutex<Added>,
    /// The encoding of an empty request.
    nothing: Vec<u8>,
    today: u32,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: Mutex<Damaged>,
}

/// A file of a cache.
struct Level {
    number: usize,
    file: PlanFile,
}

/// Plans that the files did not hold when they were opened; empty for plans that request nothing.
#[derive(Default)]
struct Added {
    plans: BTreeMap<ClassKey, Arc<[u8]>>,
    bytes: usize,
    /// The keys of plans that are not written yet.
    waiting: BTreeSet<ClassKey>,
    /// The times of the first and the last addition.
    times: Option<(Instant, Instant)>,
    /// Number of plans that no cache could store at the last write.
    refused: usize,
}

/// The damage found so far.
#[derive(Default)]
struct Damaged {
    /// The damaged parts: the index of the file in the order of look-up, and the offset in it.
    places: BTreeSet<(usize, u64)>,
    /// Number of damaged files and plans.
    count: u64,
    /// The last level with damage, which the next write replaces.
    level: Option<usize>,
}

/// The place of a plan that was found.
enum PlanSource<'s> {
    Added(Arc<[u8]>),
    Stored(usize, &'s PlanFile, Record),
}

impl PlanStore {
    /// Opens the plans of the plugin with this digest.
    pub(crate) fn open(caches: Arc<[Cache]>, digest: &str, config: &str, level: LogLevel) -> Self {
        // Neither a digest nor JSON in this form contains a line break.
        let identity = format!("{SOURCES}\n{digest}\n{level:?}\n{config}");
        let name = sha256_hex(identity.as_bytes());
        let mut files = Vec::new();
        let mut damaged = Damaged::default();
        for cache in &*caches {
            for (number, opened) in open_levels(cache, &name) {
                match opened {
                    Some(file) => files.push(Level { number, file }),
                    None => damaged.note_file(number),
                }
            }
        }
        let stored = files.first().map(|level| level.file.seed());
        let seed = stored.unwrap_or_else(|| new_seed(&caches, &name));
        // Keys of another seed belong to other classes; a process with other caches wrote them.
        files.retain(|level| level.file.seed() == seed);
        let mut nothing = Vec::new();
        PlanRequest::default().put(&mut nothing);
        Self {
            caches,
            name,
            seed,
            files,
            nothing,
            today: today(),
            added: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            damaged: Mutex::new(damaged),
        }
    }

    /// Returns the key of a class.
    pub(crate) fn key(&self, class: &ClassIdentity<'_>) -> ClassKey {
        class.key(&self.seed)
    }

    /// Checks whether the store has an empty plan for this class. Allocates nothing.
    pub(crate) fn holds_nothing(&self, key: &ClassKey) -> bool {
        match self.search(key) {
            Some(PlanSource::Added(plan)) => plan.is_empty(),
            Some(PlanSource::Stored(_, _, record)) => record.length == 0,
            None => false,
        }
    }

    /// Counts the use of an empty plan that [`PlanStore::holds_nothing`] found.
    pub(crate) fn note_use(&self, key: &ClassKey) {
        if let Some(PlanSource::Stored(_, _, record)) = self.search(key) {
            self.note_day(&record, &[]);
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the plugin's plan for this class, if known.
    pub(crate) fn find(&self, key: &ClassKey) -> Option<PlanRequest> {
        let found = self.search(key).and_then(|found| match found {
            PlanSource::Added(plan) => decode(&plan),
            PlanSource::Stored(at, file, record) => self.stored(at, file, &record),
        });
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Searches memory first, because its plans replace damaged ones in the files.
    fn search(&self, key: &ClassKey) -> Option<PlanSource<'_>> {
        if let Some(plan) = self.added().plans.get(key) {
            return Some(PlanSource::Added(Arc::clone(plan)));
        }
        for (at, Level { file, .. }) in self.files.iter().enumerate() {
            match file.find(key) {
                Ok(Some(record)) => return Some(PlanSource::Stored(at, file, record)),
                Ok(None) => {}
                Err(damage) => self.note_damage(at, damage),
            }
        }
        None
    }

    fn stored(&self, at: usize, file: &PlanFile, record: &Record) -> Option<PlanRequest> {
        let plan = match file.plan(record) {
            Ok(plan) => plan,
            Err(damage) => {
                self.note_damage(at, damage);
                return None;
            }
        };
        let request = decode(&plan);
        match request {
            Some(_) => self.note_day(record, &plan),
            None => self.damaged().count += 1,
        }
        request
    }

    /// Counts each damaged part once.
    fn note_damage(&self, at: usize, damage: Damage) {
        let level = self.files.get(at).map(|level| level.number);
        let mut damaged = self.damaged();
        if damaged.places.insert((at, damage.offset)) {
            damaged.count += 1;
            damaged.level = damaged.level.max(level);
        }
    }

    /// Updates the day of last use of a plan, if it is old, by adding the plan again.
    fn note_day(&self, record: &Record, plan: &[u8]) {
        if self.today.saturating_sub(record.day) >= USE_NOTED {
            self.add(record.key, plan);
        }
    }

    /// Stores the plugin's plan for this class, if the size limit allows.
    pub(crate) fn keep(&self, key: ClassKey, request: &PlanRequest) {
        let mut plan = Vec::new();
        request.put(&mut plan);
        if plan == self.nothing {
            plan.clear();
        }
        self.add(key, &plan);
    }

    fn add(&self, key: ClassKey, plan: &[u8]) {
        let mut added = self.added();
        if added.bytes + plan.len() > MAX_ADDED {
            return;
        }
        added.bytes += plan.len();
        added.plans.insert(key, plan.into());
        added.waiting.insert(key);
        let now = Instant::now();
        let first = added.times.map_or(now, |(first, _)| first);
        added.times = Some((first, now));
    }

    /// Checks whether new plans have waited long enough to be written.
    pub(crate) fn is_due(&self) -> bool {
        let due = |(first, last): (Instant, Instant)| {
            last.elapsed() >= SETTLED || first.elapsed() >= LATEST
        };
        self.added().times.is_some_and(due)
    }

    /// Writes new plans into the first cache that accepts them. Plans that no cache accepts wait
    /// for the next write.
    pub(crate) fn write(&self) {
        let waiting: Vec<_> = {
            let mut added = self.added();
            if added.times.take().is_none() {
                return;
            }
            let Added { plans, waiting, .. } = &*added;
            let waiting = waiting.iter();
            let plans = waiting.filter_map(|key| Some((*key, Arc::clone(plans.get(key)?))));
            plans.collect()
        };
        let mut caches = self.caches.iter();
        let is_kept = caches.any(|cache| self.write_into(cache, &waiting).is_ok());
        let mut added = self.added();
        added.refused = if is_kept { 0 } else { waiting.len() };
        if is_kept {
            for (key, _) in &waiting {
                added.waiting.remove(key);
            }
        }
    }

    /// Merges plans into the first level of a cache that can hold them together with all smaller
    /// levels.
    fn write_into(&self, cache: &Cache, added: &[(ClassKey, Arc<[u8]>)]) -> io::Result<()> {
        let mut damaged = self.damaged().level;
        let mut levels: [Option<PlanFile>; LEVELS.len()] = Default::default();
        for (number, opened) in open_levels(cache, &self.name) {
            if opened.is_none() {
                damaged = damaged.max(Some(number));
            }
            levels[number] = opened.filter(|file| file.seed() == self.seed);
        }
        let mut size = plan_file::size_of_added(added.len(), bytes(added));
        let mut target = None;
        for (number, (file, most)) in levels.iter().zip(LEVELS).enumerate() {
            size += file.as_ref().map_or(0, PlanFile::length);
            if target.is_none() && size <= most && damaged.is_none_or(|level| number >= level) {
                target = Some(number);
            }
        }
        let target = target.unwrap_or(LEVELS.len() - 1);
        let mut entries: Vec<_> = added
            .iter()
            .map(|(key, plan)| self.entry(key, plan))
            .collect();
        for file in levels.iter().take(target + 1).flatten() {
            entries.extend(file.records().map(|record| Entry {
                key: record.key,
                day: record.day,
                source: Source::File(file, record),
            }));
        }
        let macs = macs(cache, &self.name);
        cache.replace_plans(&level_name(&self.name, target), |out| {
            plan_file::write(out, &self.seed, macs, entries, LEVELS[target])
        })?;
        let merged = (0..target).map(|number| level_name(&self.name, number));
        merged.for_each(|file| cache.remove_plans(&file));
        Ok(())
    }

    fn entry<'p>(&self, key: &ClassKey, plan: &'p [u8]) -> Entry<'p> {
        Entry {
            key: *key,
            day: self.today,
            source: Source::Memory(plan),
        }
    }

    /// Returns the counts of look-ups so far.
    pub(crate) fn counts(&self) -> PlanCounts {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        PlanCounts {
            hits: now(&self.hits),
            misses: now(&self.misses),
            damaged: self.damaged().count,
            read: self.files.iter().map(|level| level.file.bytes_read()).sum(),
            unwritten: self.added().refused as u64,
        }
    }

    fn added(&self) -> MutexGuard<'_, Added> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn damaged(&self) -> MutexGuard<'_, Damaged> {
        self.damaged.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Damaged {
    /// Counts a file that cannot be opened or is damaged.
    fn note_file(&mut self, level: usize) {
        self.count += 1;
        self.level = self.level.max(Some(level));
    }
}

/// Decodes a plan. Returns `None` if the bytes are invalid.
fn decode(mut plan: &[u8]) -> Option<PlanRequest> {
    if plan.is_empty() {
        return Some(PlanRequest::default());
    }
    PlanRequest::take(&mut plan).filter(|_| plan.is_empty())
}

/// Opens the existing files, the smallest level first; `None` for a damaged file.
///
/// A merge writes the next level before it removes the smaller one, so this order misses no plan.
fn open_levels(cache: &Cache, name: &str) -> Vec<(usize, Option<PlanFile>)> {
    let macs = macs(cache, name);
    let open = |(number, most): (usize, u64)| match cache.plans(&level_name(name, number), most) {
        Ok((file, length)) => Some((number, PlanFile::open(file, length, macs))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some((number, None)),
    };
    LEVELS.into_iter().enumerate().filter_map(open).collect()
}

fn level_name(name: &str, level: usize) -> String {
    format!("{name}-{level}")
}

fn macs(cache: &Cache, name: &str) -> Macs {
    Macs(Seed(cache.secret(name, "mac")))
}

fn bytes(plans: &[(ClassKey, Arc<[u8]>)]) -> usize {
    plans.iter().map(|(_, plan)| plan.len()).sum()
}

/// Returns a seed for the keys of a new file. It derives from the first cache, if any, so that
/// processes that create a file at the same time use the same keys.
fn new_seed(caches: &[Cache], name: &str) -> Seed {
    let random = || {
        let mut bytes = [0; 32];
        for word in bytes.as_chunks_mut().0 {
            *word = RandomState::new().hash_one(0).to_le_bytes();
        }
        bytes
    };
    Seed(
        caches
            .first()
            .map_or_else(random, |cache| cache.secret(name, "seed")),
    )
}

/// Returns the number of days since 1970, at least one.
fn today() -> u32 {
    let days = UNIX_EPOCH
        .elapsed()
        .map_or(0, |time| time.as_secs() / 86_400);
    u32::try_from(days).unwrap_or(u32::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    fn folder() -> tempfile::TempDir {
        let mut builder = tempfile::Builder::new();
        builder
            .permissions(fs::Permissions::from_mode(0o700))
            .tempdir()
            .unwrap()
    }

    fn store(folder: &tempfile::TempDir) -> PlanStore {
        let caches = Arc::new([Cache::open(folder.path()).unwrap()]);
        PlanStore::open(caches, "digest", "{}", LogLevel::Off)
    }

    fn key(number: u8) -> ClassKey {
        ClassKey([number; 16])
    }

    /// Simulates a full disk: no file is half-written, and new plans wait for the next write.
    #[test]
    fn plans_that_cannot_be_written_wait_and_are_counted() {
        let folder = folder();
        let first = store(&folder);
        let file = folder.path().join(format!("{}-0.plans", first.name));
        fs::create_dir(&file).unwrap();
        first.keep(key(1), &PlanRequest::default());
        first.write();
        assert_eq!(first.counts().unwritten, 1);
        let entries = fs::read_dir(folder.path()).unwrap();
        let names: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
        assert!(names.len() == 2 && names.contains(&file), "{names:?}");
        fs::remove_dir(&file).unwrap();
        first.keep(key(2), &PlanRequest::default());
        first.write();
        assert_eq!(first.counts().unwritten, 0);
        let later = store(&folder);
        assert!(later.holds_nothing(&key(1)) && later.holds_nothing(&key(2)));
        assert!(!later.holds_nothing(&key(3)));
    }

    #[test]
    fn day_of_last_use_is_updated() {
        let folder = folder();
        let first = store(&folder);
        first.keep(key(1), &PlanRequest::default());
        first.write();
        let mut later = store(&folder);
        later.note_use(&key(1));
        assert!(later.added().waiting.is_empty(), "it was used today");
        later.today += USE_NOTED;
        later.note_use(&key(1));
        later.write();
        let last = store(&folder);
        let record = last.files[0].file.find(&key(1)).unwrap().unwrap();
        assert_eq!((record.day, last.files.len()), (later.today, 1));
    }
}
