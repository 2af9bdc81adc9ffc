//! Classes in Java that command and agent carry, kept compiled: the runtime of offline instrumented classes, the
//! annotations of advice, and the linker of companions.

use crate::jdks::Jdk;
use crate::{javac, workspace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The release of the compiler that made the kept files. Other releases differ in the constant pool.
pub const COMPILER: u32 = 17;

/// Class files by their path, `classhook/runtime/Probes.class`.
pub type Classes = BTreeMap<PathBuf, Vec<u8>>;

/// Folders with sources in `src` and their class files in `classes`.
pub const KEPT: [&str; 3] = ["runtime", "advice/java", "hook-agent/companions"];

/// Returns the folder of the kept class files.
pub fn kept_folder(of: &str) -> PathBuf {
    workspace::root().join(of).join("classes")
}

/// Returns the kept class files.
pub fn kept(of: &str) -> Classes {
    classes_in(&kept_folder(of))
}

/// Compiles the sources with this JDK.
pub fn compiled(of: &str, jdk: &Jdk, scratch: &Path) -> Classes {
    let sources = javac::sources_in(&workspace::root().join(of).join("src"));
    let sources: Vec<&Path> = sources.iter().map(PathBuf::as_path).collect();
    let options = ["--release", "8", "-Xlint:-options"];
    classes_in(&javac::compile(jdk, &sources, scratch, &options))
}

fn classes_in(folder: &Path) -> Classes {
    let name = |path: &PathBuf| {
        let inner = path.strip_prefix(folder).expect("a file of the folder");
        inner.to_path_buf()
    };
    javac::files_with_extension(folder, "class")
        .iter()
        .map(|path| (name(path), std::fs::read(path).expect("a class file")))
        .collect()
}
