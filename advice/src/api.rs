//! The package `io.github.classhook.advice`, as `advice/java/classes` has it.

use std::io::{Seek, Write};

use zip::result::ZipResult;
use zip::write::{SimpleFileOptions, ZipWriter};

/// Name and bytes of a class file.
type File = (&'static str, &'static [u8]);

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$((
            concat!("io/github/classhook/advice/", $name, ".class"),
            include_bytes!(concat!("../java/classes/io/github/classhook/advice/", $name, ".class")),
        )),*]
    };
}

/// The package of the annotations.
pub const PACKAGE: &str = "io/github/classhook/advice/";

/// The annotations, which javac needs and no JVM loads.
pub const ANNOTATIONS: [File; 25] = files![
    "Advice",
    "AfterCall",
    "AllArguments",
    "Argument",
    "Around",
    "BeforeCall",
    "Called",
    "Field",
    "FromEntry",
    "Line",
    "Loader",
    "Method",
    "OnEntry",
    "OnExit",
    "Operand",
    "ReplaceArgument",
    "ReplaceOperand",
    "ReplaceReturned",
    "ReplaceThrown",
    "Returned",
    "Row",
    "Setting",
    "SkipIf",
    "This",
    "Thrown",
];

/// The classes that advice calls. They run in the program beside each class with advice that uses them.
pub const EVENTS: [File; 2] = files!["Events", "StackTrace"];

/// The class of a call that advice is around. It runs in the program beside each class with such advice.
pub const CALL: [File; 1] = files!["Call"];
/// Internal name of [`CALL`].
pub const CALL_NAME: &str = "io/github/classhook/advice/Call";

/// Internal name of the class with the methods that record.
pub const EVENTS_NAME: &str = "io/github/classhook/advice/Events";
/// Internal name of the class of stacks.
pub const STACK_TRACE_NAME: &str = "io/github/classhook/advice/StackTrace";
/// Internal name of the generated class that [`EVENTS_NAME`] calls.
pub const PROBED_ROWS_NAME: &str = "io/github/classhook/advice/ProbedRows";

/// The class that runs in the program beside each class with advice.
pub const GUARD: &[u8] =
    include_bytes!("../java/classes/io/github/classhook/advice/AdviceGuard.class");

/// Internal name of [`GUARD`].
pub const GUARD_NAME: &str = "io/github/classhook/advice/AdviceGuard";

const MANIFEST: &str =
    "Manifest-Version: 1.0\r\nAutomatic-Module-Name: io.github.classhook.advice\r\n\r\n";

/// Writes the annotations, [`EVENTS`] and [`CALL`] as a jar, `classhook-advice.jar`. The bytes are always the same.
///
/// # Errors
/// Those of `out`.
pub fn write_jar<W: Write + Seek>(out: W) -> ZipResult<()> {
    let options = SimpleFileOptions::default().last_modified_time(zip::DateTime::default());
    let mut jar = ZipWriter::new(out);
    let manifest = [("META-INF/MANIFEST.MF", MANIFEST.as_bytes())];
    let files = manifest.into_iter().chain(ANNOTATIONS);
    for (name, bytes) in files.chain(EVENTS).chain(CALL) {
        jar.start_file(name, options)?;
        jar.write_all(bytes)?;
    }
    jar.finish()?.flush()?;
    Ok(())
}
