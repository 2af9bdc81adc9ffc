//! The package for Debian: an `ar` archive of two `tar` archives (`man 5 deb`).

use super::archive::{Entry, Time, Tree, gzip, tar};
use anyhow::Result;

/// The maintainer that the package names.
const MAINTAINER: &str = "Classhook's maintainers <classhook@users.noreply.github.com>";

/// Debian's name of a processor.
pub fn architecture(processor: &str) -> &str {
    match processor {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Packs the files, whose paths begin below `/`.
pub fn package(version: &str, processor: &str, files: &Tree, time: Time) -> Result<Vec<u8>> {
    let size: usize = files.values().map(Entry::size).sum();
    let control = format!(
        "Package: classhook\nVersion: {version}\nArchitecture: {}\nMaintainer: {MAINTAINER}\n\
         Installed-Size: {}\nSection: java\nPriority: optional\n\
         Homepage: https://github.com/classhook/classhook\n\
         Description: coverage, traces, profiles and patches of Java programs\n \
         Classhook changes the bytecode of Java programs while they run, with native code.\n \
         The package needs no library and no JVM; a JVM loads the agent when you ask for it.\n",
        architecture(processor),
        size.div_ceil(1024)
    );
    let control = Tree::from([("control".to_owned(), Entry::File(control.into_bytes()))]);
    let mut package = b"!<arch>\n".to_vec();
    for (name, bytes) in [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&tar(&control, time)?)?),
        ("data.tar.gz", gzip(&tar(files, time)?)?),
    ] {
        let header = format!(
            "{name:<16}{:<12}0     0     100644  {:<10}`\n",
            time.0,
            bytes.len()
        );
        package.extend(header.as_bytes());
        package.extend(&bytes);
        if bytes.len() % 2 == 1 {
            package.push(b'\n');
        }
    }
    Ok(package)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{in_path, output_of};
    use std::process::Command;

    #[test]
    fn debians_tool_reads_the_package() {
        if in_path("dpkg-deb").is_none() {
            return; // Not a relative of Debian.
        }
        let files = Tree::from([
            (
                "usr/bin/classhook".to_owned(),
                Entry::Link("../lib/classhook/classhook"),
            ),
            (
                "usr/lib/classhook/classhook".to_owned(),
                Entry::Program(vec![1; 3000]),
            ),
        ]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("classhook.deb");
        std::fs::write(&file, package("0.1.0", "aarch64", &files, Time(1)).unwrap()).unwrap();
        let told = output_of(Command::new("dpkg-deb").arg("--info").arg(&file)).unwrap();
        for line in ["Architecture: arm64", "Installed-Size: 3", "Version: 0.1.0"] {
            assert!(told.contains(line), "{told}");
        }
        let listed = output_of(Command::new("dpkg-deb").arg("--contents").arg(&file)).unwrap();
        assert!(listed.contains("-> ../lib/classhook/classhook"), "{listed}");
    }
}
