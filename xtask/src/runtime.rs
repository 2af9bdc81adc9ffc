//! `cargo xtask runtime`: compiles the classes in Java that the command carries.

use crate::jdks::{self, Jdk};
use crate::workspace::say;
use anyhow::{Context, Result};
use e2e_tests::runtime::{COMPILER, KEPT, compiled, kept_folder};

/// Replaces the class files in the repository.
pub fn run() -> Result<()> {
    let jdk = jdks::full()
        .into_iter()
        .find(|jdk| jdk.feature == COMPILER)
        .with_context(|| format!("expected a JDK {COMPILER} with javac, found none"))?;
    KEPT.iter().try_for_each(|of| replace(of, &jdk))
}

fn replace(of: &str, jdk: &Jdk) -> Result<()> {
    let scratch = tempfile::tempdir().context("failed to make a folder to compile in")?;
    let classes = compiled(of, jdk, scratch.path());
    let folder = kept_folder(of);
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
