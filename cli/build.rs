//! Packs the SDK for `classhook plugin new`: the sources of the crates that plugins and their tests are built of, and the
//! versions of what these take from the registry.

use std::io;
use std::path::{Path, PathBuf};

/// The folders of the crates.
const CRATES: [&str; 7] = [
    "escape",
    "globs",
    "jvms",
    "plan-rules",
    "rewriter",
    "sdk",
    "sdk/testkit",
];

/// What is taken as it is.
const FILES: [&str; 4] = [
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "wit/plugin.wit",
];

/// The parts of a manifest that building the crate for a plugin does not need.
const LEFT_OUT: [&str; 5] = [
    "[dev-dependencies]",
    "[[bench]]",
    "[[example]]",
    "[[test]]",
    "[lints]",
];

/// A path below the SDK's folder, and the contents.
type Packed = (String, Vec<u8>);

fn main() -> io::Result<()> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let root = variable("CARGO_MANIFEST_DIR")
        .unwrap_or_default()
        .join("..");
    let out = variable("OUT_DIR").unwrap_or_default();
    let mut packed = vec![("Cargo.toml".to_owned(), workspace(&root)?.into_bytes())];
    for name in FILES {
        packed.push((name.to_owned(), read(&root.join(name))?));
    }
    for name in CRATES {
        add_crate(&root, name, &mut packed)?;
    }
    let index: String = packed
        .iter()
        .map(|(path, contents)| format!("({path:?}, {}),", contents.len()))
        .collect();
    let all: Vec<u8> = packed
        .into_iter()
        .flat_map(|(_, contents)| contents)
        .collect();
    std::fs::write(out.join("sdk.lz4"), lz4_flex::compress_prepend_size(&all))?;
    let text = format!(
        "const FILES: &[(&str, usize)] = &[{index}];\n\
         const PACKED: &[u8] = include_bytes!({:?});\n",
        out.join("sdk.lz4")
    );
    std::fs::write(out.join("sdk.rs"), text)
}

/// Reads a file, and has this run again when it changes.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    println!("cargo::rerun-if-changed={}", path.display());
    std::fs::read(path)
}

/// A workspace of the packed crates, with what they inherit.
fn workspace(root: &Path) -> io::Result<String> {
    let manifest = String::from_utf8_lossy(&read(&root.join("Cargo.toml"))?).into_owned();
    let inherited = ["[workspace.package]", "[workspace.dependencies]"];
    let inherited = parts(&manifest, |head| inherited.contains(&head));
    Ok(format!(
        "[workspace]\nresolver = \"3\"\nmembers = {CRATES:?}\n\n{inherited}"
    ))
}

/// The parts of a manifest whose first lines are wanted.
fn parts(manifest: &str, is_wanted: impl Fn(&str) -> bool) -> String {
    let mut taken = false;
    let mut text = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            taken = is_wanted(line);
        }
        if taken {
            text += line;
            text.push('\n');
        }
    }
    text
}

fn add_crate(root: &Path, name: &str, packed: &mut Vec<Packed>) -> io::Result<()> {
    let folder = root.join(name);
    let manifest = String::from_utf8_lossy(&read(&folder.join("Cargo.toml"))?).into_owned();
    let manifest = parts(&manifest, |head| !LEFT_OUT.contains(&head));
    packed.push((format!("{name}/Cargo.toml"), manifest.into_bytes()));
    let readme = folder.join("README.md");
    if readme.is_file() {
        packed.push((format!("{name}/README.md"), read(&readme)?));
    }
    println!("cargo::rerun-if-changed={}", folder.join("src").display());
    add_sources(&folder.join("src"), &format!("{name}/src"), packed)
}

fn add_sources(folder: &Path, name: &str, packed: &mut Vec<Packed>) -> io::Result<()> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<_>>()?;
    entries.sort();
    for entry in entries {
        let last = entry.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{name}/{last}");
        if entry.is_dir() {
            add_sources(&entry, &name, packed)?;
        } else {
            packed.push((name, std::fs::read(&entry)?));
        }
    }
    Ok(())
}
