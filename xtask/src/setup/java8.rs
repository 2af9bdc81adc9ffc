//! A JVM of release 8 for the tests, from Debian's packages. The one suite that has it is newer than many machines, so
//! it comes with the C library that it was built for, and is pointed at that one.

use super::apt::Apt;
use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

const JVM: &str = "openjdk-8-jre-headless";
/// What it loads; of the suite that is released.
const LIBRARIES: [&str; 4] = [
    "libc6/trixie",
    "libstdc++6/trixie",
    "libgcc-s1/trixie",
    "zlib1g/trixie",
];
/// Changes where a program looks for its libraries; of a suite whose programs run on older machines, too.
const PATCHELF: &str = "patchelf/bookworm";
const HOME: &str = "usr/lib/jvm/java-8-openjdk-amd64";
const LIBRARY_FOLDER: &str = "usr/lib/x86_64-linux-gnu";

/// Fetches the JVM; where that is not possible, says so and goes on.
pub fn fetch(workspace: &Workspace) {
    let home = workspace.target("jvms").join("jvm-8");
    if home.join("bin/java").is_file() {
        return;
    }
    if let Err(error) = make(&home) {
        say(format!("no JVM 8, tests run without it: {error:#}"));
    }
}

fn make(home: &Path) -> Result<()> {
    say("fetching a JVM of release 8 from Debian's packages");
    let folder = home.parent().context("expected a folder for JVMs")?;
    std::fs::create_dir_all(folder)?;
    let scratch = tempfile::tempdir_in(folder)?;
    let apt = Apt::new(scratch.path())?;
    let trouble = apt.update();
    let made = scratch.path().join("made");
    for package in LIBRARIES.into_iter().chain([JVM]) {
        let unpacked = apt.unpack(package, &made);
        unpacked.with_context(|| format!("expected the package {package}{trouble}"))?;
    }
    let patchelf = patchelf(&apt, scratch.path())?;
    // In its final place: links and programs name absolute paths. The name `jvm-8` comes last.
    let parts = folder.join("jvm-8-parts");
    if parts.exists() {
        std::fs::remove_dir_all(&parts)?;
    }
    std::fs::rename(&made, &parts)?;
    adapt(&parts, &parts, &patchelf)?;
    let java = parts.join(HOME).join("bin/java");
    let version = output_of(Command::new(&java).arg("-version"));
    version.context("the JVM does not start")?;
    symlink(parts.join(HOME), home)
        .with_context(|| format!("failed to put the JVM at {}", home.display()))
}

fn patchelf(apt: &Apt, scratch: &Path) -> Result<PathBuf> {
    if let Some(there) = in_path("patchelf") {
        return Ok(there);
    }
    let unpacked = scratch.join("patchelf");
    apt.unpack(PATCHELF, &unpacked)?;
    Ok(unpacked.join("usr/bin/patchelf"))
}

/// Points links below a folder, and programs of the JVM, to what lies below `root` instead of the machine's own.
fn adapt(folder: &Path, root: &Path, patchelf: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            adapt(&path, root, patchelf)?;
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&path)?;
            let Ok(below) = target.strip_prefix("/") else {
                continue;
            };
            if root.join(below).symlink_metadata().is_ok() {
                std::fs::remove_file(&path)?;
                symlink(root.join(below), &path)?;
            }
        } else if path.starts_with(root.join(HOME)) && is_elf(&path)? {
            with_own_libraries(&path, root, patchelf)?;
        }
    }
    Ok(())
}

fn is_elf(path: &Path) -> Result<bool> {
    use std::io::Read;
    let mut begin = Vec::new();
    std::fs::File::open(path)?.take(4).read_to_end(&mut begin)?;
    Ok(begin == *b"\x7FELF")
}

fn with_own_libraries(path: &Path, root: &Path, patchelf: &Path) -> Result<()> {
    let libraries = root.join(LIBRARY_FOLDER);
    if path.extension().is_none_or(|extension| extension != "so") {
        let loader = libraries.join("ld-linux-x86-64.so.2");
        ensure!(loader.is_file(), "expected {}", loader.display());
        let mut command = Command::new(patchelf);
        output_of(command.arg("--set-interpreter").arg(loader).arg(path))?;
    }
    let known = output_of(Command::new(patchelf).arg("--print-rpath").arg(path))?;
    let known = known.trim();
    let separator = if known.is_empty() { "" } else { ":" };
    let places = format!("{known}{separator}{}", libraries.display());
    let mut command = Command::new(patchelf);
    output_of(
        command
            .args(["--force-rpath", "--set-rpath", &places])
            .arg(path),
    )?;
    Ok(())
}
