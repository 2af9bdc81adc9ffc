//! Class files that were never loaded: from folders, jars, jars within jars, and the JDK's own modules.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, File, FileType, Metadata};
use std::io::{BufReader, Cursor, Read, Seek};
use std::path::{Path, PathBuf};

use errors::{Error, codes};
use local_files::special_file::{describe, is_special};
use zip::ZipArchive;

use super::archive::{self, Entries, MAX_DEPTH};
use super::jrt;

/// Classes per batch: enough for all processors, small enough for memory.
const BATCH: usize = 1_000;

/// Size of the first read of a file, in bytes.
const START: usize = 64 * 1024;

/// A class file and its origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocatedClass {
    /// Origin for messages: `app.jar!/BOOT-INF/lib/a.jar!/com/acme/A.class`.
    pub origin: String,
    /// The class file.
    pub bytes: Vec<u8>,
}

/// The JVM that would have loaded the classes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loader {
    /// Feature release (17, 21, …), which chooses among the versions in a multi-release jar; 0 for the base version.
    pub java_feature: u32,
    /// `java.home`, for `jrt:MODULE`.
    pub java_home: Option<PathBuf>,
}

impl Loader {
    /// Returns the newest possible JVM.
    #[must_use]
    pub fn newest() -> Self {
        Self {
            java_feature: u32::MAX - 1,
            java_home: None,
        }
    }

    /// Returns a placeholder for no particular JVM: every version in a multi-release jar is found.
    #[must_use]
    pub fn every_version() -> Self {
        Self {
            java_feature: u32::MAX,
            java_home: None,
        }
    }
}

/// An unreadable item within a location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// File, folder or entry of an archive.
    pub origin: String,
    /// The cause.
    pub problem: Error,
}

/// Reads all classes of `place`, a folder, a jar, a class file or `jrt:MODULE`, in batches.
///
/// # Errors
/// If the location, or anything within it, cannot be read, and the first error of `visit`.
pub fn read(place: &str, loader: &Loader, visit: Visit<'_>) -> Result<(), Error> {
    let unreadable = read_intact(place, loader, visit)?.into_iter().next();
    unreadable.map_or(Ok(()), |first| Err(first.problem))
}

/// Reads the readable classes of `place`, in batches, and returns the unreadable items within it.
///
/// # Errors
/// If the location itself cannot be read, and the first error of `visit`.
pub fn read_intact(
    place: &str,
    loader: &Loader,
    visit: Visit<'_>,
) -> Result<Vec<Unreadable>, Error> {
    let walk = Walk::new(loader, visit);
    if let Some(module) = jrt::module(place)? {
        let modules = jrt::extract(module, loader.java_home.as_deref())?;
        let entries = entries(modules.path())?;
        return walk.all(|walk| walk.folder(modules.path(), modules.path(), entries));
    }
    let path = Path::new(place);
    if kind_of(place)?.is_dir() {
        let entries = entries(path)?;
        return walk.all(|walk| walk.folder(path, path, entries));
    }
    walk.all(|walk| {
        let opened = walk.open(path)?;
        walk.opened(path, opened)
    })
}

/// Checks that a location exists, or that `jrt:` names a possible module. The JDK is not known yet.
///
/// # Errors
/// `H0612`; `H0614` for an impossible module name.
pub fn check(place: &str) -> Result<(), Error> {
    match jrt::module(place)? {
        Some(_) => Ok(()),
        None => kind_of(place).map(drop),
    }
}

/// Returns the internal names of the classes in a folder or an archive, from the paths of their
/// files. Those of a folder come with their files.
///
/// Unreadable folders and archives have no names.
#[must_use]
pub fn names(place: &Path) -> Vec<(Option<PathBuf>, String)> {
    let class = |path: &str| Some(path.strip_suffix(".class")?.to_owned());
    let mut names = Vec::new();
    if place.is_file() {
        let file = File::open(place).ok();
        let archive = file.and_then(|file| ZipArchive::new(BufReader::new(file)).ok());
        let entries = archive.iter().flat_map(Entries::of);
        names.extend(entries.filter_map(|name| Some((None, class(&name)?))));
    }
    let mut folders = vec![place.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let within = path.strip_prefix(place).ok().and_then(Path::to_str);
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(path),
                _ => names.extend(
                    within
                        .and_then(class)
                        .map(|name| (Some(path.clone()), name)),
                ),
            }
        }
    }
    names
}

