//! The SDKs, embedded in the command.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::DeflateDecoder;

// RUST, C, PYTHON and JS, and COMMON, which is part of each.
include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// Versions of registry crates with which the Rust SDK was tested.
const LOCK: &str = "Cargo.lock";

/// The files of an SDK.
#[derive(Debug, Clone, Copy)]
pub struct Archive {
    /// Paths and lengths.
    files: &'static [(&'static str, usize)],
    /// The contents one after another, compressed.
    packed: &'static [u8],
}

impl Archive {
    /// Writes the SDK into a new folder, and cargo's lock file into the folder around it.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn unpack(&self, project: &Path, folder: &str) -> io::Result<()> {
        for (path, contents) in self.files()?.into_iter().chain(COMMON.files()?) {
            let file = match path {
                LOCK => project.join(LOCK),
                path => project.join(folder).join(path),
            };
            fs::create_dir_all(file.parent().unwrap_or(project))?;
            fs::write(file, contents)?;
        }
        Ok(())
    }

    fn files(&self) -> io::Result<Vec<(&'static str, Vec<u8>)>> {
        let mut rest = DeflateDecoder::new(self.packed);
        let mut files = Vec::with_capacity(self.files.len());
        for (path, length) in self.files {
            let mut contents = vec![0; *length];
            rest.read_exact(&mut contents)?;
            files.push((*path, contents));
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(root.join(path)).unwrap()
    }

    #[test]
    fn embedded_sources_are_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        RUST.unpack(folder.path(), "sdk").unwrap();
        for path in ["sdk/src/lib.rs", "sdk/wit/plugin.wit", "jvms/src/opcode.rs"] {
            let unpacked = fs::read_to_string(folder.path().join("sdk").join(path)).unwrap();
            // Unit tests at the end are left out.
            assert!(source(path).starts_with(&unpacked), "{path}");
            assert!(!unpacked.contains("mod tests {"), "{path}");
        }
        let lock = fs::read_to_string(folder.path().join(LOCK)).unwrap();
        assert_eq!(lock, source(LOCK));
    }

    #[test]
    fn manifests_inherit_workspace_settings_without_tests() {
        let files = RUST.files().unwrap();
        let text = |wanted: &str| {
            let found = files.iter().find(|(path, _)| *path == wanted);
            String::from_utf8(found.unwrap().1.clone()).unwrap()
        };
        let workspace = text("Cargo.toml");
        for part in [
            "\"sdk/testkit\"]",
            "[workspace.dependencies]",
            "wit-bindgen =",
        ] {
            assert!(workspace.contains(part), "{workspace}");
        }
        assert!(!workspace.contains("[profile"), "{workspace}");
        let rewriter = text("rewriter/Cargo.toml");
        assert!(rewriter.contains("jvms.workspace"), "{rewriter}");
        assert!(!rewriter.contains("proptest"), "{rewriter}");
    }
    #[test]
    fn c_functions_are_prefixed_by_their_interface() {
        let files = C.files().unwrap();
        let text = |wanted: &str| {
            let found = files.iter().find(|(path, _)| *path == wanted);
            String::from_utf8(found.unwrap().1.clone()).unwrap()
        };
        assert!(text("classhook.h").contains("extern bool probes_count("));
        assert!(text("classhook.h").contains("bool exports_transformer_transform("));
        assert!(text("classhook.c").contains("transformer@0.1.0#transform"));
        assert_eq!(text("sdk.h"), source("sdk/c/sdk.h"));
        assert_eq!(text("report.h"), source("sdk/c/report.h"));
        assert!(text("report_type.h").contains("component-type:report"));
        assert_eq!(text("include/string.h"), source("sdk/c/include/string.h"));
        for sdk in [C, PYTHON, JS] {
            let files = sdk.files().unwrap();
            assert!(files.iter().any(|(path, _)| *path == "wit/plugin.wit"));
        }
        let python = PYTHON.files().unwrap();
        assert!(python.iter().any(|(path, _)| *path == "classhook_sdk.py"));
        let object = files.iter().find(|(path, _)| path.ends_with(".o"));
        assert!(object.unwrap().1.starts_with(b"\0asm"));
    }
}
