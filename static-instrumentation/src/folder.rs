//! Instruments files and folders on disk.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read};
use std::path::{Path, PathBuf};

use coverage_inputs::archive::has_archive_name;
use coverage_inputs::class_files::leads_back;
use errors::{Error, Warning, codes};
use local_files::special_file::describe;
use rayon::prelude::*;

use super::Record;
use super::archive::{self, ArchiveContext, Sink};
use super::classes::{Instrumenter, unreadable};
use super::conflicts::Targets;
use super::embedding::{self, RuntimeLocation};
use super::paths::Job;
use super::shared_file::SharedFile;

/// Files per batch.
const BATCH: usize = 1_000;

/// Kind of a file, by its first bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Starts with `CAFEBABE`.
    Class,
    /// Starts with `PK`, or ends like an archive.
    Archive,
    /// Anything else.
    Other,
}

/// An input with the files that the output takes from it.
#[derive(Debug)]
pub enum Content {
    /// A file that the user named, which must be a class file or an archive.
    File(Job),
    /// The files below a folder.
    Folder {
        /// The folder of the input.
        source: PathBuf,
        /// The folder of the output.
        target: PathBuf,
        /// The files, in order of their names.
        listing: Listing,
    },
}

impl Content {
    /// Lists an input and creates the folders of the output. Returns nothing if an earlier input
    /// has the same file.
    ///
    /// # Errors
    /// If an input cannot be read, or the output cannot be written.
    pub fn of(job: Job, targets: &mut Targets) -> Result<Option<Self>, Error> {
        let Job {
            source,
            target,
            folder,
        } = &job;
        if !folder {
            let taken = targets.take_file(source, target)?;
            return Ok(taken.then_some(Self::File(job)));
        }
        let mut listing = Listing::default();
        list(source, source, target, targets, &mut listing)?;
        Ok(Some(Self::Folder {
            source: job.source,
            target: job.target,
            listing,
        }))
    }

    /// Returns the path of the input.
    #[must_use]
    pub fn source(&self) -> &Path {
        match self {
            Self::File(Job { source, .. }) | Self::Folder { source, .. } => source,
        }
    }

    /// Instruments classes and archives, and copies every other file of a folder.
    ///
    /// # Errors
    /// If an input cannot be read, the output cannot be written, or a named file is neither class
    /// file nor archive.
    pub fn instrument(
        self,
        instrumenter: &Instrumenter,
        embed: bool,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        match self {
            Self::File(job) => named(instrumenter, &job.source, &job.target, embed, sink),
            Self::Folder {
                target, listing, ..
            } => folder(instrumenter, listing, &target, embed, sink),
        }
    }
}

/// Instruments a file that the user named.
fn named(
    instrumenter: &Instrumenter,
    source: &Path,
    target: &Path,
    embed: bool,
    sink: Sink<'_>,
) -> Result<(), Error> {
    match kind(source)? {
        FileKind::Class => sink(class(instrumenter, source, target)?),
        FileKind::Archive => archive(instrumenter, source, target, embed, sink),
        FileKind::Other => Err(Error::mistake(
            codes::H0613,
            format!(
                "{} is neither a class file nor an archive",
                source.display()
            ),
        )
        .with(
            "expected",
            "a folder, or a file that begins with ca fe ba be or with PK",
        )),
    }
}

/// Instruments everything below a folder.
fn folder(
    instrumenter: &Instrumenter,
    listing: Listing,
    target: &Path,
    embed: bool,
    sink: Sink<'_>,
) -> Result<(), Error> {
    sink(Record {
        warnings: listing.left_out,
        ..Record::default()
    })?;
    let is_enterprise = is_enterprise(target, &listing.files);
    let alone = |path: &Path| !is_enterprise && stands_alone(path);
    let mut needy = BTreeSet::new();
    for batch in listing.files.chunks(BATCH) {
        let made: Vec<Result<Record, Error>> = batch
            .par_iter()
            .map(|(from, to)| any(instrumenter, from, to, embed && alone(to)))
            .collect();
        for (record, (_, to)) in made.into_iter().zip(batch) {
            let record = record?;
            if record.tally.instrumented > 0 && !alone(to) {
                let folder = match is_enterprise {
                    true => target.to_owned(),
                    false => application(target, to),
                };
                needy.insert(folder);
            }
            sink(record)?;
        }
    }
    if embed {
        needy.iter().try_for_each(|folder| embed_into(folder))?;
    }
    Ok(())
}

