//! The JDKs of this machine, found as the tests find them: `JAVA_HOME`, `PATH`, the distribution's folders, and JVMs
//! fetched by `setup`.

use anyhow::{Result, ensure};
pub use e2e_tests::jdks::{Jdk, eight};
use e2e_tests::jdks::{OLDEST, every_installation};
use std::collections::BTreeSet;

/// Returns one Java installation for each release from 11 on. Full JDKs come first; of one release the first folder
/// wins.
///
/// Searches anew at each call, because `setup` adds JVMs.
pub fn all() -> Vec<Jdk> {
    let mut found = every_installation();
    found.retain(|jdk| jdk.feature >= OLDEST);
    found.sort_by_key(|jdk| !jdk.full);
    let mut features = BTreeSet::new();
    found.retain(|jdk| features.insert(jdk.feature));
    found
}

/// Returns those with a compiler.
pub fn full() -> Vec<Jdk> {
    all().into_iter().filter(|jdk| jdk.full).collect()
}

/// The oldest release that is measured.
const OLDEST_MEASURED: u32 = 17;

/// Returns full JDKs for `cargo xtask bench`.
///
/// # Errors
/// If no full JDK of 17 or newer is found.
pub fn measured() -> Result<Vec<Jdk>> {
    let mut found = full();
    found.retain(|jdk| jdk.feature >= OLDEST_MEASURED);
    ensure!(
        !found.is_empty(),
        "expected a full JDK of version {OLDEST_MEASURED} or newer (JAVA_HOME, PATH, /usr/lib/jvm), found none"
    );
    Ok(found)
}
