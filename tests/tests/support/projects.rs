//! Folders of plugin projects, and cargo's settings for their builds.

use e2e_tests::workspace::{root, target};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// All projects use the workspace's own cargo folder, so that crates of the registry are compiled once. Nothing is
/// fetched.
pub fn cargo() -> [(&'static str, PathBuf); 2] {
    [
        ("CARGO_BUILD_BUILD_DIR", target("")),
        ("CARGO_NET_OFFLINE", PathBuf::from("true")),
    ]
}

/// The folder of all projects, with the workspace's settings of the release profile. Other settings would compile the
/// workspace's dependencies again.
fn projects() -> &'static Path {
    static PROJECTS: OnceLock<PathBuf> = OnceLock::new();
    PROJECTS.get_or_init(|| {
        let folder = target("test-projects");
        std::fs::create_dir_all(folder.join(".cargo")).expect("target/ is writable");
        let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
        let manifest: toml::Table = manifest.parse().expect("a manifest");
        let mut profile = manifest["profile"].clone();
        // The crate that only the projects' own tests need.
        profile["release"]["package"]["classhook-rewriter"] = toml::toml! { opt-level = 0 }.into();
        let config = toml::Table::from_iter([("profile".to_owned(), profile)]);
        std::fs::write(folder.join(".cargo/config.toml"), config.to_string()).expect("written");
        folder
    })
}

/// Returns an empty folder for projects. It is always the same one, so that cargo recognises the projects.
pub fn place(name: &str) -> PathBuf {
    let folder = projects().join(name);
    let _ = std::fs::remove_dir_all(&folder); // it may not exist
    std::fs::create_dir_all(&folder).expect("target/ is writable");
    folder
}

/// A crate whose project shares its name with an example. In cargo's folder both write the same files, since a module
/// has no hash in its name. The next build of the workspace would take the project's files, or link them with another
/// SDK.
pub struct Shared(pub &'static str);

impl Drop for Shared {
    fn drop(&mut self) {
        for folder in ["wasm32-unknown-unknown/release/deps", "release/deps"] {
            for (prefix, ending) in [
                ("", "wasm"),
                ("lib", "rlib"),
                ("lib", "rmeta"),
                ("lib", "so"),
            ] {
                let file = target(folder).join(format!("{prefix}{}.{ending}", self.0));
                let _ = std::fs::remove_file(file); // it may not exist
            }
        }
    }
}
