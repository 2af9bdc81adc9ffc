//! Rewrites an archive part by part. Classes and nested archives are instrumented; other entries
//! are copied as stored, in the order of the original.
//!
//! A part is a range of entries. Threads write each part as a separate archive in memory, and the
//! parts are appended to the output in order. The parts depend on the input alone, and so does the
//! output.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use coverage_inputs::archive::{MAX_DEPTH, MAX_ENTRY_LENGTH, has_archive_name};
use errors::{Error, Warning, codes};
use rayon::prelude::*;
use zip::result::{ZipError, ZipResult};
use zip::write::{FullFileOptions, PreparedZipFile};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::classes::{Instrumenter, unreadable};
use super::embedding::{self, RuntimeLocation};
use super::failing_once::FailingOnce;
use super::{Record, runtime, signature};

const MANIFEST: &str = "META-INF/MANIFEST.MF";
/// Maximum number of entries per part: enough to reuse the compressor's tables.
const PART: usize = 128;
/// Length limit of a part, in unpacked bytes.
const PART_LENGTH: u64 = 4 << 20;
/// Parts in memory at a time, per thread.
const PARTS_PER_THREAD: usize = 4;
/// Compression level for classes, of 9: fixed codes, which take no time to find, for a fifth more
/// bytes than by default.
const LEVEL: i64 = 1;

/// Callback for the results of each part, in order.
pub type Sink<'s> = &'s mut dyn FnMut(Record) -> Result<(), Error>;

/// The archive that is being instrumented.
#[derive(Debug, Clone)]
pub struct ArchiveContext {
    /// Its path, and those of the archives around it: `app.jar!/lib/a.jar`.
    pub origin: String,
    /// Number of archives around it.
    pub depth: usize,
    /// True if the runtime's classes are added.
    pub embed: bool,
}

/// Writes an instrumented archive to `out`. Returns false if the output equals the input; the
/// caller then uses the original.
///
/// # Errors
/// If the archive cannot be read (`H0613`), has an entry outside of itself (`H0644`), cannot be
/// written (`H0620`), or if the command was interrupted.
pub fn rewrite<R: Read + Seek + Clone + Send + Sync, W: Write + Seek>(
    instrumenter: &Instrumenter,
    context: &ArchiveContext,
    reader: R,
    mut out: W,
    sink: Sink<'_>,
) -> Result<bool, Error> {
    let mut archive = ZipArchive::new(reader).map_err(|error| broken(context, &error))?;
    let contents = Contents::of(context, &mut archive)?;
    copy_prefix(&archive, contents.prefix, &mut out)
        .map_err(|error| broken(context, &error.into()))?;
    let mut writer = ZipWriter::new(FailingOnce::new(out));
    let comment = archive.comment().into();
    writer
        .set_raw_comment(comment)
        .map_err(|error| broken(context, &error))?;
    let work = Work {
        instrumenter,
        context,
        contents,
        archive,
    };
    let PartResults { changed, helpers } = work.parts(&mut writer, sink)?;
    work.add_helpers(&mut writer, helpers)?;
    work.finish(writer, changed, sink)?;
    Ok(changed)
}

/// Facts about an archive that are needed before the first entry is written.
struct Contents {
    /// The entries of each part.
    parts: Vec<Range<usize>>,
    signed: bool,
    /// Bytes in front of the first entry, such as a script that starts the archive.
    prefix: u64,
    /// The location of the runtime.
    place: RuntimeLocation,
    embedded: bool,
    /// Module descriptions, written last: they may have to list the runtime's package.
    modules: Vec<usize>,
    duplicates: bool,
}

impl Contents {
    fn of<R: Read + Seek>(
        context: &ArchiveContext,
        archive: &mut ZipArchive<R>,
    ) -> Result<Self, Error> {
        let mut contents = Self {
            parts: Vec::new(),
            signed: false,
            prefix: u64::MAX,
            place: RuntimeLocation::of(&context.origin),
            embedded: false,
            modules: Vec::new(),
            duplicates: archive.has_duplicate_names(),
        };
        let mut length = PART_LENGTH;
        for index in 0..archive.len() {
            let entry = archive
                .by_index_data(index)
                .map_err(|error| broken(context, &error))?;
            match contents.parts.last_mut() {
                Some(part) if part.len() < PART && length < PART_LENGTH => part.end = index + 1,
                _ => {
                    contents.parts.push(index..index + 1);
                    length = 0;
                }
            }
            length = entry.size().saturating_add(length);
            contents.prefix = contents.prefix.min(entry.header_start());
            let name = entry.name().map_err(|error| broken(context, &error))?;
            if name.contains("..") && entry.enclosed_name().is_none() {
                return Err(leads_out(context, &name));
            }
            contents.signed |= signature::is_signature(&name);
            contents.embedded |= embedding::is_runtime(&name);
            if context.embed && embedding::is_module_info(&name) {
                contents.modules.push(index);
            }
            contents.place = contents.place.by_entry(&name);
        }
        if let Some(index) = archive.index_for_name(embedding::APPLICATION)
            && let Ok(xml) = content(archive, index)
        {
            contents.place = contents.place.by_application(&xml);
        }
        if archive.is_empty() {
            contents.prefix = 0;
        }
        Ok(contents)
    }
}

