//! The SDK's sources, which the command carries.

use std::fs;
use std::io;
use std::path::Path;

// FILES: paths and lengths; PACKED: the contents one after another, compressed.
include!(concat!(env!("OUT_DIR"), "/sdk.rs"));

/// The versions of crates of the registry that the SDK was tested with.
const LOCK: &str = "Cargo.lock";

/// Writes the SDK into a new folder, and what cargo is to use from the registry into the folder around it.
///
/// # Errors
/// If something cannot be written.
pub fn unpack(project: &Path, folder: &str) -> io::Result<()> {
    for (path, contents) in files()? {
        let file = match path {
            LOCK => project.join(LOCK),
            path => project.join(folder).join(path),
        };
        fs::create_dir_all(file.parent().unwrap_or(project))?;
        fs::write(file, contents)?;
    }
    Ok(())
}

fn files() -> io::Result<Vec<(&'static str, Vec<u8>)>> {
    let damaged = |error| io::Error::new(io::ErrorKind::InvalidData, error);
    let mut rest = lz4_flex::decompress_size_prepended(PACKED).map_err(damaged)?;
    let mut files = Vec::with_capacity(FILES.len());
    for (path, length) in FILES {
        let behind = rest.split_off((*length).min(rest.len()));
        files.push((*path, std::mem::replace(&mut rest, behind)));
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(root.join(path)).unwrap()
    }

    #[test]
    fn the_sources_are_those_of_this_version() {
        let folder = tempfile::tempdir().unwrap();
        unpack(folder.path(), "sdk").unwrap();
        for path in ["sdk/src/lib.rs", "wit/plugin.wit", "jvms/src/opcode.rs"] {
            let unpacked = fs::read_to_string(folder.path().join("sdk").join(path)).unwrap();
            assert_eq!(unpacked, source(path), "{path}");
        }
        let lock = fs::read_to_string(folder.path().join(LOCK)).unwrap();
        assert_eq!(lock, source(LOCK));
    }

    #[test]
    fn manifests_inherit_what_the_workspace_says_and_have_no_tests() {
        let files = files().unwrap();
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
}
