//! The class path for a compiler: the class path of a JVM, with nested archives unpacked.
//!
//! A compiler reads folders and jars. A launcher's loader reads more: jars within a jar and folders
//! within it (`BOOT-INF/lib/a.jar`, `WEB-INF/classes`). These are unpacked into a temporary folder.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Component, Path, PathBuf};

use coverage_inputs::archive::{self, Entries, MAX_DEPTH};
use errors::Error;
use local_files::temporary;
use tempfile::TempDir;
use zip::ZipArchive;

/// Folders of classes within an archive, or within a folder that a launcher runs.
const CLASSES: [&str; 2] = ["BOOT-INF/classes/", "WEB-INF/classes/"];
/// Folders of jars within a folder that a launcher runs.
const LIBRARIES: [&str; 3] = ["BOOT-INF/lib", "WEB-INF/lib", "WEB-INF/lib-provided"];

/// Folders and jars for a compiler. The unpacked ones exist as long as this value.
#[derive(Debug)]
pub struct CompilePath {
    places: Vec<PathBuf>,
    seen: HashSet<PathBuf>,
    unpacked: TempDir,
    /// Number of unpacked archives and folders.
    count: usize,
}

impl CompilePath {
    /// Returns the path for this class path and module path. Missing entries, and those that are no
    /// archives, are left to the compiler.
    ///
    /// # Errors
    /// If unpacking fails (`H0620`), or an archive is damaged within (`H0613`).
    pub fn new(
        class_path: impl IntoIterator<Item = PathBuf>,
        module_path: impl IntoIterator<Item = PathBuf>,
    ) -> Result<Self, Error> {
        let unpacked = temporary::usual_folder()?;
        let mut path = Self {
            places: Vec::new(),
            seen: HashSet::new(),
            unpacked,
            count: 0,
        };
        for entry in class_path {
            path.add(entry)?;
        }
        for entry in module_path {
            path.add_modules(entry)?;
        }
        Ok(path)
    }

    /// Adds folders and jars at the end of the search order.
    ///
    /// # Errors
    /// As [`CompilePath::new`].
    pub fn extend(&mut self, places: impl IntoIterator<Item = PathBuf>) -> Result<(), Error> {
        places.into_iter().try_for_each(|place| self.add(place))
    }

    /// Returns folders and jars in search order.
    #[must_use]
    pub fn places(&self) -> &[PathBuf] {
        &self.places
    }

    /// Returns the number of unpacked archives and folders.
    #[must_use]
    pub fn unpacked(&self) -> usize {
        self.count
    }

    /// Formats the path as an option of the compiler. Paths with a colon are left out: no class
    /// path can name them.
    #[must_use]
    pub fn to_class_path(&self) -> OsString {
        let nameable = |place: &&PathBuf| !place.as_os_str().as_encoded_bytes().contains(&b':');
        std::env::join_paths(self.places.iter().filter(nameable)).unwrap_or_default()
    }

    /// Adds a folder or jar of a class path.
    fn add(&mut self, place: PathBuf) -> Result<(), Error> {
        if !self.seen.insert(place.clone()) {
            return Ok(());
        }
        self.places.push(place.clone());
        if place.is_dir() {
            return self.add_folders_within(&place);
        }
        let Ok(file) = File::open(&place) else {
            return Ok(());
        };
        let Ok(mut jar) = ZipArchive::new(BufReader::new(file)) else {
            return Ok(());
        };
        let origin = place.display().to_string();
        self.add_within(&origin, &mut jar, 0)?;
        let manifest = archive::manifest(&origin, &mut jar)?;
        let folder = place.parent().unwrap_or(Path::new(""));
        for named in class_path_of(&manifest, folder) {
            self.add(named)?;
        }
        Ok(())
    }