/// Copies the bytes in front of the archive.
fn copy_prefix<R: Read + Seek + Clone, W: Write>(
    archive: &ZipArchive<R>,
    length: u64,
    out: &mut W,
) -> io::Result<()> {
    if length > 0 {
        let mut reader = archive.clone().into_inner();
        reader.seek(SeekFrom::Start(0))?;
        io::copy(&mut reader.take(length), out)?;
    }
    Ok(())
}

struct Work<'w, R> {
    instrumenter: &'w Instrumenter,
    context: &'w ArchiveContext,
    contents: Contents,
    archive: ZipArchive<R>,
}

impl<R: Read + Seek + Clone + Send + Sync> Work<'_, R> {
    /// Builds parts in parallel and writes them in order.
    fn parts<W: Write + Seek>(
        &self,
        writer: &mut ZipWriter<W>,
        sink: Sink<'_>,
    ) -> Result<PartResults, Error> {
        let mut all = PartResults::default();
        let at_a_time = PARTS_PER_THREAD * rayon::current_num_threads();
        for parts in self.contents.parts.chunks(at_a_time) {
            let made: Vec<Result<_, Error>> = parts
                .par_iter()
                .map(|part| ArchivePart::new(self).made(part.clone()))
                .collect();
            for made in made {
                let (part, record, helpers) = made?;
                all.changed |= record.tally.instrumented > 0;
                all.helpers.extend(helpers);
                let merged = writer.merge_archive(part);
                merged.map_err(|error| broken(self.context, &error))?;
                sink(record)?;
            }
        }
        Ok(all)
    }

    /// Writes the helper classes of plugins, except those that a previously instrumented class has
    /// brought.
    fn add_helpers<W: Write + Seek>(
        &self,
        writer: &mut ZipWriter<W>,
        helpers: Entries,
    ) -> Result<(), Error> {
        for (name, bytes) in helpers {
            if self.archive.index_for_name(&name).is_some() {
                continue;
            }
            let entry = PreparedZipFile::from_data(name, runtime::options(), &bytes);
            let added = entry.and_then(|entry| writer.add_prepared_file(entry));
            added.map_err(|error| broken(self.context, &error))?;
        }
        Ok(())
    }

    fn finish<W: Write + Seek>(
        &self,
        mut writer: ZipWriter<W>,
        changed: bool,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        if changed {
            let mut record = Record::default();
            let origin = &self.context.origin;
            if self.contents.signed {
                record.warnings.push(unsigned(origin));
            }
            if self.contents.duplicates {
                record.warnings.push(duplicates(origin));
            }
            sink(record)?;
        }
        let embeds = changed && self.context.embed && !self.contents.embedded;
        let files = if embeds {
            self.contents.place.files()
        } else {
            Vec::new()
        };
        let embeds_classes = matches!(self.contents.place, RuntimeLocation::Classes(_)) && embeds;
        for (name, bytes) in files {
            let entry = PreparedZipFile::from_data(name, runtime::options(), &bytes);
            let added = entry.and_then(|entry| writer.add_prepared_file(entry));
            added.map_err(|error| broken(self.context, &error))?;
        }
        for index in &self.contents.modules {
            let added = self.add_module(&mut writer, *index, embeds_classes);
            added.map_err(|error| broken(self.context, &error))?;
        }
        let finished = writer.finish().and_then(|mut out| Ok(out.flush()?));
        finished.map_err(|error| broken(self.context, &error))
    }
}

impl<R: Read + Seek + Clone> Work<'_, R> {
    /// Writes a module description. It lists the runtime's package if the module holds the runtime.
    fn add_module<W: Write + Seek>(
        &self,
        writer: &mut ZipWriter<W>,
        index: usize,
        embeds: bool,
    ) -> ZipResult<()> {
        let mut archive = self.archive.clone();
        let bytes = content(&mut archive, index).unwrap_or_default();
        let entry = archive.by_index_raw(index)?;
        match embedding::module_info(&bytes).filter(|_| embeds) {
            None => writer.raw_copy_file(entry),
            Some(bytes) => {
                writer.start_file(entry.name()?.into_owned(), options(&entry)?)?;
                Ok(writer.write_all(&bytes)?)
            }
        }
    }
}

