//! Corpora of classes: those of a JDK's modules, and those of jars.

use crate::java::Java;
use crate::javac;
use crate::jdks::Jdk;
use crate::workspace;
use std::io::{BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// A class file of a corpus.
pub struct Class {
    /// Path below the folder or in the jar.
    pub name: String,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// Extracts the classes of all modules of a JDK, one folder for each module. Keeps them in `target/corpus`, since it
/// takes a while.
///
/// # Panics
/// If the JDK has no `jimage`, or it fails.
pub fn jdk_classes(jdk: &Jdk) -> PathBuf {
    let folder = workspace::target("corpus").join(format!("jdk-{}", jdk.version));
    if !folder.is_dir() {
        let parent = workspace::target("corpus");
        std::fs::create_dir_all(&parent).expect("target/ is writable");
        let fresh = tempfile::Builder::new()
            .prefix("fresh-")
            .tempdir_in(&parent)
            .expect("target/ is writable");
        let jimage = Java::program(jdk.tool("jimage")).arguments(&[
            "extract",
            "--include",
            "glob:**.class",
            "--dir",
        ]);
        jimage
            .argument(fresh.path())
            .argument(jdk.home.join("lib/modules"))
            .run()
            .assert_success();
        if let Err(error) = std::fs::rename(fresh.keep(), &folder) {
            assert!(
                folder.is_dir(),
                "failed to make {}: {error}",
                folder.display()
            );
        }
    }
    folder
}

/// Returns every class file below a folder, by name.
///
/// # Panics
/// If one cannot be read.
pub fn in_folder(folder: &Path) -> Vec<Class> {
    let files = javac::files_with_extension(folder, "class");
    let read = |file: &PathBuf| Class {
        name: name_below(folder, file),
        bytes: std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display())),
    };
    files.iter().map(read).collect()
}

/// Returns every class file of a jar, in the jar's order.
///
/// # Panics
/// If the jar cannot be read.
pub fn in_jar(jar: &Path) -> Vec<Class> {
    let broken = |error: &dyn std::fmt::Display| -> ! { panic!("{}: {error}", jar.display()) };
    let file = std::fs::File::open(jar).unwrap_or_else(|error| broken(&error));
    let mut archive = zip::ZipArchive::new(file).unwrap_or_else(|error| broken(&error));
    let mut classes = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive
            .by_index(index)
            .unwrap_or_else(|error| broken(&error));
        let name = entry
            .name()
            .unwrap_or_else(|error| broken(&error))
            .into_owned();
        if name.ends_with(".class") {
            let mut bytes = Vec::new();
            entry
                .read_to_end(&mut bytes)
                .unwrap_or_else(|error| broken(&error));
            classes.push(Class { name, bytes });
        }
    }
    classes
}

/// Writes classes into one file. Each has the length of its name (two bytes, big-endian), the name, the length of the
/// class file (four bytes) and the class file.
///
/// # Panics
/// If it cannot be written.
pub fn write_pack<'c>(file: &Path, classes: impl Iterator<Item = (&'c str, &'c [u8])>) {
    let write = || -> std::io::Result<()> {
        let mut pack = BufWriter::new(std::fs::File::create(file)?);
        for (name, bytes) in classes {
            pack.write_all(&(name.len() as u16).to_be_bytes())?;
            pack.write_all(name.as_bytes())?;
            pack.write_all(&(bytes.len() as u32).to_be_bytes())?;
            pack.write_all(bytes)?;
        }
        pack.flush()
    };
    write().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
}

/// Returns the path of a file relative to a folder.
///
/// # Panics
/// If the file is not below the folder.
fn name_below(folder: &Path, file: &Path) -> String {
    let below = file.strip_prefix(folder).expect("a file below the folder");
    below.to_string_lossy().into_owned()
}
