//! `cargo xtask setup`: fetches everything that builds and tests need and the repository does not hold.
//!
//! This is the only task that uses the network.
//! It is idempotent: files with the right digest are left alone.
//! Two runs at the same time wait for each other, and every file appears whole or not at all.

mod apt;
pub mod artifacts;
mod clang;
mod debian_jvms;
mod javascript;
mod jvms;
mod maven_repository;
mod mdbook;
mod portable;
mod python;
mod registry;
mod report_readers;
mod tmux;
mod wasm_target;

pub use javascript::componentize_js;
pub use python::componentize_py;
pub use registry::docker_registry;
pub use report_readers::report_readers;

use crate::jdks;
use crate::workspace::{Workspace, in_path, say};
use anyhow::{Context, Result, bail};
use std::fs::File;

/// Options of the setup.
#[derive(clap::Args, Default)]
pub struct Options {
    /// Set up only the dependencies of the build: no JVMs and no test artifacts
    #[arg(long)]
    pub build_only: bool,
    /// Fail unless full JDKs 17 and 25 are present; try the package manager for missing ones
    #[arg(long)]
    pub require_jdks: bool,
}

/// Sets up the dependencies that the options select.
pub fn run(workspace: &Workspace, options: &Options) -> Result<()> {
    let _lock = lock(workspace)?;
    compiler()?;
    wasm_target::run()?;
    if options.build_only {
        return Ok(());
    }
    if options.require_jdks {
        jvms::require_jdks(&[17, 25])?;
    }
    jvms::fetch_extra(workspace)?;
    debian_jvms::fetch(workspace, 8);
    artifacts::fetch_all()?;
    maven_repository::fill(&e2e_tests::maven::files())?;
    tmux::require()?;
    clang::fetch(workspace)?;
    mdbook::provide(workspace)?;
    list_jdks()
}

/// Fetches JVMs that are newer than those that all tests run on.
pub fn newer_jvms(workspace: &Workspace) -> Result<()> {
    let _lock = lock(workspace)?;
    for release in [26, 27] {
        debian_jvms::fetch(workspace, release);
    }
    Ok(())
}

/// Sets up the dependencies of `demo`: no test artifacts.
pub fn for_building(workspace: &Workspace) -> Result<()> {
    run(
        workspace,
        &Options {
            build_only: true,
            ..Options::default()
        },
    )
}

/// Returns mdBook, which makes the guide, and builds it if it is missing.
pub fn mdbook(workspace: &Workspace) -> Result<std::path::PathBuf> {
    let _lock = lock(workspace)?;
    mdbook::provide(workspace)
}

/// Installs the tools that build for every Linux, and Rust's library for these targets. Returns the folder of the tools.
pub fn portable(workspace: &Workspace, targets: &[String]) -> Result<std::path::PathBuf> {
    let _lock = lock(workspace)?;
    portable::provide(workspace, targets)
}

pub use portable::zstandard;

/// Fetches the test artifact of this name, and returns its path.
pub fn artifact(workspace: &Workspace, name: &str) -> Result<std::path::PathBuf> {
    let _lock = lock(workspace)?;
    artifacts::fetch_named(name)
}

/// Fetches the files of a list into the local Maven repository. Each line has a digest and a path below the root of
/// Maven Central.
pub fn maven_files(workspace: &Workspace, list: &str) -> Result<()> {
    let _lock = lock(workspace)?;
    artifacts::fetch_named("maven")?;
    maven_repository::fill(&e2e_tests::maven::files())?;
    maven_repository::fill(&e2e_tests::maven::listed(list))
}

/// Locks the setup, so that two runs do not do the same work twice.
fn lock(workspace: &Workspace) -> Result<File> {
    let folder = workspace.target("");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("failed to make {}", folder.display()))?;
    let file = File::create(folder.join(".setup.lock"))?;
    if file.try_lock().is_err() {
        say("waiting for another set-up of this checkout to end");
        file.lock()?;
    }
    Ok(file)
}

/// Checks for a C compiler, which links the agent and the tests' launcher.
fn compiler() -> Result<()> {
    if in_path("cc").is_none() {
        bail!(
            "expected a C compiler named `cc` in PATH (it links the agent), found none; \
             on Debian: apt-get install gcc libc6-dev"
        );
    }
    Ok(())
}

fn list_jdks() -> Result<()> {
    let found = jdks::all();
    if found.is_empty() {
        bail!(
            "expected at least one JDK (JAVA_HOME, PATH, /usr/lib/jvm), found none; on Debian: apt-get install openjdk-17-jdk-headless"
        );
    }
    for jdk in jdks::eight().into_iter().chain(found) {
        say(format!("found {jdk}"));
    }
    Ok(())
}