/// Reads the bytes of an entry.
fn content<R: Read + Seek>(archive: &mut ZipArchive<R>, index: usize) -> Result<Vec<u8>, String> {
    let entry = archive.by_index(index);
    let mut entry = entry.map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    let read = entry
        .by_ref()
        .take(MAX_ENTRY_LENGTH)
        .read_to_end(&mut bytes);
    match read {
        Ok(length) if length as u64 == MAX_ENTRY_LENGTH => {
            Err(format!("more than {MAX_ENTRY_LENGTH} bytes"))
        }
        Ok(_) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Entries by name.
type Entries = BTreeMap<String, Vec<u8>>;

/// Combined results of all parts.
#[derive(Default)]
struct PartResults {
    /// True if a class is instrumented.
    changed: bool,
    /// Helper classes of plugins, which several parts may need.
    helpers: Entries,
}

/// Result of one part: its entries in memory, their record, and the helper classes that they need.
type BuiltPart = (ZipArchive<Cursor<Vec<u8>>>, Record, Entries);

/// A range of entries as a separate archive.
struct ArchivePart<'w, R> {
    work: &'w Work<'w, R>,
    /// A reader with a position of its own.
    archive: ZipArchive<R>,
    writer: ZipWriter<Cursor<Vec<u8>>>,
    record: Record,
    helpers: Entries,
}

/// Treatment of an entry.
enum Task {
    /// Copies the entry as stored.
    Copy,
    /// Writes the entry after all others.
    Last,
    /// Leaves out the entry: it belongs to a signature.
    Drop,
    /// Reads the entry, and replaces it if it changes.
    Ask(Entry),
}

/// An entry that may be replaced.
struct Entry {
    name: String,
    kind: EntryKind,
    options: FullFileOptions<'static, 'static>,
}

#[derive(Clone, Copy)]
enum EntryKind {
    Class,
    Archive,
    SignedManifest,
}

impl<'w, R: Read + Seek + Clone + Send + Sync> ArchivePart<'w, R> {
    fn new(work: &'w Work<'w, R>) -> Self {
        Self {
            work,
            archive: work.archive.clone(),
            writer: ZipWriter::new(Cursor::new(Vec::new())),
            record: Record::default(),
            helpers: Entries::new(),
        }
    }

    fn made(mut self, entries: Range<usize>) -> Result<BuiltPart, Error> {
        for index in entries {
            self.work.instrumenter.go_on()?;
            self.entry(index)?;
        }
        let part = self.writer.finish_into_readable();
        Ok((
            part.map_err(|error| broken(self.work.context, &error))?,
            self.record,
            self.helpers,
        ))
    }

    fn entry(&mut self, index: usize) -> Result<(), Error> {
        let task = self.task(index);
        let entry = match task.map_err(|error| broken(self.work.context, &error))? {
            Task::Ask(entry) => entry,
            Task::Drop => return Ok(()),
            Task::Last => {
                self.record.tally.others += 1;
                return Ok(());
            }
            Task::Copy => {
                self.record.tally.others += 1;
                return self.copy(index);
            }
        };
        let origin = self.work.context.inside(&entry.name);
        let made = match content(&mut self.archive, index) {
            Ok(bytes) => self.made_of(entry.kind, origin, &bytes)?,
            Err(found) => {
                self.record.tally.unreadable += 1;
                self.record.warnings.push(unreadable(&origin, &found));
                None
            }
        };
        let folder = entry.name.rfind('/').map_or("", |end| &entry.name[..=end]);
        let helpers = self.record.take_helpers();
        self.helpers
            .extend(helpers.map(|(name, bytes)| (format!("{folder}{name}"), bytes)));
        match made {
            Some(bytes) => self.replace(entry, &bytes),
            None => self.copy(index),
        }
    }

    fn task(&mut self, index: usize) -> ZipResult<Task> {
        if self.work.contents.modules.contains(&index) {
            return Ok(Task::Last);
        }
        let entry = self.archive.by_index_raw(index)?;
        let name = match entry.name() {
            Ok(name) if entry.is_file() && !entry.encrypted() => name.into_owned(),
            _ => return Ok(Task::Copy),
        };
        let signed = self.work.contents.signed;
        let kind = if name.ends_with(".class") {
            EntryKind::Class
        } else if has_archive_name(&name) {
            EntryKind::Archive
        } else if signed && signature::is_signature(&name) {
            return Ok(Task::Drop);
        } else if signed && name.eq_ignore_ascii_case(MANIFEST) {
            EntryKind::SignedManifest
        } else {
            return Ok(Task::Copy);
        };
        let options = options(&entry)?;
        Ok(Task::Ask(Entry {
            name,
            kind,
            options,
        }))
    }

    /// Returns the replacement for an entry, or nothing if the entry stays unchanged.
    fn made_of(
        &mut self,
        kind: EntryKind,
        origin: String,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, Error> {
        let (instrumenter, record) = (self.work.instrumenter, &mut self.record);
        match kind {
            EntryKind::Class => instrumenter.class(&origin, bytes, record),
            EntryKind::Archive => {
                let Work {
                    context, contents, ..
                } = self.work;
                let embed = contents.place == RuntimeLocation::Within;
                inner(instrumenter, context, embed, origin, bytes, record)
            }
            EntryKind::SignedManifest => {
                record.tally.others += 1;
                Ok(Some(signature::without_digests(bytes)))
            }
        }
    }

    fn copy(&mut self, index: usize) -> Result<(), Error> {
        let entry = self.archive.by_index_raw(index);
        let copied = entry.and_then(|entry| self.writer.raw_copy_file(entry));
        copied.map_err(|error| broken(self.work.context, &error))
    }

    fn replace(&mut self, entry: Entry, bytes: &[u8]) -> Result<(), Error> {
        let started = self.writer.start_file(entry.name, entry.options);
        let written = started.and_then(|()| Ok(self.writer.write_all(bytes)?));
        written.map_err(|error| broken(self.work.context, &error))
    }
}

/// Returns time, method, attributes, comment and extra fields of an entry.
fn options<R: Read>(
    entry: &zip::read::ZipFile<'_, R>,
) -> ZipResult<FullFileOptions<'static, 'static>> {
    let mut options = entry.options().into_full_options();
    if entry.compression() == CompressionMethod::Deflated {
        options = options.compression_level(Some(LEVEL));
    }
    if !entry.comment().is_empty() {
        options = options.with_file_comment(entry.comment());
    }
    let extra = entry.extra_data().unwrap_or_default();
    let mut rest = extra.as_slice();
    while let [id0, id1, length0, length1, after @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*length0, *length1]));
        let Some((data, after)) = after.split_at_checked(length) else {
            break;
        };
        options.add_extra_field(u16::from_le_bytes([*id0, *id1]), data, false)?;
        rest = after;
    }
    Ok(options)
}

