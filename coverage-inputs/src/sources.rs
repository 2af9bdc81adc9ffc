//! Source files from folders, jars and `src.zip`, with or without a folder per module.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use coverage::model::ClassCoverage;
use coverage::report::SourceLookup;
use errors::Error;
use zip::ZipArchive;

use super::archive::{self, Entries};

/// Folders and archives with sources, searched in the order given.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<SourceRoot>,
    /// Files found so far, by their paths below the root of a package.
    known: Mutex<HashMap<String, Arc<[SourceFile]>>>,
}

/// A source file.
#[derive(Debug, Clone, PartialEq, Eq)]
enum SourceFile {
    /// A separate file.
    Plain(PathBuf),
    /// An entry of the archive with this root number, under this name.
    Packed(usize, String),
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
    pub fn open(paths: &[PathBuf]) -> Result<Self, Error> {
        let roots = paths
            .iter()
            .map(|path| SourceRoot::open(path))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            roots,
            known: Mutex::default(),
        })
    }

    /// Returns the text of `file` (`Main.java`) of `package` (`com/acme`), if any root has it.
    /// `copy` chooses among several, 0 means the first. Bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn find(&self, package: &str, file: &str, copy: u16) -> Option<String> {
        let name = plain_name(package, file)?;
        let bytes = match self.all_of(&name).get(index(copy)) {
            Some(found) => self.read(found),
            None => fs::read(self.below_common_package(package, &name)?).ok(),
        }?;
        Some(
            String::from_utf8(bytes)
                .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
        )
    }

    /// Returns the number of a class's source file among several of that name, from 1, or 0 with at
    /// most one file.
    ///
    /// The file must declare the class. Among several, the nearest to `place` wins, the location of
    /// the class file.
    #[must_use]
    pub fn copy_of(&self, class: &ClassCoverage, place: &str) -> u16 {
        let file = class.source_file.as_deref();
        let name = file.and_then(|file| plain_name(class.package(), file));
        let all = name.map(|name| self.all_of(&name)).unwrap_or_default();
        if all.len() < 2 {
            return 0;
        }
        let simple = class.name.rsplit('/').next().unwrap_or_default();
        let top = simple.split('$').next().filter(|top| !top.is_empty());
        let declares = |file: &SourceFile| {
            let text = self.read(file).unwrap_or_default();
            declares_type(&String::from_utf8_lossy(&text), top.unwrap_or(simple))
        };
        let declaring: Vec<bool> = all.iter().map(declares).collect();
        let any = declaring.contains(&true);
        let place = std::path::absolute(place).unwrap_or_default();
        let near = |file: &SourceFile| match file {
            SourceFile::Plain(path) => {
                shared(&std::path::absolute(path).unwrap_or_default(), &place)
            }
            SourceFile::Packed(root, _) => match self.roots.get(*root) {
                Some(SourceRoot::Archive { origin, .. }) => {
                    shared(&std::path::absolute(origin).unwrap_or_default(), &place)
                }
                _ => 0,
            },
        };
        let candidates = all.iter().zip(&declaring).zip(1..);
        let candidates = candidates.filter(|((_, declares), _)| **declares || !any);
        // The first of equally near files wins.
        let best =
            candidates.max_by_key(|((file, _), copy)| (near(file), std::cmp::Reverse(*copy)));
        best.map_or(0, |(_, copy)| copy)
    }

    /// Returns all files at this path below the root of a package, in the order of the roots, each
    /// once.
    fn all_of(&self, name: &str) -> Arc<[SourceFile]> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(all) = known.get(name) {
            return Arc::clone(all);
        }
        let mut all = Vec::new();
        for (number, root) in self.roots.iter().enumerate() {
            for found in root.all_of(number, name) {
                if !all.contains(&found) {
                    all.push(found);
                }
            }
        }
        let all: Arc<[SourceFile]> = all.into();
        known.insert(name.to_owned(), Arc::clone(&all));
        all
    }

    fn read(&self, file: &SourceFile) -> Option<Vec<u8>> {
        match file {
            SourceFile::Plain(path) => fs::read(path).ok(),
            SourceFile::Packed(root, entry) => self.roots.get(*root)?.read(entry),
        }
    }
}

