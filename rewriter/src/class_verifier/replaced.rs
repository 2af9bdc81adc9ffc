//! Checks a class file that replaces a whole class: valid in itself, and with the shape of the original.

use crate::class::{ClassFile, Method, RecordComponent};
use crate::class_verifier::error::{ReplacementError, heading, shown};
use crate::class_verifier::structure::{OLDEST, verify_class};
use jvms::modified_utf8::Utf8;

/// Checks that a class file can replace `original`, even in a JVM that has loaded the class (JVM TI, Retransform
/// Classes).
///
/// - The shape is the same: name, supertypes, flags, members in order, nest, record and permitted subclasses.
/// - The version is not newer.
/// - The class file is valid, as far as it shows without other classes. The check covers constants, tables,
///   instructions with operands, and types along all paths of code with stack map frames.
///
/// # Errors
/// The first fault.
pub fn check_replacement(original: &ClassFile<'_>, bytes: &[u8]) -> Result<(), ReplacementError> {
    if original.bytes() == bytes {
        return Ok(());
    }
    let class = ClassFile::read(bytes)?;
    check_shape(original, &class)?;
    let version = |class: &ClassFile<'_>| (class.major_version(), class.minor_version());
    let ((major, minor), (new_major, new_minor)) = (version(original), version(&class));
    if !(OLDEST..=major).contains(&new_major) || new_minor != minor {
        let (expected, found) = (
            format!("{OLDEST}.{minor} to {major}.{minor}"),
            format!("{new_major}.{new_minor}"),
        );
        let what = "the version";
        return Err(ReplacementError::Differs {
            what,
            expected,
            found,
        });
    }
    verify_class(&class)
}

/// Checks that a class file is valid in itself, as [`check_replacement`] does, without comparing shapes.
///
/// # Errors
/// The first fault.
pub fn check_soundness(bytes: &[u8]) -> Result<(), ReplacementError> {
    verify_class(&ClassFile::read(bytes)?)
}

/// Checks the parts that a retransformation may not change.
///
/// # Errors
/// The first difference.
pub fn check_shape(
    original: &ClassFile<'_>,
    class: &ClassFile<'_>,
) -> Result<(), ReplacementError> {
    let name = |class: &ClassFile<'_>| class.this_class().to_str_lossless().into_owned();
    same("the name", &name(original), &name(class))?;
    let flags = |class: &ClassFile<'_>| format!("{:#06x}", class.access_flags());
    same("the access flags", &flags(original), &flags(class))?;
    let parent = |class: &ClassFile<'_>| {
        let name = class.super_class().unwrap_or_default();
        name.to_str_lossless().into_owned()
    };
    same("the superclass", &parent(original), &parent(class))?;
    list(
        "the interfaces",
        names(original.interfaces()),
        names(class.interfaces()),
    )?;
    list("the fields", fields(original), fields(class))?;
    list("the methods", methods(original), methods(class))?;
    let host = |class: &ClassFile<'_>| names(class.nest_host().into_iter());
    list("the nest host", host(original), host(class))?;
    let members = |class: &ClassFile<'_>| names(class.nest_members());
    list("the nest members", members(original), members(class))?;
    let permitted = |class: &ClassFile<'_>| names(class.permitted_subclasses());
    list(
        "the permitted subclasses",
        permitted(original),
        permitted(class),
    )?;
    list(
        "the record's components",
        components(original),
        components(class),
    )
}

fn same(what: &'static str, expected: &str, found: &str) -> Result<(), ReplacementError> {
    if expected == found {
        return Ok(());
    }
    let (expected, found) = (shown(expected), shown(found));
    Err(ReplacementError::Differs {
        what,
        expected,
        found,
    })
}

/// Compares two lists in order and reports the first difference.
fn list(
    what: &'static str,
    expected: Vec<String>,
    found: Vec<String>,
) -> Result<(), ReplacementError> {
    let count = |all: &[String]| format!("{} of them", all.len());
    if expected.len() != found.len() {
        return same(what, &count(&expected), &count(&found));
    }
    let mut pairs = expected.iter().zip(&found);
    pairs.try_for_each(|(expected, found)| same(what, expected, found))
}

fn names<'a>(names: impl Iterator<Item = Utf8<'a>>) -> Vec<String> {
    names
        .map(|name| name.to_str_lossless().into_owned())
        .collect()
}

fn fields(class: &ClassFile<'_>) -> Vec<String> {
    let shape = |field: crate::class::Field<'_, '_>| {
        let (name, descriptor) = (field.name(), field.descriptor());
        format!(
            "{name}:{descriptor} with flags {:#06x}",
            field.access_flags()
        )
    };
    class.fields().map(shape).collect()
}

/// Returns the methods, sorted: HotSpot reorders them when it reconstitutes a loaded class.
fn methods(class: &ClassFile<'_>) -> Vec<String> {
    let shape = |method: Method<'_, '_>| {
        let code = if method.has_code() {
            "and code"
        } else {
            "without code"
        };
        let flags = method.access_flags();
        format!("{} with flags {flags:#06x} {code}", heading(&method))
    };
    let mut all: Vec<String> = class.methods().map(shape).collect();
    all.sort_unstable();
    all
}

fn components(class: &ClassFile<'_>) -> Vec<String> {
    let shape = |found: &RecordComponent<'_, '_>| format!("{}:{}", found.name, found.descriptor);
    // A record without components is still a record.
    let record = class.record_components().map(|found| {
        let all = found.iter().map(shape);
        std::iter::once("a record".to_owned()).chain(all).collect()
    });
    record.unwrap_or_default()
}
