//! Digests that name components.

use sha2::{Digest, Sha256};

/// The lower-case hex of a SHA-256.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
