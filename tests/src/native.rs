//! C libraries that programs of the tests load.

use crate::jdks::Jdk;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compiles a source with a JDK's JNI headers to the library `lib<name of the source>.so` in a folder.
///
/// # Panics
/// With the compiler's messages, if it refuses the source.
pub fn library(jdk: &Jdk, source: &Path, folder: &Path) -> PathBuf {
    let name = source.file_stem().expect("a source").to_string_lossy();
    let library = folder.join(format!("lib{name}.so"));
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-Wall", "-o"])
        .arg(&library)
        .arg(source);
    for include in ["include", "include/linux"] {
        cc.arg("-I").arg(jdk.home.join(include));
    }
    assert!(cc.status().expect("cc is installed").success(), "{cc:?}");
    library
}