/// Instruments an archive within an archive, and embeds a runtime if `embed`. Returns nothing if
/// the archive stays unchanged.
fn inner(
    instrumenter: &Instrumenter,
    outer: &ArchiveContext,
    embed: bool,
    origin: String,
    bytes: &[u8],
    record: &mut Record,
) -> Result<Option<Vec<u8>>, Error> {
    let refused = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(_) if outer.depth < MAX_DEPTH => None,
        Ok(_) => Some(format!("an archive in more than {MAX_DEPTH} archives")),
        Err(error) => Some(error.to_string()),
    };
    if let Some(found) = refused {
        record.tally.unreadable += 1;
        record.warnings.push(unreadable(&origin, &found));
        return Ok(None);
    }
    let context = ArchiveContext {
        origin,
        depth: outer.depth + 1,
        embed: embed && outer.embed,
    };
    let mut out = Cursor::new(Vec::new());
    let mut sink = |found| {
        record.append(found);
        Ok(())
    };
    let changed = rewrite(
        instrumenter,
        &context,
        Cursor::new(bytes),
        &mut out,
        &mut sink,
    )?;
    Ok(changed.then(|| out.into_inner()))
}

impl ArchiveContext {
    fn inside(&self, name: &str) -> String {
        format!("{}!/{name}", self.origin)
    }
}

/// Returns the error for a broken archive or output file.
fn broken(context: &ArchiveContext, error: &ZipError) -> Error {
    let problem = match error {
        ZipError::Io(_) => {
            let message = format!("cannot write the instrumented {}", context.origin);
            Error::mistake(codes::H0620, message)
                .with("help", "nothing was changed; check the space left")
        }
        _ => Error::mistake(
            codes::H0613,
            format!("cannot read the archive {}", context.origin),
        )
        .with("help", "build or download it again, or leave it out"),
    };
    problem.with("found", error.to_string())
}

fn leads_out(context: &ArchiveContext, name: &str) -> Error {
    Error::mistake(
        codes::H0644,
        format!("{} has an entry outside of its root", context.origin),
    )
    .with("expected", "names that stay below the archive's root")
    .with("found", name.escape_debug().to_string())
    .with(
        "help",
        "do not use this archive: unpacking it overwrites other files",
    )
}

fn unsigned(origin: &str) -> Warning {
    Warning::new(
        codes::H0643,
        format!("the signature of {origin} is left out"),
    )
    .with("cause", "its classes differ from the signed ones")
}

fn duplicates(origin: &str) -> Warning {
    Warning::new(
        codes::H0646,
        format!("{origin} has duplicate entries; the last of each is kept"),
    )
    .with("note", "a JVM reads the last one")
}
