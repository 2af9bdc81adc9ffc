//! Compiles Java sources with a JDK's own compiler.

use crate::jdks::Jdk;
use crate::{tools, workspace};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Compiles the sources into `folder/classes` with `-g` and further options, and returns that folder.
///
/// Earlier results of the same compiler with the same options and sources are copied from `target/test-classes`.
///
/// # Panics
/// With the compiler's messages, if it refuses the sources.
pub fn compile(jdk: &Jdk, sources: &[&Path], folder: &Path, options: &[&str]) -> PathBuf {
    let classes = folder.join("classes");
    std::fs::create_dir_all(&classes).expect("the test's folder is writable");
    if options.iter().any(|option| option.contains('/')) {
        // A path does not identify the files in it.
        run(jdk, sources, &classes, options);
        return classes;
    }
    let mut identity = vec![jdk.home.display().to_string(), jdk.version.clone()];
    identity.extend(options.iter().map(|option| (*option).to_owned()));
    kept(&identity, sources, &classes, |fresh| {
        run(jdk, sources, fresh, options);
    });
    classes
}

/// Calls `compile` once for each identity of the compiler and content of the sources, keeps the filled folder, and
/// copies it into `classes`.
///
/// # Panics
/// If a source cannot be read, or a folder cannot be written.
pub fn kept(identity: &[String], sources: &[&Path], classes: &Path, compile: impl FnOnce(&Path)) {
    let parent = workspace::target("test-classes");
    let kept = parent.join(content_address(identity, sources));
    if !kept.is_dir() {
        std::fs::create_dir_all(&parent).expect("target/ is writable");
        let fresh = tempfile::Builder::new()
            .prefix("fresh-")
            .tempdir_in(&parent);
        let fresh = fresh.expect("target/ is writable");
        compile(fresh.path());
        // Another test may have been first; its result is the same.
        if let Err(error) = std::fs::rename(fresh.keep(), &kept) {
            assert!(kept.is_dir(), "{}: {error}", kept.display());
        }
    }
    copy(&kept, classes);
}

/// Returns a digest of the compiler's identity and of names and contents of the sources.
fn content_address(identity: &[String], sources: &[&Path]) -> String {
    let mut digest = Sha256::new();
    let mut add = |bytes: &[u8]| {
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    for part in identity {
        add(part.as_bytes());
    }
    for source in sources {
        let bytes = std::fs::read(source);
        let bytes = bytes.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
        add(source.file_name().unwrap_or_default().as_encoded_bytes());
        add(&bytes);
    }
    let address = digest.finalize();
    address[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Copies all files below a folder.
///
/// # Panics
/// If one cannot be read or written.
pub fn copy(from: &Path, into: &Path) {
    std::fs::create_dir_all(into).expect("the test's folder is writable");
    for entry in std::fs::read_dir(from).expect("a readable folder") {
        let entry = entry.expect("a readable entry").path();
        let goal = into.join(entry.file_name().expect("a name"));
        if entry.is_dir() {
            copy(&entry, &goal);
        } else {
            std::fs::copy(&entry, &goal).expect("the test's folder is writable");
        }
    }
}

fn run(jdk: &Jdk, sources: &[&Path], classes: &Path, options: &[&str]) {
    let mut words: Vec<&OsStr> = ["-g", "-nowarn", "-d"].map(OsStr::new).to_vec();
    words.push(classes.as_os_str());
    words.extend(options.iter().map(OsStr::new));
    words.extend(sources.iter().map(|source| source.as_os_str()));
    let ended = tools::run(jdk, "javac", &words);
    assert_eq!(ended.code, 0, "javac {words:?}:\n{}", ended.text);
}

/// Packs `what` of a folder (`.` is all) into a jar with these lines in its manifest.
///
/// # Panics
/// If the tool `jar` fails.
pub fn jar(jdk: &Jdk, folder: &Path, what: &str, manifest: &str, jar: &Path) -> PathBuf {
    let lines = jar.with_extension("manifest");
    std::fs::write(&lines, manifest).expect("the test's folder is writable");
    let mut words = vec!["cfm".as_ref(), jar.as_os_str(), lines.as_os_str()];
    words.extend(["-C".as_ref(), folder.as_os_str(), what.as_ref()]);
    let ended = tools::run(jdk, "jar", &words);
    assert_eq!(ended.code, 0, "jar {words:?}:\n{}", ended.text);
    jar.to_path_buf()
}

/// Returns every `.java` file below a folder, sorted.
pub fn sources_in(folder: &Path) -> Vec<PathBuf> {
    files_with_extension(folder, "java")
}

/// Returns every file below a folder with this extension, sorted.
pub fn files_with_extension(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)
            .into_iter()
            .flatten()
            .filter_map(Result::ok)
        {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