    /// Adds an entry of a module path: a module, or a folder of modules. The compiler sees one
    /// unnamed module, which reads every module.
    fn add_modules(&mut self, place: PathBuf) -> Result<(), Error> {
        if !place.is_dir() || place.join("module-info.class").is_file() {
            return self.add(place);
        }
        for module in sorted(&place) {
            if module.is_dir() || archive::has_archive_name(&module.to_string_lossy()) {
                self.add(module)?;
            }
        }
        Ok(())
    }

    /// Adds the folders of an unpacked application with its own launcher.
    fn add_folders_within(&mut self, folder: &Path) -> Result<(), Error> {
        for classes in CLASSES.map(|within| folder.join(within.trim_end_matches('/'))) {
            if classes.is_dir() {
                self.add(classes)?;
            }
        }
        for library in LIBRARIES
            .iter()
            .flat_map(|within| sorted(&folder.join(within)))
        {
            if archive::has_archive_name(&library.to_string_lossy()) {
                self.add(library)?;
            }
        }
        Ok(())
    }

    /// Adds the nested archives and class folders of an archive. Folders of classes come first, as
    /// with launchers.
    fn add_within<R: Read + Seek>(
        &mut self,
        origin: &str,
        jar: &mut ZipArchive<R>,
        depth: usize,
    ) -> Result<(), Error> {
        let names: Vec<String> = Entries::of(jar).collect();
        for root in CLASSES {
            let within = names
                .iter()
                .filter_map(|name| Some((name, name.strip_prefix(root)?)));
            let classes: Vec<(&String, &str)> = within
                .filter(|(_, below)| below.ends_with(".class") && stays_below(below))
                .collect();
            if classes.is_empty() {
                continue;
            }
            let folder = self.next_place("classes");
            for (name, below) in classes {
                let bytes = archive::read_entry(origin, jar, name)?;
                write(&folder.join(below), &bytes)?;
            }
            self.places.push(folder);
        }
        let jars = names.iter().filter(|name| is_library(name));
        for name in jars {
            let bytes = archive::read_entry(origin, jar, name)?;
            let file = name.rsplit('/').next().unwrap_or(name);
            let place = self.next_place(file);
            write(&place, &bytes)?;
            self.places.push(place);
            if let Ok(mut inner) = ZipArchive::new(Cursor::new(bytes))
                && depth < MAX_DEPTH
            {
                self.add_within(&format!("{origin}!/{name}"), &mut inner, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns a new path for an unpacked file or folder.
    fn next_place(&mut self, name: &str) -> PathBuf {
        self.count += 1;
        let name = name.replace(':', "_");
        self.unpacked.path().join(self.count.to_string()).join(name)
    }
}

/// Checks whether an entry is an archive of classes; a `zip` is data.
fn is_library(name: &str) -> bool {
    archive::has_archive_name(name) && !name.ends_with(".zip") && stays_below(name)
}

fn stays_below(name: &str) -> bool {
    Path::new(name)
        .components()
        .all(|part| matches!(part, Component::Normal(_)))
}

fn write(file: &Path, bytes: &[u8]) -> Result<(), Error> {
    let folder = file.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(file, bytes))
        .map_err(|error| Error::unwritable(file, &error))
}

/// Returns the entries of a folder, sorted by name; empty if the folder cannot be read.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Returns the files that `Class-Path` names: URLs relative to the jar (JAR file specification).
/// URLs with another scheme than `file` are left out.
fn class_path_of(manifest: &str, folder: &Path) -> Vec<PathBuf> {
    let Some(value) = archive::main_attribute(manifest, "Class-Path") else {
        return Vec::new();
    };
    let file = |url: &str| {
        let path = match url.strip_prefix("file:") {
            Some(path) => path.strip_prefix("//").unwrap_or(path),
            None if url.contains(':') => return None,
            None => url,
        };
        Some(folder.join(percent_decoded(path)))
    };
    value.split_whitespace().filter_map(file).collect()
}

/// Decodes `a%20b` as `a b`. An invalid escape stays.
fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let digits = text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    fn jar(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut jar = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in entries {
            jar.start_file(*name, SimpleFileOptions::default()).unwrap();
            jar.write_all(bytes).unwrap();
        }
        jar.finish().unwrap().into_inner()
    }

    /// Returns the entries, relative to `folder` or to the temporary folder, with the files in
    /// unpacked ones.
    fn shown(path: &CompilePath, folder: &Path) -> Vec<String> {
        let show = |place: &PathBuf| match place.strip_prefix(folder) {
            Ok(below) => below.display().to_string(),
            Err(_) => {
                let below = place.strip_prefix(path.unpacked.path()).unwrap();
                let files = walked(place);
                format!("+{} {}", below.display(), files.join(" "))
                    .trim()
                    .to_owned()
            }
        };
        path.places().iter().map(show).collect()
    }

    fn walked(folder: &Path) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for path in sorted(&next) {
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(path.strip_prefix(folder).unwrap().display().to_string());
                }
            }
        }
        found
    }

    #[test]
    fn nested_archives_are_unpacked_in_the_order_of_launchers() {
        let folder = tempfile::tempdir().unwrap();
        let inner = jar(&[("i/Inner.class", b"i")]);
        let war = jar(&[
            ("WEB-INF/classes/w/W.class", b"w"),
            ("WEB-INF/lib/inner.jar", &inner),
        ]);
        let app = jar(&[
            ("loader/Launcher.class", b"l"),
            ("BOOT-INF/lib/a.jar", &jar(&[("a/A.class", b"a")])),
            ("BOOT-INF/lib/data.zip", &inner),
            ("BOOT-INF/classes/shop/Shop.class", b"s"),
            ("BOOT-INF/classes/../../evil.class", b"e"),
            ("web.war", &war),
        ]);
        fs::write(folder.path().join("app.jar"), app).unwrap();
        let path = CompilePath::new([folder.path().join("app.jar")], []).unwrap();
        assert_eq!(
            shown(&path, folder.path()),
            [
                "app.jar",
                "+1/classes shop/Shop.class",
                "+2/a.jar",
                "+3/web.war",
                "+4/classes w/W.class",
                "+5/inner.jar",
            ]
        );
        assert_eq!(path.unpacked(), 5);
        let unpacked = path.unpacked.path().to_owned();
        drop(path);
        assert!(!unpacked.exists());
    }

    #[test]
    fn jars_in_a_manifest_class_path_are_found_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let long = "Manifest-Version: 1.0\r\nClass-Path: lib/with%20bla\r\n nk.jar app.jar http://x/y.jar\r\n\r\nName: x\r\n";
        fs::create_dir(file("lib")).unwrap();
        fs::write(
            file("app.jar"),
            jar(&[("META-INF/MANIFEST.MF", long.as_bytes())]),
        )
        .unwrap();
        fs::write(file("lib/with blank.jar"), jar(&[("b/B.class", b"b")])).unwrap();
        let path = CompilePath::new([file("app.jar"), file("absent.jar")], []).unwrap();
        assert_eq!(
            shown(&path, folder.path()),
            ["app.jar", "lib/with blank.jar", "absent.jar"]
        );
    }

    #[test]
    fn modules_and_unpacked_applications_are_split_into_entries() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "modules/a.jar",
            "modules/exploded/module-info.class",
            "modules/notes.txt",
            "app/BOOT-INF/classes/A.class",
            "app/BOOT-INF/lib/b.jar",
        ] {
            write(&folder.path().join(name), b"").unwrap();
        }
        let file = |name: &str| folder.path().join(name);
        let path = CompilePath::new([file("app")], [file("modules")]).unwrap();
        assert_eq!(
            shown(&path, folder.path()),
            [
                "app",
                "app/BOOT-INF/classes",
                "app/BOOT-INF/lib/b.jar",
                "modules/a.jar",
                "modules/exploded",
            ]
        );
    }

    #[test]
    fn url_escapes_are_decoded() {
        assert_eq!(percent_decoded("a%20b%C3%A9%zz%"), "a bé%zz%");
    }
}
