//! What one plugin asked for in the classes that it was shown before, in this process or another of this user.
//!
//! A file holds the plans of one plugin with one configuration, and is read once, when the plugin is loaded. What the
//! plugin is asked for after that is kept in memory, and the file replaced by one that holds both, with whatever other
//! processes have added meanwhile. The last of two that replace it at once has it: what the other added is asked again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, UNIX_EPOCH};

use plan_rules::PlanRequest;
use plugin_code::sha256_hex;
use rewriter::stored::Stored;

use crate::cache::{Cache, Sealed};
use crate::class::ClassIdentity;
use crate::config::LogLevel;
use crate::outcome::PlanCounts;
use crate::stored_plans::{ClassKey, Seed, StoredPlans, content};

/// Most bytes of new plans that are kept of one plugin.
const MAX_ADDED: usize = 16 << 20;
/// The file is written when no class has come for so long …
const SETTLED: Duration = Duration::from_secs(1);
/// … or a plan has waited for so long.
const LATEST: Duration = Duration::from_secs(30);
/// The sources of everything that decides what a plan is and how it is stored, as a digest.
const SOURCES: &str = env!("CLASSHOOK_SOURCES");

/// The plans of one plugin with one configuration.
pub(crate) struct PlanStore {
    caches: Arc<[Cache]>,
    file: String,
    seed: Seed,
    known: StoredPlans,
    /// Which of the known plans were used.
    used: Box<[AtomicBool]>,
    added: Mutex<Added>,
    /// How a request that asks for nothing is written.
    nothing: Vec<u8>,
    hits: AtomicU64,
    misses: AtomicU64,
    damaged: AtomicU64,
}

/// Plans that the file does not hold, or did not when it was read.
#[derive(Default)]
struct Added {
    plans: BTreeMap<ClassKey, Arc<[u8]>>,
    bytes: usize,
    /// When the first and the last of those came that are not in the file.
    waiting: Option<(Instant, Instant)>,
}

impl PlanStore {
    /// Of the plugin with this digest.
    pub(crate) fn open(caches: Arc<[Cache]>, digest: &str, config: &str, level: LogLevel) -> Self {
        // A digest holds no line end, and neither does JSON as it is written here.
        let identity = format!("{SOURCES}\n{digest}\n{level:?}\n{config}");
        let file = sha256_hex(identity.as_bytes());
        let (known, damaged) = read(&caches, &file);
        let seed = known.seed().unwrap_or_else(|| new_seed(&caches, &file));
        let mut nothing = Vec::new();
        PlanRequest::default().put(&mut nothing);
        Self {
            seed,
            nothing,
            used: (0..known.len()).map(|_| AtomicBool::new(false)).collect(),
            caches,
            file,
            known,
            added: Mutex::default(),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
            damaged: AtomicU64::new(damaged),
        }
    }

    /// What a class is found by.
    pub(crate) fn key(&self, class: &ClassIdentity<'_>) -> ClassKey {
        class.key(&self.seed)
    }

    /// Whether it is known that the plugin asks for nothing in this class. Allocates nothing.
    pub(crate) fn holds_nothing(&self, key: &ClassKey) -> bool {
        match self.known.find(key) {
            Some((_, plan)) => plan == self.nothing,
            None => {
                let added = self.added();
                let plan = added.plans.get(key);
                plan.is_some_and(|plan| **plan == *self.nothing)
            }
        }
    }

    /// Counts a class that was found by [`PlanStore::holds_nothing`].
    pub(crate) fn note_use(&self, key: &ClassKey) {
        if let Some((at, _)) = self.known.find(key) {
            self.note_used(at);
        }
        self.hits.fetch_add(1, Ordering::Relaxed);
    }

    fn note_used(&self, at: usize) {
        if let Some(used) = self.used.get(at) {
            used.store(true, Ordering::Relaxed);
        }
    }

    /// What the plugin asked for in this class before.
    pub(crate) fn find(&self, key: &ClassKey) -> Option<PlanRequest> {
        let found = match self.known.find(key) {
            Some((at, plan)) => {
                self.note_used(at);
                self.decode(plan)
            }
            None => None,
        };
        let found = found.or_else(|| {
            let plan = self.added().plans.get(key).cloned()?;
            self.decode(&plan)
        });
        let count = if found.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        count.fetch_add(1, Ordering::Relaxed);
        found
    }

