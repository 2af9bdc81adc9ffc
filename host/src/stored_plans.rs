//! The content of a file of plans: what one plugin with one configuration asked for in many classes.
//!
//! ```text
//! seed of the keys, 32 bytes
//! number of classes, 4 bytes, little-endian as all numbers here
//! for each, in the order of the keys: key, 16 bytes; day of last use; offset and length of the plan, 4 bytes each
//! the plans
//! ```

use std::collections::BTreeMap;

use highway::{HighwayHash, HighwayHasher, Key};

/// What makes the keys of one file unlike those of any other, so that nobody who does not know it can make two classes
/// with one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seed(pub(crate) [u8; SEED]);

/// What a plugin can see of a class, as a keyed digest (HighwayHash): it takes a tenth of the time of SHA-256, so that a
/// class is found in less than it takes to ask about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClassKey([u8; KEY]);

impl ClassKey {
    /// Of these parts, one after the other.
    pub(crate) fn of(seed: &Seed, parts: &[&[u8]]) -> Self {
        let (words, _) = seed.0.as_chunks();
        let mut key = Key([0; 4]);
        for (to, word) in key.0.iter_mut().zip(words) {
            *to = u64::from_le_bytes(*word);
        }
        let mut hasher = HighwayHasher::new(key);
        parts.iter().for_each(|part| hasher.append(part));
        let [low, high] = hasher.finalize128();
        let digest = u128::from(high) << 64 | u128::from(low);
        Self(digest.to_le_bytes())
    }
}

const SEED: usize = 32;
const KEY: usize = 16;
/// Seed and number of classes.
const HEAD: usize = SEED + 4;
/// Key, day, offset and length.
const ENTRY: usize = KEY + 12;
/// Most bytes of a file's content.
pub(crate) const MAX_PLANS: usize = 32 << 20;

/// A file's content.
#[derive(Debug, Default)]
pub(crate) struct StoredPlans {
    bytes: Vec<u8>,
    /// Where the content begins, and the number of its classes.
    start: usize,
    count: usize,
}

/// Plans by their classes, with the days on which they were used last.
pub(crate) type Plans<'p> = BTreeMap<ClassKey, (u32, &'p [u8])>;

impl StoredPlans {
    /// Takes content that begins at `start`; none if it is none.
    pub(crate) fn read(bytes: Vec<u8>, start: usize) -> Option<Self> {
        let count = number(bytes.get(start..)?, SEED)?;
        let plans = Self {
            count: usize::try_from(count).ok()?,
            bytes,
            start,
        };
        (plans.entries().len() == plans.count).then_some(plans)
    }

    /// The seed of its keys; none of content that is none.
    pub(crate) fn seed(&self) -> Option<Seed> {
        let seed = self.bytes.get(self.start..)?.first_chunk()?;
        Some(Seed(*seed))
    }

    fn entries(&self) -> &[[u8; ENTRY]] {
        let entries = self.bytes.get(self.start + HEAD..).unwrap_or_default();
        let (entries, _) = entries.as_chunks::<ENTRY>();
        entries.get(..self.count).unwrap_or_default()
    }

    /// Number of classes.
    pub(crate) fn len(&self) -> usize {
        self.count
    }

    /// The plan of a class, and its position.
    pub(crate) fn find(&self, key: &ClassKey) -> Option<(usize, &[u8])> {
        let entries = self.entries();
        let at = entries.binary_search_by(|entry| entry[..KEY].cmp(&key.0[..]));
        let at = at.ok()?;
        Some((at, self.plan(entries.get(at)?)?))
    }

    fn plan(&self, entry: &[u8; ENTRY]) -> Option<&[u8]> {
        let (offset, length) = (number(entry, KEY + 4)?, number(entry, KEY + 8)?);
        let from = self.start + HEAD + self.count * ENTRY + usize::try_from(offset).ok()?;
        self.bytes.get(from..from + usize::try_from(length).ok()?)
    }

    /// All plans; `day` says when the one at a position was used last, if that is later.
    pub(crate) fn all(&self, day: impl Fn(usize) -> Option<u32>) -> Plans<'_> {
        let entries = self.entries().iter().enumerate();
        let plans = entries.filter_map(|(at, entry)| {
            let key = ClassKey(*entry.first_chunk()?);
            let day = day(at).or_else(|| number(entry, KEY))?;
            Some((key, (day, self.plan(entry)?)))
        });
        plans.collect()
    }
}

/// The content of a file with these plans, whose keys are of this seed, but for those that were not used for longest, where there are too many.
pub(crate) fn content(seed: &Seed, mut plans: Plans<'_>) -> Vec<u8> {
    make_room(&mut plans, MAX_PLANS);
    let mut bytes = Vec::with_capacity(size(&plans));
    bytes.extend_from_slice(&seed.0);
    // Lengths and offsets are at most MAX_PLANS.
    bytes.extend_from_slice(&(plans.len() as u32).to_le_bytes());
    let mut offset = 0;
    for (key, (day, plan)) in &plans {
        bytes.extend_from_slice(&key.0);
        let length = plan.len() as u32;
        for number in [*day, offset, length] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        offset += length;
    }
    plans
        .values()
        .for_each(|(_, plan)| bytes.extend_from_slice(plan));
    bytes
}