/// Checks for an unpacked enterprise application, whose modules share its libraries.
fn is_enterprise(target: &Path, files: &[(PathBuf, PathBuf)]) -> bool {
    let application = target.join(embedding::APPLICATION);
    let is_named = matches!(
        RuntimeLocation::of(&target.to_string_lossy()),
        RuntimeLocation::Library(_)
    );
    is_named || files.iter().any(|(_, to)| *to == application)
}

/// Checks for an archive that a container loads apart from the files beside it.
fn stands_alone(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default();
    ["war", "ear", "rar"]
        .iter()
        .any(|alone| extension.eq_ignore_ascii_case(alone))
}

/// Returns the folder whose class loader loads a file: `root`, or an unpacked web application
/// within it.
fn application(root: &Path, file: &Path) -> PathBuf {
    let within = file.ancestors().take_while(|folder| *folder != root);
    let web = within.filter(|folder| folder.ends_with("WEB-INF"));
    let web = web.last().and_then(Path::parent);
    web.unwrap_or(root).to_owned()
}

/// Writes the runtime into an output folder, at the location that the class loader of its classes
/// searches.
fn embed_into(folder: &Path) -> Result<(), Error> {
    let place = RuntimeLocation::of(&folder.to_string_lossy());
    let marks = [embedding::APPLICATION, "WEB-INF/"].into_iter();
    let marks = marks.filter(|mark| folder.join(mark).exists());
    let place = marks.fold(place, RuntimeLocation::by_entry);
    let application = fs::read(folder.join(embedding::APPLICATION)).unwrap_or_default();
    for (name, bytes) in place.by_application(&application).files() {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).map_err(|error| Error::unwritable(parent, &error))?;
        write(&path, &bytes)?;
    }
    let module = folder.join("module-info.class");
    let described = fs::read(&module).ok();
    match described.and_then(|bytes| embedding::module_info(&bytes)) {
        Some(bytes) => write(&module, &bytes),
        None => Ok(()),
    }
}

/// The files below a folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// The files with their targets, sorted by name.
    files: Vec<(PathBuf, PathBuf)>,
    /// Warnings about special files: opening a pipe would wait for a writer.
    left_out: Vec<Warning>,
}

/// Lists the files below a folder, and creates their target folders.
fn list(
    root: &Path,
    source: &Path,
    target: &Path,
    targets: &mut Targets,
    listing: &mut Listing,
) -> Result<(), Error> {
    if !targets.take_folder(source, target) {
        return Ok(());
    }
    fs::create_dir_all(target).map_err(|error| Error::unwritable(target, &error))?;
    let unreadable = |error| Error::unreadable(source, &error);
    let entries = fs::read_dir(source).map_err(unreadable)?;
    let mut entries = entries
        .map(|entry| {
            let entry = entry?;
            let kind = entry.file_type()?;
            Ok((entry.file_name(), kind))
        })
        .collect::<std::io::Result<Vec<_>>>()
        .map_err(unreadable)?;
    entries.sort_by(|(one, _), (other, _)| one.cmp(other));
    for (name, kind) in entries {
        let (from, to) = (source.join(&name), target.join(&name));
        let is_folder = kind.is_dir() || kind.is_symlink() && from.is_dir();
        if is_folder {
            if !leads_back(root, &from) {
                list(root, &from, &to, targets, listing)?;
            }
        } else if kind.is_file() || from.is_file() {
            if targets.take_file(&from, &to)? {
                listing.files.push((from, to));
            }
        } else {
            listing.left_out.push(no_file(&from));
        }
    }
    Ok(())
}

