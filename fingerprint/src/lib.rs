//! The identity of a class (JaCoCo's class id).
//!
//! A register holds a polynomial over GF(2) with its bits reversed. The lowest bit is the coefficient of x⁶³, so a
//! right shift multiplies by x. Modulo the polynomial of this sum, x⁶⁴ is x⁴ + x³ + x + 1, or (x + 1)(x³ + 1). A few
//! shifts therefore replace the usual tables.

#![forbid(unsafe_code)]

/// Number of remainders computed side by side; the steps of a single one depend on each other.
const LANES: usize = 4;
/// Words and bytes of a block.
const WORDS: usize = 64;
const BLOCK: usize = 8 * WORDS;

/// Computes the CRC-64 of a class file that is JaCoCo's class id: reflected polynomial `D800000000000000`, start value
/// 0, nothing added at the end. A `major_version` of 53 is hashed as 52.
///
/// ```
/// assert_eq!(fingerprint::of(b"123456789"), 0x46A5_A938_8A5B_EFFE);
/// ```
#[must_use]
pub fn of(bytes: &[u8]) -> u64 {
    let (head, rest) = bytes.split_at(bytes.len().min(8));
    match head {
        [a, b, c, d, e, f, 0, 53] => update(update(0, &[*a, *b, *c, *d, *e, *f, 0, 52]), rest),
        _ => update(0, bytes),
    }
}

/// Returns the remainder of `sum` followed by `bytes`.
fn update(sum: u64, bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut sum = match blocks.split_first() {
        Some((first, blocks)) => side_by_side(0, folded(sum, first, blocks).as_chunks().0),
        None => sum,
    };
    let (words, bytes) = rest.as_chunks::<8>();
    for word in words {
        sum = one_word_on(sum ^ u64::from_le_bytes(*word));
    }
    for byte in bytes {
        let low = (sum ^ u64::from(*byte)) & 0xFF;
        sum = (sum >> 8) ^ one_word_on(low << 56);
    }
    sum
}

/// Returns a block with the remainder of `sum` followed by all these blocks.
///
/// x⁴⁰⁹⁶ is x²⁵⁶ + x¹⁹² + x⁶⁴ + 1. So a word may be added to the words 60, 61, 63 and 64 after it instead, without a
/// shift.
fn folded(sum: u64, first: &[u8; BLOCK], blocks: &[[u8; BLOCK]]) -> [u64; WORDS] {
    let mut words = words_of(first);
    words[0] ^= sum;
    // Zeros follow the block.
    let mut before = [0; WORDS + 4];
    for block in blocks {
        for (to, word) in before.iter_mut().zip(words) {
            *to = word;
        }
        // The first four words affect the last four of their own block.
        before[60] ^= before[0];
        before[61] ^= before[0] ^ before[1];
        before[62] ^= before[1] ^ before[2];
        before[63] ^= before[0] ^ before[2] ^ before[3];
        words = words_of(block);
        for (word, from) in words.iter_mut().zip(before.array_windows()) {
            let [a, b, _, c, d] = from;
            *word ^= a ^ b ^ c ^ d;
        }
    }
    words
}

fn words_of(block: &[u8; BLOCK]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// Each lane takes every fourth word; the last four words join the lanes.
fn side_by_side(sum: u64, words: &[[u64; LANES]]) -> u64 {
    let mut lanes = [0; LANES];
    for four in words {
        for (lane, word) in lanes.iter_mut().zip(four) {
            *lane = one_block_on(*lane) ^ word;
        }
    }
    lanes.iter().fold(sum, |sum, lane| one_word_on(sum ^ lane))
}

/// Returns the remainder of `word`·x⁶⁴: eight zero bytes follow.
#[inline(always)]
fn one_word_on(word: u64) -> u64 {
    let once = word ^ word >> 1;
    let low = once ^ once >> 3;
    // The bits shifted out, from x⁶⁴ on.
    let high = (word << 63) ^ (word << 63) >> 3 ^ once << 61;
    low ^ reduced(high)
}

/// Returns the remainder of `word`·x²⁵⁶; x²⁵⁶ is (x⁴ + 1)(x¹² + 1).
#[inline(always)]
fn one_block_on(word: u64) -> u64 {
    let once = word ^ word >> 4;
    let low = once ^ once >> 12;
    let high = (word << 60) ^ (word << 60) >> 12 ^ once << 52;
    low ^ reduced(high)
}

/// Returns the remainder of `high`·x⁶⁴ for a degree of `high` below 60.
#[inline(always)]
fn reduced(high: u64) -> u64 {
    let once = high ^ high >> 1;
    once ^ once >> 3
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the sum by its definition, bit by bit.
    fn by_definition(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |sum, byte| {
            (0..8).fold(sum ^ u64::from(*byte), |sum, _| {
                (sum >> 1)
                    ^ if sum & 1 == 1 {
                        0xD800_0000_0000_0000
                    } else {
                        0
                    }
            })
        })
    }

    #[test]
    fn known_sums() {
        assert_eq!(of(b""), 0);
        assert_eq!(by_definition(&[1]), 0x01B0_0000_0000_0000);
        assert_eq!(
            of(&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 0x34]),
            0xA9C0_0000_FDDB_719A
        );
    }

    #[test]
    fn java_9_is_hashed_as_java_8() {
        let mut eight: Vec<u8> = (0..100).collect();
        (eight[6], eight[7]) = (0, 52);
        let mut nine = eight.clone();
        nine[7] = 53;
        assert_eq!(of(&eight), of(&nine));
        assert_eq!(of(&eight[..8]), of(&nine[..8]));
    }

    #[test]
    fn folded_words_equal_one_bit_after_the_other() {
        let bytes: Vec<u8> = (0..5000_u32).map(|n| (n * 7 + n / 3) as u8).collect();
        let lengths = (0..200).chain(500..530).chain(1020..1100);
        for length in lengths.chain([4095, 4096, 4999, 5000]) {
            assert_eq!(
                update(0, &bytes[..length]),
                by_definition(&bytes[..length]),
                "{length}"
            );
        }
        let (head, rest) = bytes.split_at(8);
        assert_eq!(update(update(0, head), rest), by_definition(&bytes));
    }
}