fn size(plans: &Plans<'_>) -> usize {
    let plans = plans.values().map(|(_, plan)| ENTRY + plan.len());
    HEAD + plans.sum::<usize>()
}

/// Takes out what was not used for longest until the rest has room.
fn make_room(plans: &mut Plans<'_>, most: usize) {
    let mut size = size(plans);
    if size <= most {
        return;
    }
    let mut by_use: Vec<_> = plans
        .iter()
        .map(|(key, (day, plan))| (*day, *key, plan.len()))
        .collect();
    by_use.sort_unstable();
    for (_, key, length) in by_use {
        if size <= most {
            return;
        }
        plans.remove(&key);
        size -= ENTRY + length;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u8) -> ClassKey {
        ClassKey([number; KEY])
    }

    fn three() -> Vec<u8> {
        let plans = [(7, 3, &b"seven"[..]), (1, 9, b""), (4, 5, b"four")];
        let plans = plans.map(|(it, day, plan)| (key(it), (day, plan)));
        content(&Seed([9; SEED]), plans.into())
    }

    #[test]
    fn plans_are_found_by_their_classes() {
        let plans = StoredPlans::read([b"seal", &three()[..]].concat(), 4).unwrap();
        assert_eq!((plans.len(), plans.seed()), (3, Some(Seed([9; SEED]))));
        assert_eq!(plans.find(&key(7)), Some((2, &b"seven"[..])));
        assert_eq!(plans.find(&key(1)), Some((0, &b""[..])));
        assert_eq!(plans.find(&key(2)), None);
        let all = plans.all(|at| (at == 1).then_some(10));
        assert_eq!(all[&key(4)], (10, &b"four"[..]));
        assert_eq!(all[&key(7)], (3, &b"seven"[..]));
        let none = StoredPlans::default();
        assert!(none.find(&key(7)).is_none() && none.seed().is_none());
    }

    /// With the key and the value of the crate's documentation.
    #[test]
    fn keys_are_the_same_on_every_machine() {
        let words = [1_u64, 2, 3, 4].map(u64::to_le_bytes);
        let seed = Seed(*words.as_flattened().first_chunk().unwrap());
        let expected = [0xBB00_7D24_62E7_7F3C_u64, 0x2245_08F9_16B3_991F];
        let expected = expected.map(u64::to_le_bytes);
        assert_eq!(ClassKey::of(&seed, &[&[255]]).0, expected.as_flattened());
        let text: Vec<u8> = (0..100).collect();
        let pieces = [&text[..3], &[], &text[3..40], &text[40..]];
        assert_eq!(ClassKey::of(&seed, &[&text]), ClassKey::of(&seed, &pieces));
    }

    /// Any bit of the class, and any of the seed.
    #[test]
    fn every_bit_makes_another_key() {
        let class = vec![0xCA; 300];
        let mut keys =
            std::collections::BTreeSet::from([ClassKey::of(&Seed([0; SEED]), &[&class])]);
        for bit in 0..300 * 8 {
            let mut changed = class.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(
                keys.insert(ClassKey::of(&Seed([0; SEED]), &[&changed])),
                "{bit}"
            );
        }
        for bit in 0..SEED * 8 {
            let mut seed = Seed([0; SEED]);
            seed.0[bit / 8] ^= 1 << (bit % 8);
            assert!(keys.insert(ClassKey::of(&seed, &[&class])), "{bit}");
        }
    }

    #[test]
    fn content_that_is_cut_or_changed_is_none_or_lacks_plans() {
        let whole = three();
        for end in 0..whole.len() {
            if let Some(plans) = StoredPlans::read(whole[..end].to_vec(), 0) {
                assert!(plans.all(|_| None).len() <= 3, "{end}");
            }
        }
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x80;
            if let Some(plans) = StoredPlans::read(changed, 0) {
                plans.find(&key(7));
                plans.all(|_| None);
            }
        }
    }

    #[test]
    fn plans_that_were_not_used_for_longest_make_room() {
        let mut plans: Plans<'_> = (0..10)
            .map(|it| (key(it), (u32::from(it % 5), &b"12345678"[..])))
            .collect();
        make_room(&mut plans, HEAD + 6 * (ENTRY + 8));
        let left: Vec<u8> = plans.keys().map(|key| key.0[0]).collect();
        assert_eq!(left, [2, 3, 4, 7, 8, 9]);
        make_room(&mut plans, 0);
        assert!(plans.is_empty());
    }
}
