//! An archive, entry by entry: classes and archives in it are instrumented in parallel, everything else is copied
//! as it is stored, in the order of the original.

use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};

use rayon::prelude::*;
use zip::result::{ZipError, ZipResult};
use zip::write::{FullFileOptions, PreparedZipFile};
use zip::{ZipArchive, ZipWriter};

use super::classes::{Instrumenter, damaged};
use super::{Record, runtime, signature};
use crate::inputs::archive::{MAX_DEPTH, MAX_ENTRY_LENGTH, has_archive_name};
use crate::problem::Problem;
use crate::warnings::Warning;

const MANIFEST: &str = "META-INF/MANIFEST.MF";
/// Entries and bytes that are worked on at a time: enough for all processors, small enough for memory.
const BATCH: usize = 1_000;
const BATCH_LENGTH: u64 = 64 << 20;

/// Takes what came of a part of the work, in order.
pub type Sink<'s> = &'s mut dyn FnMut(Record) -> Result<(), Problem>;

/// The archive that is being instrumented.
#[derive(Debug, Clone)]
pub struct ArchiveContext {
    /// Its path, and those of the archives around it: `app.jar!/lib/a.jar`.
    pub origin: String,
    /// How many archives are around it.
    pub depth: usize,
    /// Whether the runtime's classes are put into it.
    pub embed: bool,
}

/// Writes an instrumented archive to `out`; false if nothing is different, and then the original should be used.
///
/// # Errors
/// If the archive cannot be read (`H0613`), has an entry outside of itself (`H0644`), cannot be written
/// (`H0620`), or if the command was interrupted.
pub fn rewrite<R: Read + Seek, W: Write + Seek>(
    instrumenter: &Instrumenter,
    context: &ArchiveContext,
    reader: R,
    mut out: W,
    sink: Sink<'_>,
) -> Result<bool, Problem> {
    let mut archive = ZipArchive::new(reader).map_err(|error| broken(context, &error))?;
    let contents = Contents::of(context, &mut archive)?;
    let prefix = contents.prefix;
    if prefix > 0 {
        archive =
            with_prefix(archive, prefix, &mut out).map_err(|error| broken(context, &error))?;
    }
    let mut writer = ZipWriter::new(out);
    let comment = archive.comment().into();
    writer
        .set_raw_comment(comment)
        .map_err(|error| broken(context, &error))?;
    let mut work = Work {
        instrumenter,
        context,
        contents,
        archive,
        writer,
        changed: false,
    };
    work.entries(sink)?;
    let changed = work.changed;
    work.finish(sink)?;
    Ok(changed)
}

/// What has to be known before the first entry is written.
struct Contents {
    signed: bool,
    /// Bytes in front of the first entry, such as a script that starts the archive.
    prefix: u64,
    /// The folder in which the class loader finds classes.
    classes: &'static str,
    embedded: bool,
    duplicates: bool,
}

impl Contents {
    fn of<R: Read + Seek>(
        context: &ArchiveContext,
        archive: &mut ZipArchive<R>,
    ) -> Result<Self, Problem> {
        let mut contents = Self {
            signed: false,
            prefix: u64::MAX,
            classes: "",
            embedded: false,
            duplicates: archive.has_duplicate_names(),
        };
        for index in 0..archive.len() {
            let entry = archive
                .by_index_data(index)
                .map_err(|error| broken(context, &error))?;
            contents.prefix = contents.prefix.min(entry.header_start());
            let name = entry.name().map_err(|error| broken(context, &error))?;
            if name.contains("..") && entry.enclosed_name().is_none() {
                return Err(leads_out(context, &name));
            }
            contents.signed |= signature::is_signature(&name);
            contents.embedded |= name == runtime::CLASSES[0].0;
            if name.starts_with("WEB-INF/") {
                contents.classes = "WEB-INF/classes/";
            }
        }
        if archive.is_empty() {
            contents.prefix = 0;
        }
        Ok(contents)
    }
}

/// Copies what stands in front of the archive.
fn with_prefix<R: Read + Seek, W: Write>(
    archive: ZipArchive<R>,
    length: u64,
    out: &mut W,
) -> ZipResult<ZipArchive<R>> {
    let mut reader = archive.into_inner();
    reader.seek(SeekFrom::Start(0))?;
    io::copy(&mut reader.by_ref().take(length), out)?;
    ZipArchive::new(reader)
}