fn kind_of(place: &str) -> Result<Metadata, Error> {
    let path = Path::new(place);
    path.metadata().map_err(|error| {
        let problem = Error::unreadable(path, &error);
        let is_there = |part: &str| !part.is_empty() && Path::new(part).exists();
        match place.contains(':') && place.split(':').any(is_there) {
            true => problem.with(
                "help",
                "name each location separately: --classes A --classes B",
            ),
            false => problem,
        }
    })
}

/// Callback for batches of classes.
pub type Visit<'v> = &'v mut dyn FnMut(Vec<LocatedClass>) -> Result<(), Error>;

/// A file that was opened.
enum Opened {
    /// The bytes of a class file.
    Class(Vec<u8>),
    Archive(Archive<BufReader<File>>),
}

/// An archive, and the names of its entries to read.
type Archive<R> = (ZipArchive<R>, Vec<String>);

/// Sorted names in a folder, with their file types.
type Names = Vec<(OsString, FileType)>;

fn entries(folder: &Path) -> Result<Names, Error> {
    let unreadable = |error| Error::unreadable(folder, &error);
    let entries = fs::read_dir(folder).map_err(unreadable)?;
    let mut entries = entries
        .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?))))
        .collect::<std::io::Result<Names>>()
        .map_err(unreadable)?;
    entries.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
    Ok(entries)
}

struct Walk<'v> {
    loader: Loader,
    /// Buffer for the start of a file. Nearly all class files fit: one read gets the content,
    /// another finds the end.
    start: Vec<u8>,
    batch: Vec<LocatedClass>,
    unreadable: Vec<Unreadable>,
    visit: Visit<'v>,
}

impl<'v> Walk<'v> {
    fn new(loader: &Loader, visit: Visit<'v>) -> Self {
        Self {
            loader: loader.clone(),
            start: Vec::with_capacity(START + 1),
            batch: Vec::new(),
            unreadable: Vec::new(),
            visit,
        }
    }

