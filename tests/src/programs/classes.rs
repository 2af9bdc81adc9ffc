//! Class files extracted from jars, folders and modules, for tools that require plain folders.

use crate::java::Java;
use crate::javac;
use crate::jdks::Jdk;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// Endings of signature files in a jar.
const SIGNATURES: [&str; 4] = [".SF", ".RSA", ".DSA", ".EC"];

/// Copies the class files of a jar or folder.
///
/// Leaves out `META-INF/versions`, because JaCoCo's command line refuses two classes of one name, and files that exist
/// already.
pub fn unpack(from: &Path, into: &Path) {
    if from.is_dir() {
        for file in javac::files_with_extension(from, "class") {
            let name = file
                .strip_prefix(from)
                .expect("a file below the folder")
                .to_string_lossy()
                .into_owned();
            let bytes = File::open(&file).expect("a readable class file");
            keep(&name, bytes, into);
        }
        return;
    }
    let jar = File::open(from)
        .unwrap_or_else(|error| panic!("failed to open {}: {error}", from.display()));
    let mut jar =
        zip::ZipArchive::new(jar).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
    for index in 0..jar.len() {
        let entry = jar.by_index(index).expect("a readable entry");
        let name = entry.name().expect("an entry named in UTF-8").into_owned();
        keep(&name, entry, into);
    }
}

/// Copies a jar without its signatures, with class files of `classes` in place of its own. Some programs require the
/// jar that they came in.
pub fn repack(jar: &Path, classes: &Path, copy: &Path) {
    let from = File::open(jar).unwrap_or_else(|error| panic!("{}: {error}", jar.display()));
    let mut from =
        zip::ZipArchive::new(from).unwrap_or_else(|error| panic!("{}: {error}", jar.display()));
    let file = File::create(copy).expect("the test's own folder");
    let mut into = zip::ZipWriter::new(file);
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for index in 0..from.len() {
        let entry = from.by_index_raw(index).expect("a readable entry");
        let name = entry.name().expect("an entry named in UTF-8").into_owned();
        if name.starts_with("META-INF/") && SIGNATURES.iter().any(|end| name.ends_with(end)) {
            continue;
        }
        let replaced = fs::read(classes.join(&name)).ok();
        let written = match replaced.filter(|_| entry.is_file()) {
            Some(bytes) => into
                .start_file(name, stored)
                .and_then(|()| Ok(into.write_all(&bytes)?)),
            None => into.raw_copy_file(entry),
        };
        written.expect("the test's own folder");
    }
    into.finish().expect("the test's own folder");
}

/// Copies class files that JaCoCo's agent dumped as `org/Example.0123456789abcdef.class`; of one name the first.
pub fn add_dumped(dump: &Path, into: &Path) {
    for file in javac::files_with_extension(dump, "class") {
        let name = file
            .strip_prefix(dump)
            .expect("a file below the folder")
            .to_string_lossy()
            .into_owned();
        let (name, _) = name
            .trim_end_matches(".class")
            .rsplit_once('.')
            .expect("an id in the file's name");
        let bytes = File::open(&file).expect("a readable class file");
        keep(&format!("{name}.class"), bytes, into);
    }
}

/// Extracts the class files of a JDK's module with the JDK's own `jimage`.
pub fn unpack_module(jdk: &Jdk, module: &str, into: &Path) {
    let scratch = into.with_extension("jimage");
    let jimage = Java::program(jdk.tool("jimage"))
        .argument("extract")
        .argument("--dir")
        .argument(&scratch);
    let jimage = jimage
        .argument("--include")
        .argument(format!("regex:/{module}/.*"));
    jimage
        .argument(jdk.home.join("lib/modules"))
        .run()
        .assert_success();
    unpack(&scratch.join(module), into);
    fs::remove_dir_all(scratch).expect("the test's own folder");
}

fn keep(name: &str, mut bytes: impl io::Read, into: &Path) {
    let Some(internal) = name.strip_suffix(".class") else {
        return;
    };
    let goal = into.join(name);
    if internal.starts_with("META-INF/") || goal.exists() {
        return;
    }
    fs::create_dir_all(goal.parent().expect("a file below the folder"))
        .expect("the test's folder is writable");
    let mut file = File::create(goal).expect("the test's folder is writable");
    io::copy(&mut bytes, &mut file).expect("a readable class file");
}