struct Work<'w, R: Read + Seek, W: Write + Seek> {
    instrumenter: &'w Instrumenter,
    context: &'w ArchiveContext,
    contents: Contents,
    archive: ZipArchive<R>,
    writer: ZipWriter<W>,
    changed: bool,
}

/// One entry on its way.
enum Item {
    /// To be copied as it is stored.
    Copy(usize),
    /// Part of a signature, left out.
    Drop,
    /// To be read and perhaps replaced.
    Ask(Entry),
    /// As `Copy`, and damaged as this says.
    Damaged(usize, Warning),
}

struct Entry {
    index: usize,
    name: String,
    kind: Kind,
    bytes: Vec<u8>,
    options: FullFileOptions<'static, 'static>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Class,
    Archive,
    SignedManifest,
}

/// What is written for an entry.
enum Output {
    Copy(usize),
    Drop,
    Replace(PreparedZipFile),
}

impl<R: Read + Seek, W: Write + Seek> Work<'_, R, W> {
    fn entries(&mut self, sink: Sink<'_>) -> Result<(), Problem> {
        let (mut batch, mut length) = (Vec::new(), 0);
        for index in 0..self.archive.len() {
            self.instrumenter.go_on()?;
            let item = self.item(index)?;
            if let Item::Ask(entry) = &item {
                length += entry.bytes.len() as u64;
            }
            batch.push(item);
            if batch.len() >= BATCH || length >= BATCH_LENGTH {
                self.batch(std::mem::take(&mut batch), sink)?;
                length = 0;
            }
        }
        self.batch(batch, sink)
    }

    fn item(&mut self, index: usize) -> Result<Item, Problem> {
        let raw = self
            .archive
            .by_index_raw(index)
            .map_err(|error| broken(self.context, &error))?;
        let name = match raw.name() {
            Ok(name) if raw.is_file() && !raw.encrypted() => name.into_owned(),
            _ => return Ok(Item::Copy(index)),
        };
        let kind = if name.ends_with(".class") {
            Kind::Class
        } else if has_archive_name(&name) {
            Kind::Archive
        } else if self.contents.signed && signature::is_signature(&name) {
            return Ok(Item::Drop);
        } else if self.contents.signed && name.eq_ignore_ascii_case(MANIFEST) {
            Kind::SignedManifest
        } else {
            return Ok(Item::Copy(index));
        };
        let options = options(&raw).map_err(|error| broken(self.context, &error))?;
        drop(raw);
        Ok(match self.content(index) {
            Ok(bytes) => Item::Ask(Entry {
                index,
                name,
                kind,
                bytes,
                options,
            }),
            Err(found) => Item::Damaged(index, damaged(&self.context.inside(&name), &found)),
        })
    }

    fn content(&mut self, index: usize) -> Result<Vec<u8>, String> {
        let entry = self.archive.by_index(index);
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

    /// Works on entries in parallel, and writes them in order.
    fn batch(&mut self, items: Vec<Item>, sink: Sink<'_>) -> Result<(), Problem> {
        let (instrumenter, context) = (self.instrumenter, self.context);
        let made: Vec<Result<(Output, Record), Problem>> = items
            .into_par_iter()
            .map(|item| made(instrumenter, context, item))
            .collect();
        for made in made {
            let (output, record) = made?;
            self.changed |= record.tally.instrumented > 0;
            self.write(output)?;
            sink(record)?;
        }
        Ok(())
    }

    fn write(&mut self, output: Output) -> Result<(), Problem> {
        let written = match output {
            Output::Drop => Ok(()),
            Output::Replace(entry) => self.writer.add_prepared_file(entry),
            Output::Copy(index) => {
                let entry = self.archive.by_index_raw(index);
                entry.and_then(|entry| self.writer.raw_copy_file(entry))
            }
        };
        written.map_err(|error| broken(self.context, &error))
    }

    fn finish(mut self, sink: Sink<'_>) -> Result<(), Problem> {
        if self.changed {
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
        if self.changed && self.context.embed && !self.contents.embedded {
            for (name, bytes) in runtime::CLASSES {
                let name = format!("{}{name}", self.contents.classes);
                let entry = PreparedZipFile::from_data(name, runtime::options(), bytes);
                let added = entry.and_then(|entry| self.writer.add_prepared_file(entry));
                added.map_err(|error| broken(self.context, &error))?;
            }
        }
        let finished = self.writer.finish().and_then(|mut out| Ok(out.flush()?));
        finished.map_err(|error| broken(self.context, &error))
    }
}

/// Time, method, attributes, comment and extra fields of an entry.
fn options<R: Read>(
    entry: &zip::read::ZipFile<'_, R>,
) -> ZipResult<FullFileOptions<'static, 'static>> {
    let mut options = entry.options().into_full_options();
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

fn made(
    instrumenter: &Instrumenter,
    context: &ArchiveContext,
    item: Item,
) -> Result<(Output, Record), Problem> {
    let mut record = Record::default();
    let output = match item {
        Item::Copy(index) => {
            record.tally.others += 1;
            Output::Copy(index)
        }
        Item::Drop => Output::Drop,
        Item::Damaged(index, warning) => {
            record.tally.damaged += 1;
            record.warnings.push(warning);
            Output::Copy(index)
        }
        Item::Ask(entry) => {
            let origin = context.inside(&entry.name);
            let bytes = match entry.kind {
                Kind::Class => instrumenter.class(&origin, &entry.bytes, &mut record)?,
                Kind::Archive => inner(instrumenter, context, origin, &entry.bytes, &mut record)?,
                Kind::SignedManifest => {
                    record.tally.others += 1;
                    Some(signature::without_digests(&entry.bytes))
                }
            };
            match bytes {
                None => Output::Copy(entry.index),
                Some(bytes) => {
                    let prepared = PreparedZipFile::from_data(&entry.name, entry.options, &bytes);
                    Output::Replace(prepared.map_err(|error| broken(context, &error))?)
                }
            }
        }
    };
    Ok((output, record))
}

/// An archive within an archive; none if it stays as it is.
fn inner(
    instrumenter: &Instrumenter,
    outer: &ArchiveContext,
    origin: String,
    bytes: &[u8],
    record: &mut Record,
) -> Result<Option<Vec<u8>>, Problem> {
    let refused = match ZipArchive::new(Cursor::new(bytes)) {
        Ok(_) if outer.depth < MAX_DEPTH => None,
        Ok(_) => Some(format!("an archive in more than {MAX_DEPTH} archives")),
        Err(error) => Some(error.to_string()),
    };
    if let Some(found) = refused {
        record.tally.damaged += 1;
        record.warnings.push(damaged(&origin, &found));
        return Ok(None);
    }
    let context = ArchiveContext {
        origin,
        depth: outer.depth + 1,
        embed: false,
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

/// The archive is at fault, or the file that is written.
fn broken(context: &ArchiveContext, error: &ZipError) -> Problem {
    let problem = match error {
        ZipError::Io(_) => {
            let message = format!("cannot rewrite {}", context.origin);
            Problem::user("H0620", message)
                .with("help", "nothing was changed; check the space left")
        }
        _ => Problem::user(
            "H0613",
            format!("cannot read the archive {}", context.origin),
        )
        .with("help", "build or download it again, or leave it out"),
    };
    problem.with("found", error.to_string())
}

fn leads_out(context: &ArchiveContext, name: &str) -> Problem {
    Problem::user(
        "H0644",
        format!("{} holds an entry outside of itself", context.origin),
    )
    .with("expected", "names that stay below the archive's root")
    .with("found", name.escape_debug().to_string())
    .with(
        "help",
        "do not use this archive: whoever unpacks it overwrites other files",
    )
}

fn unsigned(origin: &str) -> Warning {
    Warning::new("H0643", format!("the signature of {origin} is left out"))
        .with("cause", "its classes are no longer those that were signed")
}

fn duplicates(origin: &str) -> Warning {
    Warning::new(
        "H0646",
        format!("{origin} holds entries twice; the last of each is kept"),
    )
    .with("note", "the last is what a JVM reads")
}