/// Converts a copy number to an index: 0 and 1 are the first.
fn index(copy: u16) -> usize {
    usize::from(copy).saturating_sub(1)
}

/// Counts the first parts that two paths share.
fn shared(one: &Path, other: &Path) -> usize {
    let pairs = one.components().zip(other.components());
    pairs.take_while(|(one, other)| one == other).count()
}

/// Checks whether a source declares a type of this name, behind a word that begins a declaration.
fn declares_type(text: &str, name: &str) -> bool {
    const WORDS: [&str; 6] = ["class", "interface", "enum", "record", "object", "trait"];
    let is_part = |character: char| character.is_alphanumeric() || "_$".contains(character);
    let mut words = text.split(|character: char| !is_part(character));
    let mut before = "";
    words.any(|word| {
        let found = word == name && WORDS.contains(&before);
        if !word.is_empty() {
            before = word;
        }
        found
    })
}

impl Sources {
    /// Returns the path of `file` of `package`, relative to the working folder if it is below that,
    /// or nothing for a file in an archive.
    #[must_use]
    pub fn path_of(&self, package: &str, file: &str, copy: u16) -> Option<PathBuf> {
        let name = plain_name(package, file)?;
        let path = match self.all_of(&name).get(index(copy)) {
            Some(SourceFile::Plain(path)) => path.clone(),
            Some(SourceFile::Packed(..)) => return None,
            None => self.below_common_package(package, &name)?,
        };
        let path = std::path::absolute(path).ok()?;
        let here = std::env::current_dir().ok();
        let within = here.and_then(|here| Some(path.strip_prefix(here).ok()?.to_owned()));
        Some(within.unwrap_or(path))
    }

    /// Finds a file whose path leaves out the packages that all files of a project share, as in
    /// Kotlin's conventions: `web/Page.kt`, which declares the package `com.acme.web`.
    fn below_common_package(&self, package: &str, name: &str) -> Option<PathBuf> {
        let shorter = name.match_indices('/').map(|(at, _)| &name[at + 1..]);
        let mut files = shorter.flat_map(|name| {
            let files = self.all_of(name);
            let plain = files.iter().filter_map(|file| match file {
                SourceFile::Plain(path) => Some(path.clone()),
                SourceFile::Packed(..) => None,
            });
            plain.collect::<Vec<_>>()
        });
        files.find(|path| declares(path, package))
    }

    /// Returns the base folder of relative file paths: the working folder, if any root is a folder.
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

impl SourceLookup for Sources {
    fn source(&self, package: &str, file: &str, copy: u16) -> Option<String> {
        self.find(package, file, copy)
    }

    fn path(&self, package: &str, file: &str, copy: u16) -> Option<String> {
        Some(self.path_of(package, file, copy)?.display().to_string())
    }

    fn folder(&self) -> Option<String> {
        self.folder().map(|folder| folder.display().to_string())
    }
}

/// Checks whether a source file declares this package (`com/acme`).
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

/// Returns the path of a file below the root of its package, or nothing if it would lead elsewhere.
fn plain_name(package: &str, file: &str) -> Option<String> {
    let name = match package {
        "" => file.to_owned(),
        package => format!("{package}/{file}"),
    };
    let is_plain = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then_some(name)
}

impl SourceRoot {
    fn open(path: &Path) -> Result<Self, Error> {
        let unreadable = |error| Error::unreadable(path, &error);
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
        let entries = by_path(Entries::of(&archive));
        Ok(Self::Archive {
            origin,
            archive: Mutex::new(archive),
            entries,
        })
    }

    /// Reads an entry. A folder has no bytes.
    fn read(&self, entry: &str) -> Option<Vec<u8>> {
        let Self::Archive {
            origin, archive, ..
        } = self
        else {
            return None;
        };
        let mut archive = archive.lock().unwrap_or_else(PoisonError::into_inner);
        archive::read_entry(origin, &mut archive, entry).ok()
    }

