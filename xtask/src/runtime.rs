//! `cargo xtask runtime`: compiles the runtime of offline instrumented classes into `runtime/classes`.

use crate::jdks;
use crate::workspace::say;
use anyhow::{Context, Result};
use e2e_tests::runtime::{COMPILER, compiled, kept_folder};

/// Replaces the class files in the repository.
pub fn run() -> Result<()> {
    let jdk = jdks::full()
        .into_iter()
        .find(|jdk| jdk.feature == COMPILER)
        .with_context(|| format!("expected a JDK {COMPILER} with javac, found none"))?;
    let scratch = tempfile::tempdir().context("failed to make a folder to compile in")?;
    let classes = compiled(&jdk, scratch.path());
    let folder = kept_folder();
    if folder.exists() {
        std::fs::remove_dir_all(&folder)
            .with_context(|| format!("failed to empty {}", folder.display()))?;
    }
    for (name, bytes) in &classes {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("failed to make {}", parent.display()))?;
        }
        std::fs::write(&path, bytes)
            .with_context(|| format!("failed to write {}", path.display()))?;
    }
    say(format!("{} classes in {}", classes.len(), folder.display()));
    Ok(())
}
