//! Source files: from folders, jars and `src.zip`, with or without a folder per module.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use zip::ZipArchive;

use super::archive::{self, Entries};
use crate::problem::Problem;

/// Folders and archives with sources, searched in the order given.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<SourceRoot>,
}

#[derive(Debug)]
enum SourceRoot {
    /// A folder, and its direct sub-folders: a folder per module.
    Folder {
        root: PathBuf,
        modules: Vec<PathBuf>,
    },
    Archive {
        origin: String,
        archive: Mutex<ZipArchive<BufReader<File>>>,
        entries: HashMap<String, String>,
    },
}

impl Sources {
    /// Opens the folders and archives.
    ///
    /// # Errors
    /// If one cannot be read or is neither folder nor archive.
    pub fn open(paths: &[PathBuf]) -> Result<Self, Problem> {
        let roots = paths
            .iter()
            .map(|path| SourceRoot::open(path))
            .collect::<Result<_, _>>()?;
        Ok(Self { roots })
    }

    /// The text of `file` (`Main.java`) of `package` (`com/acme`), if any root has it; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn find(&self, package: &str, file: &str) -> Option<String> {
        let name = plain_name(package, file)?;
        let found = self.roots.iter().find_map(|root| root.find(&name));
        let bytes = found.or_else(|| fs::read(self.below_common_package(package, &name)?).ok())?;
        Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        )
    }
}

impl Sources {
    /// The path of `file` of `package`, relative to the working folder if it lies there; none of a file in an archive.
    #[must_use]
    pub fn path_of(&self, package: &str, file: &str) -> Option<PathBuf> {
        let name = plain_name(package, file)?;
        let found = self.roots.iter().find_map(|root| root.path_of(&name));
        let path = found.or_else(|| self.below_common_package(package, &name))?;
        let path = std::path::absolute(path).ok()?;
        let here = std::env::current_dir().ok();
        let within = here.and_then(|here| Some(path.strip_prefix(here).ok()?.to_owned()));
        Some(within.unwrap_or(path))
    }

    /// The file where its path leaves out the packages that all files of a project have in common, as Kotlin's conventions
    /// have it: `web/Page.kt`, which says that it is of `com.acme.web`.
    fn below_common_package(&self, package: &str, name: &str) -> Option<PathBuf> {
        let shorter = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
        let mut files = shorter.flat_map(|name| {
            let roots = self.roots.iter();
            roots.filter_map(move |root| root.path_of(name))
        });
        files.find(|path| declares(path, package))
    }

    /// The folder to which paths of files are relative: the working folder, if there are folders with sources.
    #[must_use]
    pub fn folder(&self) -> Option<PathBuf> {
        let is_folder = |root: &SourceRoot| matches!(root, SourceRoot::Folder { .. });
        self.roots
            .iter()
            .any(is_folder)
            .then(std::env::current_dir)?
            .ok()
    }
}

/// Whether a source file says that it is of this package (`com/acme`).
#[must_use]
pub fn declares(path: &Path, package: &str) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let declared = text
        .lines()
        .find_map(|line| line.trim_start().strip_prefix("package "));
    let declared = declared.unwrap_or_default().trim_start();
    let end = declared.find(|char: char| !char.is_alphanumeric() && !"._$`".contains(char));
    let declared = declared
        .get(..end.unwrap_or(declared.len()))
        .unwrap_or_default();
    declared.replace('`', "").replace('.', "/") == package
}

/// The path of a file below the root of its package; none if it would lead elsewhere.
fn plain_name(package: &str, file: &str) -> Option<String> {
    let name = match package {
        "" => file.to_owned(),
        package => format!("{package}/{file}"),
    };
    let is_plain = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then_some(name)
}

impl SourceRoot {
    fn open(path: &Path) -> Result<Self, Problem> {
        let unreadable = |error| Problem::unreadable(path, &error);
        if path.metadata().map_err(unreadable)?.is_dir() {
            let folders = fs::read_dir(path)
                .map_err(unreadable)?
                .filter_map(|entry| Some(entry.ok()?.path()));
            let mut modules: Vec<_> = folders.filter(|path| path.is_dir()).collect();
            modules.sort();
            return Ok(Self::Folder {
                root: path.to_owned(),
                modules,
            });
        }
        let origin = path.display().to_string();
        let archive = archive::open(
            &origin,
            BufReader::new(File::open(path).map_err(unreadable)?),
        )?;
        let entries = index(Entries::of(&archive));
        Ok(Self::Archive {
            origin,
            archive: Mutex::new(archive),
            entries,
        })
    }

