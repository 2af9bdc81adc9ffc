//! The child's side: sets limits, runs the readers and compares their results.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use cafebabe::attributes::AttributeData;
use child_process::{Resource, limit};
use rewriter::ClassFile;
use rustix::process::{getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use super::opinion::Opinion;

/// Memory limit of the child, in bytes.
const MEMORY: u64 = 2 << 30;
/// CPU time limit for one class.
const TIME: Duration = Duration::from_secs(20);

thread_local! {
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Answers the requests on standard input, on standard output, until the end of the input.
///
/// # Errors
/// Those of setting limits, before any input is read.
pub fn serve() -> io::Result<()> {
    limit(Resource::As, MEMORY)?;
    limit(Resource::Core, 0)?;
    limit(Resource::Fsize, 0)?;
    std::panic::set_hook(Box::new(|info| {
        PANIC.with_borrow_mut(|text| *text = info.to_string());
    }));
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let mut head = [0; 5];
    while input.read_exact(&mut head).is_ok() {
        let [reader, length @ ..] = head;
        let mut class = Vec::new();
        let length = u64::from(u32::from_be_bytes(length));
        (&mut input).take(length).read_to_end(&mut class)?;
        allow_time()?;
        writeln!(output, "{}", ask(reader, &class).to_line())?;
        output.flush()?;
    }
    Ok(())
}

/// Moves the soft limit of CPU time for the next class. The limit counts from the start of the
/// process.
fn allow_time() -> io::Result<()> {
    let used = clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs();
    let mut limit = getrlimit(Resource::Cpu);
    let wanted = used.saturating_add(TIME.as_secs());
    limit.current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
    setrlimit(Resource::Cpu, limit).map_err(io::Error::from)
}

fn ask(reader: u8, class: &[u8]) -> Opinion {
    let asked = AssertUnwindSafe(|| match reader {
        0 => by_cafebabe(class),
        _ => by_ristretto(class),
    });
    catch_unwind(asked).unwrap_or_else(|_| {
        let text = PANIC.with_borrow_mut(std::mem::take);
        Opinion::Breaks(format!("it panicked: {text}"))
    })
}

fn by_ristretto(bytes: &[u8]) -> Opinion {
    use ristretto_classfile::Error::TryFromIntError;
    let refused = |error| match error {
        // The reader's own limit of 16 bits: for example a `goto_w` over more than 32,767 bytes.
        TryFromIntError(error) => Opinion::Breaks(error.to_string()),
        error => Opinion::Refuses(error.to_string()),
    };
    match ristretto_classfile::ClassFile::from_slice(bytes) {
        Err(error) => refused(error),
        Ok(class) => match class.verify() {
            Err(error) => refused(error),
            Ok(()) => by_us(bytes, |ours| {
                compare(
                    "number of methods",
                    ours.methods().len(),
                    class.methods.len(),
                )
            }),
        },
    }
}

fn by_cafebabe(bytes: &[u8]) -> Opinion {
    match cafebabe::parse_class(bytes) {
        Err(error) => Opinion::Refuses(error.to_string()),
        Ok(class) => by_us(bytes, |ours| same_class(ours, &class)),
    }
}

/// Compares a reader's result with ours.
fn by_us(bytes: &[u8], compare: impl FnOnce(&ClassFile<'_>) -> Result<(), String>) -> Opinion {
    match ClassFile::read(bytes) {
        Err(error) => Opinion::Differs(format!("it reads the class, and we do not: {error}")),
        Ok(ours) => match compare(&ours) {
            Ok(()) => Opinion::Agrees,
            Err(text) => Opinion::Differs(text),
        },
    }
}

fn compare<T: PartialEq + std::fmt::Debug>(what: &str, ours: T, theirs: T) -> Result<(), String> {
    if ours == theirs {
        return Ok(());
    }
    Err(format!("{what}: we read {ours:?}, it reads {theirs:?}"))
}

fn same_class(ours: &ClassFile<'_>, theirs: &cafebabe::ClassFile<'_>) -> Result<(), String> {
    let text = |text: jvms::modified_utf8::Utf8<'_>| text.to_str_lossless().into_owned();
    compare("major version", ours.major_version(), theirs.major_version)?;
    compare(
        "name",
        text(ours.this_class()),
        theirs.this_class.to_string(),
    )?;
    let parent = theirs.super_class.as_ref().map(ToString::to_string);
    compare("superclass", ours.super_class().map(text), parent)?;
    let interfaces: Vec<_> = theirs.interfaces.iter().map(ToString::to_string).collect();
    compare(
        "interfaces",
        ours.interfaces().map(text).collect(),
        interfaces,
    )?;
    compare(
        "number of methods",
        ours.methods().len(),
        theirs.methods.len(),
    )?;
    for (ours, theirs) in ours.methods().zip(&theirs.methods) {
        same_method(&ours, theirs)
            .map_err(|error| format!("method {}{}: {error}", ours.name(), ours.descriptor()))?;
    }
    Ok(())
}

fn same_method(
    ours: &rewriter::Method<'_, '_>,
    theirs: &cafebabe::MethodInfo<'_>,
) -> Result<(), String> {
    let text = |text: jvms::modified_utf8::Utf8<'_>| text.to_str_lossless().into_owned();
    compare("name", text(ours.name()), theirs.name.to_string())?;
    compare(
        "descriptor",
        text(ours.descriptor()),
        theirs.descriptor.to_string(),
    )?;
    let code = theirs
        .attributes
        .iter()
        .find_map(|found| match &found.data {
            AttributeData::Code(code) => Some(code),
            _ => None,
        });
    let ours = ours.code().map_err(|error| error.to_string())?;
    match (ours, code) {
        (Some(ours), Some(theirs)) => same_code(&ours, theirs),
        (ours, theirs) => compare("code", ours.is_some(), theirs.is_some()),
    }
}

fn same_code(
    ours: &rewriter::Code<'_, '_>,
    theirs: &cafebabe::attributes::CodeData<'_>,
) -> Result<(), String> {
    compare("max_stack", ours.max_stack(), theirs.max_stack)?;
    compare("max_locals", ours.max_locals(), theirs.max_locals)?;
    compare("code", ours.bytes(), theirs.code)?;
    let handlers = ours.exception_table().map(|found| {
        let (start, end, handler) = (found.start.0, found.end, found.handler.0);
        (start, end, handler)
    });
    let their_handlers = theirs
        .exception_table
        .iter()
        .map(|found| (found.start_pc, found.end_pc, found.handler_pc));
    compare(
        "exception table",
        handlers.collect::<Vec<_>>(),
        their_handlers.collect(),
    )?;
    let bcis = ours
        .instructions()
        .map(|found| found.map(|found| usize::from(found.bci.0)))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| error.to_string())?;
    let their_bcis = theirs.bytecode.iter().flat_map(|code| &code.opcodes);
    compare(
        "instructions",
        bcis,
        their_bcis.map(|(bci, _)| *bci).collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CIRCLE: &[u8] =
        include_bytes!("../../rewriter/tests/fixtures/release25/Shapes$Circle.class");
    const OLDER: &[u8] = include_bytes!("../../rewriter/tests/fixtures/release8/Older.class");

    #[test]
    fn readers_agree_on_equal_classes_only() {
        assert_eq!(
            (ask(0, CIRCLE), ask(1, CIRCLE)),
            (Opinion::Agrees, Opinion::Agrees)
        );
        let (ours, theirs) = (ClassFile::read(OLDER), cafebabe::parse_class(CIRCLE));
        let error = same_class(&ours.unwrap(), &theirs.unwrap()).unwrap_err();
        assert_eq!(error, "major version: we read 52, it reads 69");
    }

    #[test]
    fn a_changed_instruction_is_a_difference() {
        let ours = ClassFile::read(CIRCLE).unwrap();
        let found = ours.methods().find_map(|method| method.code().ok()?);
        let at = found.unwrap().bytes().as_ptr() as usize - ours.bytes().as_ptr() as usize;
        let mut changed = CIRCLE.to_vec();
        changed[at] = 0; // aload_0 becomes nop
        let error = same_class(&ours, &cafebabe::parse_class(&changed).unwrap()).unwrap_err();
        assert!(error.contains("code: we read [42, "), "{error}");
    }

    #[test]
    fn class_that_any_reader_refuses_is_reported() {
        assert!(matches!(ask(0, b"no class"), Opinion::Refuses(_)));
        let panic = by_us(b"no class", |_| Ok(()));
        assert!(matches!(panic, Opinion::Differs(text) if text.contains("we do not")));
    }
}
