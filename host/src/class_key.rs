//! Keys of the plan cache: keyed digests of everything that a plugin can see of a class.

use highway::{HighwayHash, HighwayHasher, Key};

/// The secret of a keyed digest: nobody who does not know it can make two classes with one key, or a MAC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Seed(pub(crate) [u8; SEED]);

/// A keyed digest (HighwayHash) of everything that a plugin can see of a class.
///
/// It takes a tenth of the time of SHA-256, so that finding a class takes less than asking about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClassKey(pub(crate) [u8; KEY]);

impl ClassKey {
    /// Digests these parts, one after the other.
    pub(crate) fn of(seed: &Seed, parts: &[&[u8]]) -> Self {
        Self(keyed_digest(seed, parts))
    }

    /// The number of this key's home among `blocks` blocks, in the order of the keys.
    pub(crate) fn home(&self, blocks: u32) -> u32 {
        let first = self
            .0
            .first_chunk()
            .map_or(0, |bytes| u32::from_be_bytes(*bytes));
        // Less than `blocks`.
        ((u64::from(first) * u64::from(blocks)) >> 32) as u32
    }
}

/// Bytes of a seed.
pub(crate) const SEED: usize = 32;
/// Bytes of a key, and of a MAC.
pub(crate) const KEY: usize = 16;

/// Returns the keyed digest of 128 bits of these parts, one after the other.
pub(crate) fn keyed_digest(seed: &Seed, parts: &[&[u8]]) -> [u8; KEY] {
    let (words, _) = seed.0.as_chunks();
    let mut key = Key([0; 4]);
    for (to, word) in key.0.iter_mut().zip(words) {
        *to = u64::from_le_bytes(*word);
    }
    let mut hasher = HighwayHasher::new(key);
    parts.iter().for_each(|part| hasher.append(part));
    let [low, high] = hasher.finalize128();
    let digest = u128::from(high) << 64 | u128::from(low);
    digest.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn homes_are_in_the_order_of_the_keys() {
        let homes = [[0; KEY], [0x7F; KEY], [0x80; KEY], [0xFF; KEY]];
        let homes = homes.map(|key| ClassKey(key).home(10));
        assert_eq!(homes, [0, 4, 5, 9]);
        assert_eq!(ClassKey([0xFF; KEY]).home(1), 0);
    }
}
