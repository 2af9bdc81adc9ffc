//! Selection from sets that are too large for every run.
//!
//! A run takes a fixed part of each set, so that two runs of the same code test the same.
//! `CLASSHOOK_ROTATION=20414` takes the part with this number instead, and `CLASSHOOK_ROTATION=all` takes everything.
//! `cargo xtask nightly` takes another part each day, so that all parts run in turn.

use std::sync::OnceLock;

const VARIABLE: &str = "CLASSHOOK_ROTATION";
/// The number of the part that a run takes without the variable.
const FIXED: u64 = 0;

/// Returns whether this run takes everything.
pub fn everything() -> bool {
    number().is_none()
}

/// Returns the index below `parts` that is this name's turn; 0 if the run takes everything.
pub fn turn(name: &str, parts: usize) -> usize {
    let parts = parts.max(1) as u64;
    let number = number().unwrap_or(0);
    // In range: the remainder is less than `parts`.
    (hash(name).wrapping_add(number) % parts) as usize
}

/// Checks whether this run takes the member at this index of a set that is split into `parts`.
pub fn is_turn_of(set: &str, place: usize, parts: usize) -> bool {
    everything() || place % parts == turn(set, parts)
}

/// The number of this run's part; `None` if the run takes everything.
fn number() -> Option<u64> {
    static NUMBER: OnceLock<Option<u64>> = OnceLock::new();
    *NUMBER.get_or_init(|| match std::env::var(VARIABLE) {
        Ok(all) if all == "all" => None,
        Ok(number) => {
            let number = number.parse();
            Some(number.unwrap_or_else(|_| panic!("expected a number or `all` in {VARIABLE}")))
        }
        Err(_) => Some(FIXED),
    })
}

/// Returns a hash of a name that never changes, to choose and mix classes by.
pub fn hash(name: &str) -> u64 {
    // FNV-1a, with a final mix so that the low bits depend on every byte.
    let sum = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |sum, byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    (sum ^ (sum >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 8
}
