//! Requests to a JVM over HotSpot's attach protocol, without an agent: threads, heap histogram, heap dump.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::fchown;
use std::path::{Path, PathBuf};

use agent_connection::temp_output;
use agent_launch::attachment;
use attach::Process;
use errors::{Error, codes};
use local_files::absolute_path::absolute;
use local_files::atomic;
use local_files::jvm_tmp::JvmTmp;
use local_files::preflight;
use local_files::temporary::LargeFolder;
use rustix::fs::{Access, Mode, OFlags};
use rustix::process::{getegid, geteuid};
use standard_streams::show::{self, show};
use trace::names::printable;
use trace::numbers::thousands;

use crate::pause::{Limits, Pause, Walk};
use crate::virtual_threads;
use crate::{dump_end, retainers};

/// Prints all threads with states, stacks and monitors, and deadlocks. From JDK 21 on, prints virtual threads too.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`), or standard output cannot be written.
pub fn threads(pid: i32) -> Result<(), Error> {
    let jvm = attachment::open(pid).map_err(Error::from)?;
    let answer = jvm.command("threaddump", &["-l"]).map_err(Error::from)?;
    show(&format!("{}\n", answer.text.trim_end()))?;
    let mut found: Vec<String> = Vec::new();
    let mut take = |line: &str| {
        found.extend(virtual_threads::is_header(line).then(String::new));
        if let Some(thread) = found.last_mut() {
            thread.push_str(&format!("{line}\n"));
        }
    };
    if !virtual_threads::dump(&jvm, &mut take)? {
        return Ok(());
    }
    let count = found.len();
    show(&format!("\nVirtual threads: {}\n", thousands(count as u64)))?;
    found
        .iter()
        .try_for_each(|thread| show(&format!("\n{thread}")))?;
    Ok(())
}

/// Prints objects and bytes of each class in the heap. `live` counts only reachable objects.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`), its answer cannot be read (`H0664`), or the pause is too long (`H0659`).
pub fn histogram(pid: i32, live: bool, most: usize, limits: &Limits) -> Result<(), Error> {
    let jvm = attachment::open(pid).map_err(Error::from)?;
    let walk = match live {
        true => Walk::LiveHistogram,
        false => Walk::Histogram,
    };
    limits.allow(&jvm, walk)?;
    let pause = Pause::begin(walk);
    let answer = jvm.command("inspectheap", &[kind(live)]);
    drop(pause);
    let answer = answer.map_err(Error::from)?;
    let rows: Vec<ClassRow> = answer.text.lines().filter_map(ClassRow::parse).collect();
    if rows.is_empty() {
        return Err(
            Error::fault(codes::H0664, "the JVM did not answer with a heap histogram")
                .with("found", answer.text.trim()),
        );
    }
    show(&table(&rows, most))?;
    Ok(())
}

/// Objects and bytes of one class.
#[derive(Debug, PartialEq, Eq)]
struct ClassRow {
    objects: u64,
    bytes: u64,
    class: String,
}

impl ClassRow {
    /// Parses `   1:   10777   20422336  [B (java.base@25.0.3)`.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        words.next()?.strip_suffix(':')?.parse::<u64>().ok()?;
        let (objects, bytes) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let class = words.next()?;
        Some(Self {
            objects,
            bytes,
            class: java_name(class),
        })
    }
}

/// Converts a class name of the JVM to Java: `[B` to `byte[]`, `[La.B;` to `a.B[]`.
fn java_name(class: &str) -> String {
    if !class.starts_with('[') {
        return printable(class);
    }
    let descriptor = class.replace('.', "/");
    match jvms::descriptor::FieldType::parse(descriptor.as_bytes()) {
        Ok(found) => printable(&found.to_java(jvms::names::binary)),
        Err(_) => printable(class),
    }
}

fn table(rows: &[ClassRow], most: usize) -> String {
    let total: u64 = rows.iter().map(|row| row.bytes).sum();
    let objects: u64 = rows.iter().map(|row| row.objects).sum();
    let mut text = format!(
        "{:>4}  {:>7}  {:>7}  {:>15}  {:>12}  class\n",
        "rank", "self", "accum", "bytes", "objects"
    );
    let mut sum = 0;
    for (rank, row) in rows.iter().take(most).enumerate() {
        sum += row.bytes;
        let percent = |part: u64| format!("{:.2}%", part as f64 / total.max(1) as f64 * 100.0);
        text.push_str(&format!(
            "{:>4}  {:>7}  {:>7}  {:>15}  {:>12}  {}\n",
            rank + 1,
            percent(row.bytes),
            percent(sum),
            thousands(row.bytes),
            thousands(row.objects),
            row.class
        ));
    }
    if rows.len() > most {
        let more = thousands((rows.len() - most) as u64);
        text.push_str(&format!("… and {more} more classes\n"));
    }
    let (total, objects) = (thousands(total), thousands(objects));
    text.push_str(&format!("{total} bytes in {objects} objects\n"));
    text
}

fn kind(live: bool) -> &'static str {
    match live {
        true => "-live",
        false => "-all",
    }
}

