//! Paths of the checkout, of built files and of fetched files.

use crate::products::fault_of_agent;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Returns the folder of the workspace.
pub fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests
        .parent()
        .expect("tests/ is in the workspace")
        .to_path_buf()
}

/// Returns a file below the workspace's own `target`, regardless of the folder that this test was built in.
pub fn target(path: &str) -> PathBuf {
    root().join("target").join(path)
}

/// Returns the agent, built with `cargo build --release -p hook-agent`; `CLASSHOOK_AGENT` names another one.
///
/// # Panics
/// If it is not there, or is not what users get ([`fault_of_agent`]).
pub fn agent_library() -> PathBuf {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let library = std::env::var_os("CLASSHOOK_AGENT")
            .map_or_else(|| target("release/libclasshook.so"), PathBuf::from);
        let library = built(library, "hook-agent");
        let bytes = std::fs::read(&library).expect("the library can be read");
        let fault = fault_of_agent(&bytes);
        assert_eq!(fault, None, "{}", library.display());
        library
    };
    LIBRARY.get_or_init(find).clone()
}

/// Returns the command, built with `cargo build --release -p cli`.
pub fn classhook() -> PathBuf {
    built(target("release/classhook"), "cli")
}

/// `PATH` with clang and its linker, which `cargo xtask setup` fetches where the machine has none, and with
/// componentize-py, which `cargo xtask corpus` does.
///
/// # Panics
/// If `PATH` is not UTF-8.
pub fn path_with_compilers() -> String {
    let path = std::env::var("PATH").expect("PATH is text");
    let ours = ["clang/bin", "python/bin", "javascript/node_modules/.bin"].map(target);
    let ours = ours.map(|folder| folder.display().to_string());
    format!("{path}:{}", ours.join(":"))
}

/// Creates a folder for one test; it is removed on drop.
pub fn scratch() -> tempfile::TempDir {
    let parent = target("test-scratch");
    std::fs::create_dir_all(&parent).expect("target/ is writable");
    tempfile::Builder::new()
        .prefix("t-")
        .tempdir_in(parent)
        .expect("target/test-scratch is writable")
}

/// Returns a file of this crate, for example `java/Greeter.java`.
pub fn test_file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn built(file: PathBuf, package: &str) -> PathBuf {
    assert!(
        file.is_file(),
        "expected {} to be built, found nothing there; run `cargo xtask plugins && cargo build --release -p {package}`",
        file.display()
    );
    file
}
