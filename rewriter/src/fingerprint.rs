//! The identity of a class (JaCoCo's class id).

/// Bytes per step.
const LANES: usize = 16;

/// The polynomial, bits reversed.
const POLYNOMIAL: u64 = 0xD800_0000_0000_0000;

/// `TABLES[k][b]`: the remainder of byte `b` followed by `k` zero bytes.
static TABLES: [[u64; 256]; LANES] = tables();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated by the compiler, from constants"
)]
const fn tables() -> [[u64; 256]; LANES] {
    let mut tables = [[0; 256]; LANES];
    let mut byte = 0;
    while byte < 256 {
        let mut remainder = byte as u64;
        let mut bit = 0;
        while bit < 8 {
            let carry = remainder & 1 == 1;
            remainder >>= 1;
            if carry {
                remainder ^= POLYNOMIAL;
            }
            bit += 1;
        }
        tables[0][byte] = remainder;
        byte += 1;
    }
    let mut lane = 1;
    while lane < LANES {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[lane - 1][byte];
            tables[lane][byte] = (before >> 8) ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        lane += 1;
    }
    tables
}

/// Bytes of each of the four parts whose remainders are found side by side: one
/// remainder alone waits for its tables most of the time.
const PART: usize = 128;

/// `SHIFTS[k][n]`: the remainder of nibble `k`, from the lowest, of value `n`
/// followed by [`PART`] zero bytes.
static SHIFTS: [[u64; 16]; 16] = shifts();

#[expect(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "evaluated by the compiler, from constants"
)]
const fn shifts() -> [[u64; 16]; 16] {
    let zero = tables()[0];
    let mut shifts = [[0; 16]; 16];
    let mut bit = 0;
    while bit < 64 {
        let mut remainder = 1_u64 << bit;
        let mut byte = 0;
        while byte < PART {
            remainder = (remainder >> 8) ^ zero[(remainder & 0xFF) as usize];
            byte += 1;
        }
        let mut value = 0;
        while value < 16 {
            if value >> (bit % 4) & 1 == 1 {
                shifts[bit / 4][value] ^= remainder;
            }
            value += 1;
        }
        bit += 1;
    }
    shifts
}

/// CRC-64 of a class file as JaCoCo computes its class id: reflected
/// polynomial `D800000000000000`, start value 0, nothing added at the end, and
/// a `major_version` of 53 hashed as if it were 52.
///
/// ```
/// assert_eq!(rewriter::fingerprint(b"123456789"), 0x46A5_A938_8A5B_EFFE);
/// ```
#[must_use]
pub fn fingerprint(bytes: &[u8]) -> u64 {
    let (head, rest) = bytes.split_at(bytes.len().min(8));
    match head {
        [a, b, c, d, e, f, 0, 53] => update(update(0, &[*a, *b, *c, *d, *e, *f, 0, 52]), rest),
        _ => update(0, bytes),
    }
}

#[inline]
#[expect(
    clippy::indexing_slicing,
    reason = "a table of 256 entries, indexed with a byte"
)]
fn entry(lane: usize, byte: u64) -> u64 {
    TABLES
        .get(lane)
        .map_or(0, |table| table[usize::from(byte as u8)])
}

fn update(mut sum: u64, bytes: &[u8]) -> u64 {
    let (fours, bytes) = bytes.as_chunks::<{ 4 * PART }>();
    for four in fours {
        sum = four_parts(sum, four);
    }
    let (chunks, rest) = bytes.as_chunks::<LANES>();
    for chunk in chunks {
        sum = sixteen(sum, chunk);
    }
    for byte in rest {
        sum = (sum >> 8) ^ entry(0, (sum ^ u64::from(*byte)) & 0xFF);
    }
    sum
}

/// The remainder of four parts, each found on its own.
fn four_parts(sum: u64, four: &[u8; 4 * PART]) -> u64 {
    let (chunks, _) = four.as_chunks::<LANES>();
    let (parts, _) = chunks.as_chunks::<{ PART / LANES }>();
    let [a, b, c, d] = parts else { return sum };
    let mut sums = [sum, 0, 0, 0];
    for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
        let [w, x, y, z] = sums;
        sums = [sixteen(w, a), sixteen(x, b), sixteen(y, c), sixteen(z, d)];
    }
    let [a, b, c, d] = sums;
    shift(shift(shift(a) ^ b) ^ c) ^ d
}

/// The remainder when [`PART`] zero bytes follow.
fn shift(sum: u64) -> u64 {
    let nibbles = SHIFTS.iter().enumerate();
    nibbles.fold(0, |all, (nibble, table)| {
        let value = sum.wrapping_shr(4_u32.wrapping_mul(nibble as u32)) & 15;
        all ^ table.get(value as usize).copied().unwrap_or(0)
    })
}

#[inline(always)]
fn sixteen(sum: u64, chunk: &[u8; LANES]) -> u64 {
    let chunk = u128::from_le_bytes(*chunk);
    let low = sum ^ chunk as u64;
    let high = (chunk >> 64) as u64;
    eight(low, 8) ^ eight(high, 0)
}

/// The remainders of eight bytes that `lanes` more bytes follow.
#[inline(always)]
fn eight(word: u64, lanes: usize) -> u64 {
    let lane = |back: usize| lanes.wrapping_add(back);
    entry(lane(7), word & 0xFF)
        ^ entry(lane(6), (word >> 8) & 0xFF)
        ^ entry(lane(5), (word >> 16) & 0xFF)
        ^ entry(lane(4), (word >> 24) & 0xFF)
        ^ entry(lane(3), (word >> 32) & 0xFF)
        ^ entry(lane(2), (word >> 40) & 0xFF)
        ^ entry(lane(1), (word >> 48) & 0xFF)
        ^ entry(lane(0), word >> 56)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_sums() {
        assert_eq!(fingerprint(b""), 0);
        assert_eq!(TABLES[0][1], 0x01B0_0000_0000_0000);
        assert_eq!(
            fingerprint(&[0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 0x34]),
            0xA9C0_0000_FDDB_719A
        );
    }

    #[test]
    fn java_9_is_hashed_as_java_8() {
        let eight: Vec<u8> = (0..100)
            .map(|n| {
                if n == 6 {
                    0
                } else if n == 7 {
                    52
                } else {
                    n
                }
            })
            .collect();
        let mut nine = eight.clone();
        nine[7] = 53;
        assert_eq!(fingerprint(&eight), fingerprint(&nine));
        assert_eq!(fingerprint(&eight[..8]), fingerprint(&nine[..8]));
    }

    #[test]
    fn sixteen_at_a_time_equals_one_at_a_time() {
        let bytes: Vec<u8> = (0..1000u32).map(|n| (n * 7 + n / 3) as u8).collect();
        let slow = bytes.iter().fold(0u64, |sum, byte| {
            (sum >> 8) ^ TABLES[0][((sum ^ u64::from(*byte)) & 0xFF) as usize]
        });
        assert_eq!(update(0, &bytes), slow);
    }
}