    fn decode(&self, mut plan: &[u8]) -> Option<PlanRequest> {
        let found = PlanRequest::take(&mut plan).filter(|_| plan.is_empty());
        if found.is_none() {
            self.damaged.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// Keeps what the plugin asks for in this class, if there is room.
    pub(crate) fn keep(&self, key: ClassKey, request: &PlanRequest) {
        let mut plan = Vec::new();
        request.put(&mut plan);
        let mut added = self.added();
        if added.bytes + plan.len() > MAX_ADDED {
            return;
        }
        added.bytes += plan.len();
        added.plans.insert(key, plan.into());
        let now = Instant::now();
        let first = added.waiting.map_or(now, |(first, _)| first);
        added.waiting = Some((first, now));
    }

    /// Whether plans have waited long enough to be written.
    pub(crate) fn is_due(&self) -> bool {
        let due = |(first, last): (Instant, Instant)| {
            last.elapsed() >= SETTLED || first.elapsed() >= LATEST
        };
        self.added().waiting.is_some_and(due)
    }

    /// Writes what is new into the first cache that takes it; where none does, it is asked again by the next process.
    pub(crate) fn write(&self) {
        let added = {
            let mut added = self.added();
            if added.waiting.take().is_none() {
                return;
            }
            added.plans.clone()
        };
        let today = today();
        let in_use = |at: usize| {
            let used = self.used.get(at);
            used.is_some_and(|used| used.load(Ordering::Relaxed))
                .then_some(today)
        };
        for cache in &*self.caches {
            let there = match cache.plans(&self.file) {
                Sealed::Whole(bytes, start) => StoredPlans::read(bytes, start),
                Sealed::Absent | Sealed::Damaged => None,
            };
            let mut plans = self.known.all(in_use);
            // Keys of another seed stand for other classes: a process that was started with other caches wrote them.
            if let Some(there) = there
                .as_ref()
                .filter(|there| there.seed() == Some(self.seed))
            {
                let others = there.all(|_| None);
                others.into_iter().for_each(|(key, plan)| {
                    plans.entry(key).or_insert(plan);
                });
            }
            plans.extend(added.iter().map(|(key, plan)| (*key, (today, &**plan))));
            if cache
                .keep_plans(&self.file, &content(&self.seed, plans))
                .is_ok()
            {
                return;
            }
        }
    }

    /// What came of it so far.
    pub(crate) fn counts(&self) -> PlanCounts {
        let now = |count: &AtomicU64| count.load(Ordering::Relaxed);
        PlanCounts {
            hits: now(&self.hits),
            misses: now(&self.misses),
            damaged: now(&self.damaged),
        }
    }

    fn added(&self) -> MutexGuard<'_, Added> {
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the first cache holds that has the file, and how many files are damaged.
fn read(caches: &[Cache], file: &str) -> (StoredPlans, u64) {
    let mut damaged = 0;
    for cache in caches {
        let plans = match cache.plans(file) {
            Sealed::Absent => continue,
            Sealed::Whole(bytes, start) => StoredPlans::read(bytes, start),
            Sealed::Damaged => None,
        };
        match plans {
            Some(plans) => return (plans, damaged),
            None => damaged += 1,
        }
    }
    (StoredPlans::default(), damaged)
}

/// The seed of keys that no file holds yet: that of the first cache, where there is one, so that processes which begin
/// a file at the same time understand one another.
fn new_seed(caches: &[Cache], file: &str) -> Seed {
    let random = || {
        let mut bytes = [0; 32];
        for word in bytes.as_chunks_mut().0 {
            *word = RandomState::new().hash_one(0).to_le_bytes();
        }
        bytes
    };
    Seed(caches.first().map_or_else(random, |cache| cache.seed(file)))
}

/// Days since 1970.
fn today() -> u32 {
    let days = UNIX_EPOCH
        .elapsed()
        .map_or(0, |time| time.as_secs() / 86_400);
    u32::try_from(days).unwrap_or(u32::MAX)
}
