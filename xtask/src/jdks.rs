//! The JDKs of this machine, as the tests find them: `JAVA_HOME`, `PATH`, the distribution's usual folders, and JVMs that `setup` fetched.

use anyhow::{Result, ensure};
pub use e2e_tests::jdks::{Jdk, eight};
use e2e_tests::jdks::{OLDEST, every_installation};
use std::collections::BTreeSet;

/// One Java installation for each release, 11 or newer: full ones first, then the first place wins.
///
/// Looks again at each call, for `setup` adds some.
pub fn all() -> Vec<Jdk> {
    let mut found = every_installation();
    found.retain(|jdk| jdk.feature >= OLDEST);
    found.sort_by_key(|jdk| !jdk.full);
    let mut features = BTreeSet::new();
    found.retain(|jdk| features.insert(jdk.feature));
    found
}

/// Those that can compile, too.
pub fn full() -> Vec<Jdk> {
    all().into_iter().filter(|jdk| jdk.full).collect()
}

/// Oldest release that is measured.
const OLDEST_MEASURED: u32 = 17;

/// Full JDKs for `cargo xtask bench`.
///
/// # Errors
/// If there is none.
pub fn measured() -> Result<Vec<Jdk>> {
    let mut found = full();
    found.retain(|jdk| jdk.feature >= OLDEST_MEASURED);
    ensure!(
        !found.is_empty(),
        "expected a full JDK of version {OLDEST_MEASURED} or newer (JAVA_HOME, PATH, /usr/lib/jvm), found none"
    );
    Ok(found)
}