fn no_file(path: &Path) -> Warning {
    let message = format!("{} is no file and was left out", path.display());
    Warning::new(codes::H0641, message).with("found", describe(path))
}

/// Instruments or copies a file in a folder. A file that does not match its extension is copied
/// unchanged.
fn any(
    instrumenter: &Instrumenter,
    source: &Path,
    target: &Path,
    embed: bool,
) -> Result<Record, Error> {
    instrumenter.go_on()?;
    let name = source.to_string_lossy();
    if name.ends_with(".class") {
        return class(instrumenter, source, target);
    }
    let mut record = Record::default();
    if has_archive_name(&name) {
        if let Err(error) = open_archive(source) {
            record.tally.unreadable += 1;
            record.warnings.push(unreadable(&name, &error));
            copy(source, target)?;
            return Ok(record);
        }
        let mut sink = |found| {
            record.append(found);
            Ok(())
        };
        archive(instrumenter, source, target, embed, &mut sink)?;
        return Ok(record);
    }
    record.tally.others += 1;
    copy(source, target)?;
    Ok(record)
}

fn open_archive(source: &Path) -> Result<(), String> {
    let file = File::open(source).map_err(|error| error.to_string())?;
    match zip::ZipArchive::new(BufReader::new(file)) {
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

fn class(instrumenter: &Instrumenter, source: &Path, target: &Path) -> Result<Record, Error> {
    let mut record = Record::default();
    let bytes = fs::read(source).map_err(|error| Error::unreadable(source, &error))?;
    let origin = source.display().to_string();
    match instrumenter.class(&origin, &bytes, &mut record)? {
        Some(bytes) => write(target, &bytes)?,
        None => copy(source, target)?,
    }
    for (name, bytes) in record.take_helpers() {
        // The bytes are the same each time, for every writer.
        write(&target.with_file_name(name), &bytes)?;
    }
    Ok(record)
}

fn archive(
    instrumenter: &Instrumenter,
    source: &Path,
    target: &Path,
    embed: bool,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let unreadable = |error| Error::unreadable(source, &error);
    let unwritable = |error| Error::unwritable(target, &error);
    let file = File::open(source).map_err(unreadable)?;
    let permissions = file.metadata().map_err(unreadable)?.permissions();
    let out = File::create(target).map_err(unwritable)?;
    let context = ArchiveContext {
        origin: source.display().to_string(),
        depth: 0,
        embed,
    };
    let reader = SharedFile::new(file).map_err(unreadable)?;
    let writer = BufWriter::new(out);
    match archive::rewrite(instrumenter, &context, reader, writer, sink)? {
        true => fs::set_permissions(target, permissions).map_err(unwritable),
        false => copy(source, target),
    }
}

fn kind(path: &Path) -> Result<FileKind, Error> {
    let unreadable = |error| Error::unreadable(path, &error);
    let mut start = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(4).read_to_end(&mut start).map_err(unreadable)?;
    Ok(match start.as_slice() {
        [0xCA, 0xFE, 0xBA, 0xBE] => FileKind::Class,
        [b'P', b'K', ..] => FileKind::Archive,
        _ if has_archive_name(&path.to_string_lossy()) => FileKind::Archive, // a script precedes it
        _ => FileKind::Other,
    })
}

/// Copies a file with permissions and time.
fn copy(source: &Path, target: &Path) -> Result<(), Error> {
    let copied = || {
        fs::copy(source, target)?;
        let time = fs::metadata(source)?.modified()?;
        File::open(target)?.set_modified(time)
    };
    copied().map_err(|error: std::io::Error| Error::unwritable(target, &error))
}

fn write(target: &Path, bytes: &[u8]) -> Result<(), Error> {
    fs::write(target, bytes).map_err(|error| Error::unwritable(target, &error))
}