    /// Returns the files at this path below the folder and its direct sub-folders, or in the
    /// archive. `number` is the root's.
    fn all_of(&self, number: usize, name: &str) -> Vec<SourceFile> {
        match self {
            Self::Folder { root, modules } => {
                let roots = std::iter::once(root).chain(modules);
                let paths = roots.map(|root| root.join(name));
                let files = paths.filter(|path| path.is_file());
                files.map(SourceFile::Plain).collect()
            }
            Self::Archive { entries, .. } => {
                let entry = entries.get(name).into_iter();
                entry
                    .map(|entry| SourceFile::Packed(number, entry.clone()))
                    .collect()
            }
        }
    }
}

/// Indexes entries by package path: their full path, and the path behind a first folder (a
/// module's, as in the JDK's `src.zip`).
fn by_path(entries: Entries) -> HashMap<String, String> {
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
    fn sources_are_found_in_folders_archives_and_modules() {
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
        let find = |package, file| sources.find(package, file, 0);
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
        let text = |package, file| sources.find(package, file, 0);
        assert_eq!(
            text("com/acme", "App.kt").as_deref(),
            Some("package com.acme")
        );
        assert!(text("com/acme/web", "Page.kt").is_some());
        assert_eq!(text("com/acme/web", "Other.kt"), None, "of another package");
        assert_eq!(text("com/acme/web", "App.kt"), None, "of another package");
        let path = sources.path_of("com/acme/web", "Page.kt", 0).unwrap();
        assert!(path.ends_with("web/Page.kt"), "{}", path.display());
    }

    #[test]
    fn names_outside_the_folder_find_nothing() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("secret"), "x").unwrap();
        fs::create_dir(root.path().join("src")).unwrap();
        let sources = Sources::open(&[root.path().join("src")]).unwrap();
        assert_eq!(sources.find("..", "secret", 0), None);
        assert_eq!(
            sources.find("", &root.path().join("secret").display().to_string(), 0),
            None
        );
    }

    #[test]
    fn class_finds_its_own_file_among_two_of_one_name() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let package = "package p;\n";
        write(
            "a/src/p/X.java",
            &format!("{package}class X {{ class In {{}} }}"),
        );
        write(
            "b/src/p/X.java",
            &format!("{package}@interface Y {{}} // X class"),
        );
        write("a/src/p/U.kt", &format!("{package}fun one() = 1"));
        write("b/src/p/U.kt", &format!("{package}fun two() = 2"));
        write("b/src/p/Alone.java", package);
        let folders = ["a/src", "b/src", "a/src"].map(|folder| root.path().join(folder));
        let sources = Sources::open(&folders).unwrap();
        let copy = |name: &str, file: &str, place: &str| {
            let mut class = ClassCoverage::new(1, name);
            class.source_file = Some(file.to_owned());
            sources.copy_of(&class, &root.path().join(place).display().to_string())
        };
        // The declaration decides, even with the class file in another module.
        assert_eq!(copy("p/X", "X.java", "all/classes"), 1);
        assert_eq!(copy("p/X$In", "X.java", "b/classes"), 1);
        assert_eq!(copy("p/Y", "X.java", "a/classes"), 2);
        // No file declares these, so the folder of the class file decides.
        assert_eq!(copy("p/UKt", "U.kt", "a/classes"), 1);
        assert_eq!(copy("p/UKt", "U.kt", "b/classes"), 2);
        assert_eq!(copy("p/Alone", "Alone.java", "a/classes"), 0);
        let text = sources.find("p", "X.java", 2).unwrap();
        assert!(text.contains("@interface Y"), "{text}");
        let path = sources.path_of("p", "U.kt", 2).unwrap();
        assert!(path.ends_with("b/src/p/U.kt"), "{}", path.display());
    }

    #[test]
    fn missing_root_is_named() {
        let error = Sources::open(&["/nowhere/src".into()]).unwrap_err();
        assert!(error.to_string().contains("/nowhere/src"), "{error}");
    }
}
