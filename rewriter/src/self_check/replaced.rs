//! A whole class file in the place of another: sound in itself, and of the shape that the JVM has of the class.

use crate::class::{ClassFile, Method, RecordComponent};
use crate::self_check::unsound::{ReplacementError, heading, shown};
use crate::self_check::whole;
use jvms::modified_utf8::Utf8;

/// The first version of class files (JVMS table 4.1-A); a JVM refuses a lower one.
const OLDEST: u16 = 45;

/// Expects a class file that can take the place of `original` at any time, also when the JVM has loaded the class (JVM TI,
/// Retransform Classes): the same name, supertypes, flags and members in the same order, nest, record and permitted
/// subclasses, of no newer version; and sound, as far as can be said without other classes: constants, tables,
/// instructions with their operands, and the types on all ways through code that has stack map frames.
///
/// # Errors
/// Says what is wrong first.
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
    whole::check(&class)
}

/// Expects a class file that is sound by itself, as [`check_replacement`] does, whatever its shape.
///
/// # Errors
/// Says what is wrong first.
pub fn check_soundness(bytes: &[u8]) -> Result<(), ReplacementError> {
    whole::check(&ClassFile::read(bytes)?)
}

/// Expects the shape that a retransformation may not change.
///
/// # Errors
/// Says what differs first.
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

/// The same values in the same order; shows the first that differs.
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

/// Sorted: HotSpot has them in an order of its own when it hands a loaded class over.
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
    // A record without components is one all the same.
    let record = class.record_components().map(|found| {
        let all = found.iter().map(shape);
        std::iter::once("a record".to_owned()).chain(all).collect()
    });
    record.unwrap_or_default()
}
