//! JVMs of the oldest and newest releases for the tests, from Debian's packages. The only suite with them is newer than
//! many machines. So a C library of that suite is unpacked too, and the JVMs are linked to it.

use super::apt::Apt;
use crate::workspace::{Workspace, in_path, output_of, say};
use anyhow::{Context, Result, ensure};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The JVM's libraries, from the released suite.
const LIBRARIES: [&str; 4] = [
    "libc6/trixie",
    "libstdc++6/trixie",
    "libgcc-s1/trixie",
    "zlib1g/trixie",
];
/// The tool that changes a program's library path, from a suite whose programs also run on older machines.
const PATCHELF: &str = "patchelf/bookworm";
const LIBRARY_FOLDER: &str = "usr/lib/x86_64-linux-gnu";

/// Fetches a JVM. A failure is printed, and is no error.
pub fn fetch(workspace: &Workspace, release: u32) {
    let home = workspace.target("jvms").join(format!("jvm-{release}"));
    if home.join("bin/java").is_file() {
        return;
    }
    if let Err(error) = make(&home, release) {
        say(format!("no JVM {release}, tests run without it: {error:#}"));
    }
}

fn make(home: &Path, release: u32) -> Result<()> {
    say(format!(
        "fetching a JVM of release {release} from Debian's packages"
    ));
    let folder = home.parent().context("expected a folder for JVMs")?;
    std::fs::create_dir_all(folder)?;
    let scratch = tempfile::tempdir_in(folder)?;
    let apt = Apt::new(scratch.path())?;
    let trouble = apt.update();
    let made = scratch.path().join("made");
    let jvm = format!("openjdk-{release}-jre-headless");
    for package in LIBRARIES.into_iter().chain([jvm.as_str()]) {
        let unpacked = apt.unpack(package, &made);
        unpacked.with_context(|| format!("expected the package {package}{trouble}"))?;
    }
    let patchelf = patchelf(&apt, scratch.path())?;
    // The files go to their final folder, since links and programs name absolute paths. The name `jvm-…` is given last.
    let parts = folder.join(format!("jvm-{release}-parts"));
    if parts.exists() {
        std::fs::remove_dir_all(&parts)?;
    }
    std::fs::rename(&made, &parts)?;
    let jvm = parts.join(format!("usr/lib/jvm/java-{release}-openjdk-amd64"));
    adapt(&parts, &parts, &jvm, &patchelf)?;
    let java = jvm.join("bin/java");
    let version = output_of(Command::new(&java).arg("-version"));
    version.context("the JVM does not start")?;
    symlink(jvm, home).with_context(|| format!("failed to put the JVM at {}", home.display()))
}

fn patchelf(apt: &Apt, scratch: &Path) -> Result<PathBuf> {
    if let Some(there) = in_path("patchelf") {
        return Ok(there);
    }
    let unpacked = scratch.join("patchelf");
    apt.unpack(PATCHELF, &unpacked)?;
    Ok(unpacked.join("usr/bin/patchelf"))
}

/// Redirects links below a folder, and the JVM's programs, to files below `root` instead of the machine's own.
fn adapt(folder: &Path, root: &Path, jvm: &Path, patchelf: &Path) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            adapt(&path, root, jvm, patchelf)?;
        } else if kind.is_symlink() {
            let target = std::fs::read_link(&path)?;
            let Ok(below) = target.strip_prefix("/") else {
                continue;
            };
            if root.join(below).symlink_metadata().is_ok() {
                std::fs::remove_file(&path)?;
                symlink(root.join(below), &path)?;
            }
        } else if path.starts_with(jvm) && is_elf(&path)? {
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
