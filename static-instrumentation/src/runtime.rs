//! The runtime: a small jar of classes that provide instrumented classes with probe arrays.

use std::io::{Seek, Write};

use zip::result::ZipResult;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Name and bytes of a class file.
type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$((
            concat!("classhook/runtime/", $name, ".class"),
            include_bytes!(concat!("../../runtime/classes/classhook/runtime/", $name, ".class")),
        )),*]
    };
}

/// The class files, as `runtime/classes` has them.
pub const CLASSES: [File; 10] = files![
    "FileName",
    "Key",
    "Log",
    "Log$Payload",
    "Log$Written",
    "Probes",
    "ShutdownHook",
    "ShutdownHook$Gate",
    "SnapshotWriter",
    "SnapshotWriter$Entry",
];

const MANIFEST: &str = "Manifest-Version: 1.0\r\nAutomatic-Module-Name: classhook.runtime\r\n\r\n";

/// Writes the jar. The bytes are always the same.
///
/// # Errors
/// Those of `out`.
pub fn write_jar<W: Write + Seek>(out: W) -> ZipResult<()> {
    let mut jar = ZipWriter::new(out);
    let manifest = [("META-INF/MANIFEST.MF", MANIFEST.as_bytes())];
    for (name, bytes) in manifest.into_iter().chain(CLASSES) {
        jar.start_file(name, options())?;
        jar.write_all(bytes)?;
    }
    jar.finish()?.flush()?;
    Ok(())
}

/// Returns the entry options: deflated, with the earliest possible time.
pub(super) fn options() -> SimpleFileOptions {
    SimpleFileOptions::default().last_modified_time(zip::DateTime::default())
}