/// Requests a heap dump in an HPROF file, which appears only when it is complete.
///
/// # Errors
/// If the JVM cannot be reached (`H05xx`), does not write the file (`H0664`), the file cannot be moved to its path
/// (`H0620`), or the pause is too long (`H0659`).
pub fn dump(pid: i32, file: &Path, live: bool, limits: &Limits) -> Result<(), Error> {
    write_dump(pid, file, live, limits)?;
    let length = fs::metadata(file).map_or(0, |found| found.len());
    let (path, length) = (show::path(file), thousands(length));
    show(&format!("wrote {path} ({length} bytes)\n"))
}

fn write_dump(pid: i32, file: &Path, live: bool, limits: &Limits) -> Result<(), Error> {
    let unwritable = |error: io::Error| Error::unwritable(file, &error);
    let target = absolute(file)?;
    preflight::files([&Some(target.clone())])?; // a pause for a file that cannot be written is useless
    let jvm = attachment::open(pid).map_err(Error::from)?;
    let walk = match live {
        true => Walk::LiveDump,
        false => Walk::Dump,
    };
    limits.allow(&jvm, walk)?;
    let dump =
        atomic::parent_of(&target).and_then(|folder| DumpFolder::new(jvm.process(), &folder));
    let dump = dump.map_err(unwritable)?;
    let arguments = [&*dump.theirs.to_string_lossy(), kind(live)];
    let pause = Pause::begin(walk);
    let answer = jvm.command("dumpheap", &arguments);
    drop(pause);
    let answer = answer.map_err(Error::from)?;
    if !dump_end::is_complete(&dump.ours) {
        let folder = target.parent().unwrap_or(&target).display();
        let message = format!("the JVM has not written a complete heap dump in {folder}");
        return Err(Error::mistake(codes::H0664, message)
            .with("found", answer.text.trim())
            .with(
                "help",
                "give the JVM's user write access there, and free space for all objects",
            ));
    }
    dump.publish(&target).map_err(unwritable)
}

/// Prints the objects of a running JVM with the largest retained size, from a temporary heap dump.
///
/// # Errors
/// As [`dump`] and [`retainers::show`].
pub fn retainers(pid: i32, rows: usize, limits: &Limits) -> Result<(), Error> {
    let folder = LargeFolder::new(&std::env::temp_dir()).map_err(temp_output::no_folder)?;
    let file = folder.path().join("heap.hprof");
    write_dump(pid, &file, true, limits)?;
    retainers::show(&file, rows)
}

/// A folder in which the JVM can write a heap dump.
struct DumpFolder {
    _folder: LargeFolder,
    _tmp: Option<JvmTmp>,
    ours: PathBuf,
    theirs: PathBuf,
}

impl DumpFolder {
    /// Creates the folder in `parent`, or in the JVM's `/tmp` if the JVM or its user cannot access `parent`.
    fn new(process: &Process, parent: &Path) -> io::Result<Self> {
        const NAME: &str = "heap.hprof";
        let tmp = JvmTmp::open(process)?;
        let is_seen = process.sees(parent) && process.check_access(parent, Access::EXEC_OK).is_ok();
        let folder = match is_seen {
            true => LargeFolder::new(parent)?,
            false => LargeFolder::new(&tmp.path())?,
        };
        tmp.give(folder.path())?;
        let theirs = match is_seen {
            true => folder.path().join(NAME),
            false => tmp.seen(folder.path()).join(NAME),
        };
        Ok(Self {
            ours: folder.path().join(NAME),
            theirs,
            _folder: folder,
            _tmp: (!is_seen).then_some(tmp),
        })
    }

    /// Moves the file to its path, with this user as owner.
    fn publish(&self, target: &Path) -> io::Result<()> {
        // The JVM's user owns the folder and could create a link there.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut from = File::from(rustix::fs::open(&self.ours, flags, Mode::empty())?);
        fchown(&from, Some(geteuid().as_raw()), Some(getegid().as_raw()))?;
        match fs::rename(&self.ours, target) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                let mut to = atomic::create(target)?;
                io::copy(&mut from, &mut to).map(drop)
            }
            renamed => renamed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_histogram_are_read_and_the_rest_is_not() {
        let row = |objects, bytes, class: &str| {
            let class = class.to_owned();
            Some(ClassRow {
                objects,
                bytes,
                class,
            })
        };
        for (line, expected) in [
            (
                "   1:  10777  20422336  [B (java.base@25.0.3)",
                row(10_777, 20_422_336, "byte[]"),
            ),
            (
                "  12:      1        16  com.acme.Store",
                row(1, 16, "com.acme.Store"),
            ),
            (
                "   2:      3        48  [[Lcom.acme.Store;",
                row(3, 48, "com.acme.Store[][]"),
            ),
            (
                " num     #instances         #bytes  class name (module)",
                None,
            ),
            ("Total         45678       22222222", None),
            ("", None),
        ] {
            assert_eq!(ClassRow::parse(line), expected, "{line}");
        }
    }
}