    fn all(
        mut self,
        walk: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<Vec<Unreadable>, Error> {
        walk(&mut self)?;
        (self.visit)(self.batch)?;
        Ok(self.unreadable)
    }

    fn found(&mut self, origin: String, bytes: Vec<u8>) -> Result<(), Error> {
        self.batch.push(LocatedClass { origin, bytes });
        if self.batch.len() >= BATCH {
            return (self.visit)(std::mem::take(&mut self.batch));
        }
        Ok(())
    }

    /// Returns a readable item, or nothing and an entry in `unreadable` otherwise.
    fn readable<T>(&mut self, origin: &str, read: Result<T, Error>) -> Option<T> {
        read.map_err(|problem| {
            let origin = origin.to_owned();
            self.unreadable.push(Unreadable { origin, problem });
        })
        .ok()
    }

    /// Reads all classes and archives below a folder, in order of their names. Links to folders are
    /// followed once.
    fn folder(&mut self, root: &Path, folder: &Path, names: Names) -> Result<(), Error> {
        for (name, kind) in names {
            let path = folder.join(&name);
            let name = name.to_string_lossy();
            if kind.is_dir() || (kind.is_symlink() && path.is_dir()) {
                if leads_back(root, &path) {
                    continue;
                }
                let names = self.readable(&path.display().to_string(), entries(&path));
                self.folder(root, &path, names.unwrap_or_default())?;
            } else if is_class(&name) || archive::has_archive_name(&name) {
                let opened = self.open(&path);
                if let Some(opened) = self.readable(&path.display().to_string(), opened) {
                    self.opened(&path, opened)?;
                }
            }
        }
        Ok(())
    }

    fn open(&mut self, path: &Path) -> Result<Opened, Error> {
        let unreadable = |error| Error::unreadable(path, &error);
        let is_dangling = path.is_symlink() && !path.exists();
        if is_special(path) || is_dangling {
            return Err(no_file(path)); // opening a pipe waits for a writer
        }
        let mut file = File::open(path).map_err(unreadable)?;
        self.start.clear();
        let mut first = file.by_ref().take(START as u64);
        first.read_to_end(&mut self.start).map_err(unreadable)?;
        let origin = path.display().to_string();
        match self.start.get(..4) {
            Some(b"PK\x03\x04" | b"PK\x05\x06") => {
                file.rewind().map_err(unreadable)?;
                let archive = self.open_archive(&origin, BufReader::new(file))?;
                Ok(Opened::Archive(archive))
            }
            Some([0xCA, 0xFE, 0xBA, 0xBE]) => {
                let mut bytes = self.start.clone();
                if bytes.len() == START {
                    file.read_to_end(&mut bytes).map_err(unreadable)?;
                }
                Ok(Opened::Class(bytes))
            }
            found => Err(Error::mistake(
                codes::H0613,
                format!("{origin} is neither a class file nor an archive"),
            )
            .with(
                "expected",
                "a file that begins with ca fe ba be, or with PK",
            )
            .with("found", format!("{:02x?}", found.unwrap_or(&self.start)))
            .with("help", "leave it out, or build it again")),
        }
    }

    fn opened(&mut self, path: &Path, opened: Opened) -> Result<(), Error> {
        let origin = path.display().to_string();
        match opened {
            Opened::Class(bytes) => self.found(origin, bytes),
            Opened::Archive(archive) => self.archive(&origin, archive, 0),
        }
    }

    fn open_archive<R: Read + Seek>(&self, origin: &str, reader: R) -> Result<Archive<R>, Error> {
        let mut jar = archive::open(origin, reader)?;
        let wanted = self.wanted_entries(origin, &mut jar)?;
        Ok((jar, wanted))
    }

    fn archive<R: Read + Seek>(
        &mut self,
        origin: &str,
        (mut jar, wanted): Archive<R>,
        depth: usize,
    ) -> Result<(), Error> {
        for name in wanted {
            let read = archive::read_entry(origin, &mut jar, &name);
            let origin = format!("{origin}!/{name}");
            let Some(bytes) = self.readable(&origin, read) else {
                continue;
            };
            if is_class(&name) {
                self.found(origin, bytes)?;
                continue;
            }
            let inner = match depth < MAX_DEPTH {
                true => self.open_archive(&origin, Cursor::new(bytes)),
                false => Err(too_deep(&origin)),
            };
            if let Some(inner) = self.readable(&origin, inner) {
                self.archive(&origin, inner, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns the classes that the JVM would load from this jar, and the archives in it, in the
    /// order of the jar.
    fn wanted_entries<R: Read + Seek>(
        &self,
        origin: &str,
        jar: &mut ZipArchive<R>,
    ) -> Result<Vec<String>, Error> {
        if self.loader == Loader::every_version() {
            return Ok(Entries::of(jar)
                .filter(|name| is_class(name) || archive::has_archive_name(name))
                .collect());
        }
        let multi_release = is_multi_release(origin, jar)?;
        let mut chosen: HashMap<String, u32> = HashMap::new();
        let mut candidates = Vec::new();
        for name in
            Entries::of(jar).filter(|name| is_class(name) || archive::has_archive_name(name))
        {
            let (version, base) = split_version(&name);
            if version > 0 && !(multi_release && version <= self.loader.java_feature) {
                continue;
            }
            let best = chosen.entry(base.to_owned()).or_default();
            *best = version.max(*best);
            candidates.push(name);
        }
        candidates.retain(|name| {
            let (version, base) = split_version(name);
            chosen.get(base) == Some(&version)
        });
        Ok(candidates)
    }
}

fn no_file(path: &Path) -> Error {
    Error::mistake(codes::H0613, format!("{} is no file", path.display()))
        .with("expected", "a class file or an archive")
        .with("found", describe(path))
}

fn too_deep(origin: &str) -> Error {
    let message = format!("{origin} is nested in more than {MAX_DEPTH} archives");
    Error::mistake(codes::H0613, message).with("help", "unpack the outer ones")
}

fn is_class(name: &str) -> bool {
    name.ends_with(".class")
}

/// Checks for a link to a folder that contains it: it would be followed forever.
pub fn leads_back(root: &Path, path: &Path) -> bool {
    if !path.is_symlink() {
        return false;
    }
    match (
        path.canonicalize(),
        path.parent().unwrap_or(root).canonicalize(),
    ) {
        (Ok(target), Ok(parent)) => parent.starts_with(target),
        _ => true,
    }
}

/// Splits a version off a name: `META-INF/versions/17/a/A.class` is version 17 of `a/A.class`,
/// everything else version 0 of itself.
fn split_version(name: &str) -> (u32, &str) {
    let split = || {
        let (version, base) = name.strip_prefix("META-INF/versions/")?.split_once('/')?;
        Some((version.parse().ok().filter(|version| *version > 0)?, base))
    };
    split().unwrap_or((0, name))
}

/// Checks whether the main section of the manifest holds `Multi-Release: true` (JAR file
/// specification).
fn is_multi_release<R: Read + Seek>(origin: &str, jar: &mut ZipArchive<R>) -> Result<bool, Error> {
    let manifest = archive::manifest(origin, jar)?;
    let value = archive::main_attribute(&manifest, "Multi-Release");
    Ok(value.is_some_and(|value| value.eq_ignore_ascii_case("true")))
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

    /// Returns the classes found in a folder with this one file. Origins are relative to it.
    fn found(name: &str, bytes: &[u8], java_feature: u32) -> Vec<(String, Vec<u8>)> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        let mut all = Vec::new();
        let loader = Loader {
            java_feature,
            java_home: None,
        };
        read(folder.path().to_str().unwrap(), &loader, &mut |batch| {
            all.extend(batch);
            Ok(())
        })
        .unwrap();
        let prefix = format!("{}/", folder.path().display());
        all.into_iter()
            .map(|found| (found.origin.replace(&prefix, ""), found.bytes))
            .collect()
    }

    const CLASS: &[u8] = b"\xCA\xFE\xBA\xBEclass";

    #[test]
    fn jars_within_jars_are_opened() {
        let library = jar(&[("com/acme/L.class", CLASS), ("readme.txt", b"")]);
        let boot = jar(&[
            ("BOOT-INF/classes/com/acme/A.class", CLASS),
            ("BOOT-INF/lib/l.jar", &library),
        ]);
        let origins: Vec<_> = found("boot.jar", &boot, 17)
            .into_iter()
            .map(|found| found.0)
            .collect();
        assert_eq!(
            origins,
            [
                "boot.jar!/BOOT-INF/classes/com/acme/A.class",
                "boot.jar!/BOOT-INF/lib/l.jar!/com/acme/L.class"
            ]
        );
    }

    #[test]
    fn multi_release_jar_yields_the_version_that_the_jvm_loads() {
        let manifest: &[u8] = b"Manifest-Version: 1.0\r\nmulti-release: TRUE\r\n\r\nName: x\r\n";
        let entries = |manifest| {
            jar(&[
                ("META-INF/MANIFEST.MF", manifest),
                ("a/A.class", b"base"),
                ("META-INF/versions/9/a/A.class", b"nine"),
                ("META-INF/versions/21/a/A.class", b"twenty-one"),
                ("META-INF/versions/11/a/New.class", b"new"),
            ])
        };
        let bytes = |manifest, feature| {
            found("mr.jar", &entries(manifest), feature)
                .into_iter()
                .map(|found| String::from_utf8(found.1).unwrap())
                .collect::<Vec<_>>()
        };
        assert_eq!(bytes(manifest, 8), ["base"]);
        assert_eq!(bytes(manifest, 9), ["nine"]);
        assert_eq!(bytes(manifest, 17), ["nine", "new"]);
        assert_eq!(bytes(manifest, 25), ["twenty-one", "new"]);
        assert_eq!(
            bytes(
                b"Manifest-Version: 1.0\n\nName: x\nMulti-Release: true\n",
                25
            ),
            ["base"]
        );
    }

    #[test]
    fn damaged_archive_and_foreign_file_are_named() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes, code) in [
            ("bad.jar", &b"PK\x03\x04 and no more"[..], "H0613"),
            ("text.jar", b"hello", "H0613"),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            let error = read(path.to_str().unwrap(), &Loader::default(), &mut |_| Ok(()))
                .unwrap_err()
                .to_string();
            assert!(error.contains(code) && error.contains(name), "{error}");
        }
        let error = read("/nowhere/app.jar", &Loader::default(), &mut |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("/nowhere/app.jar"), "{error}");
        let list = format!("{}:/nowhere", folder.path().display());
        let error = check(&list).unwrap_err().to_string();
        assert!(error.contains("--classes A --classes B"), "{error}");
    }

    #[test]
    fn link_to_the_folder_itself_ends() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("A.class"), CLASS).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("loop")).unwrap();
        let mut count = 0;
        read(
            folder.path().to_str().unwrap(),
            &Loader::default(),
            &mut |batch| {
                count += batch.len();
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(count, 1);
    }
}