    fn find(&self, name: &str) -> Option<Vec<u8>> {
        match self {
            Self::Folder { .. } => fs::read(self.path_of(name)?).ok(),
            Self::Archive {
                origin,
                archive,
                entries,
            } => {
                let entry = entries.get(name)?;
                let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
                archive::read_entry(origin, &mut archive, entry).ok()
            }
        }
    }
}

impl SourceRoot {
    /// The file below the folder or one of its direct sub-folders; archives have none.
    fn path_of(&self, name: &str) -> Option<PathBuf> {
        let Self::Folder { root, modules } = self else {
            return None;
        };
        let roots = std::iter::once(root).chain(modules);
        roots
            .map(|root| root.join(name))
            .find(|path| path.is_file())
    }
}

/// Entries by package path: as they are, and behind a first folder (a module's, as in the JDK's `src.zip`).
fn index(entries: Entries) -> HashMap<String, String> {
    let mut index = HashMap::new();
    let names: Vec<String> = entries.collect();
    for name in &names {
        if let Some((_, inner)) = name.split_once('/') {
            index
                .entry(inner.to_owned())
                .or_insert_with(|| name.clone());
        }
    }
    index.extend(names.into_iter().map(|name| (name.clone(), name))); // an exact name wins
    index
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn sources_are_found_in_folders_and_archives_also_below_a_module() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("src");
        fs::create_dir_all(folder.join("com/acme")).unwrap();
        fs::write(folder.join("com/acme/A.java"), "class A").unwrap();
        fs::create_dir_all(folder.join("my.module/com/acme")).unwrap();
        fs::write(folder.join("my.module/com/acme/M.java"), "class M").unwrap();
        fs::write(folder.join("Top.java"), b"caf\xE9").unwrap();
        let archive = root.path().join("src.zip");
        let mut zip = zip::ZipWriter::new(File::create(&archive).unwrap());
        for name in ["java.base/java/lang/Object.java", "com/acme/Z.java"] {
            zip.start_file(name, zip::write::SimpleFileOptions::default())
                .unwrap();
            zip.write_all(name.as_bytes()).unwrap();
        }
        zip.finish().unwrap();

        let sources = Sources::open(&[folder, archive]).unwrap();
        let find = |package, file| sources.find(package, file);
        assert_eq!(find("com/acme", "A.java").as_deref(), Some("class A"));
        assert_eq!(find("com/acme", "M.java").as_deref(), Some("class M"));
        assert_eq!(
            find("java/lang", "Object.java").as_deref(),
            Some("java.base/java/lang/Object.java")
        );
        assert_eq!(
            find("com/acme", "Z.java").as_deref(),
            Some("com/acme/Z.java")
        );
        assert_eq!(find("", "Top.java").as_deref(), Some("caf\u{FFFD}"));
        assert_eq!(find("com/acme", "Missing.java"), None);
    }

    #[test]
    fn kotlins_paths_leave_out_the_packages_that_all_files_share() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("App.kt", "package com.acme");
        write("web/Page.kt", "// x\n\npackage com.acme.`web` // y\n");
        write("web/Other.kt", "package com.other.web");
        let sources = Sources::open(&[root.path().to_owned()]).unwrap();
        let text = |package, file| sources.find(package, file);
        assert_eq!(
            text("com/acme", "App.kt").as_deref(),
            Some("package com.acme")
        );
        assert!(text("com/acme/web", "Page.kt").is_some());
        assert_eq!(text("com/acme/web", "Other.kt"), None, "of another package");
        assert_eq!(text("com/acme/web", "App.kt"), None, "of another package");
        let path = sources.path_of("com/acme/web", "Page.kt").unwrap();
        assert!(path.ends_with("web/Page.kt"), "{}", path.display());
    }

    #[test]
    fn names_that_lead_out_of_the_folder_find_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("secret"), "x").unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let sources = Sources::open(&[root.path().join("src")]).unwrap();
        assert_eq!(sources.find("..", "secret"), None);
        assert_eq!(
            sources.find("", &root.path().join("secret").display().to_string()),
            None
        );
    }

    #[test]
    fn missing_root_is_named() {
        let error = Sources::open(&["/nowhere/src".into()]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/src"), "{error}");
    }
}
