//! Checks the names and descriptors added to a class, as a JVM that verifies does (JVMS 4.2, 4.3).

use std::collections::HashSet;

use crate::class::ClassFile;
use crate::index::PoolIndex;
use crate::limits::ODD_NAMES_SINCE;
use crate::self_check::error::SelfCheckError;
use jvms::constant_tag;
use jvms::descriptor::{FieldType, MAX_ARGUMENT_SLOTS, MethodDescriptor, is_class_or_array};
use jvms::modified_utf8::Utf8;
use jvms::names::{CLINIT, is_identifier, is_method, is_unqualified};

/// A name and its descriptor.
type Member<'a> = (Utf8<'a>, Utf8<'a>);

#[cold]
fn bad(what: &'static str, found: Utf8<'_>) -> SelfCheckError {
    let found = found.to_str_lossless().chars().take(SHOWN).collect();
    SelfCheckError::BadName { what, found }
}

/// Maximum bytes of a name shown in an error.
const SHOWN: usize = 80;
/// First version of class files whose class initializers have no arguments (JVMS 2.9.2).
const NO_ARGUMENTS_SINCE: u16 = 51;

/// Checks that the appended pool entries have valid names of classes and members.
pub(super) fn pool(before: &ClassFile<'_>, after: &ClassFile<'_>) -> Result<(), SelfCheckError> {
    // An added frame may name any class on the stack.
    let known = Known {
        class: &|name| is_typed_with(before, name),
        member: &|name| names_member(before, name),
    };
    from(before.pool().count(), after, &known)
}

/// Checks all entries, and the members' names.
pub(crate) fn all(class: &ClassFile<'_>) -> Result<(), SelfCheckError> {
    let known = Known {
        class: &|_| false,
        member: &|_| false,
    };
    from(1, class, &known)?;
    let mut all = declared(class);
    all.try_for_each(|(found, receiver)| {
        let arguments = found.0.as_bytes() == CLINIT.as_bytes() && found.1.as_bytes() != b"()V";
        if arguments && class.major_version() >= NO_ARGUMENTS_SINCE {
            return Err(bad("descriptor of a class initializer", found.1));
        }
        member(class.major_version(), found, receiver, &|_| false)
    })
}

/// Decides whether an invalid name was already in the original.
struct Known<'k> {
    class: &'k dyn Fn(Utf8<'_>) -> bool,
    member: &'k dyn Fn(Utf8<'_>) -> bool,
}

/// Checks the entries from this index on.
fn from(first: u16, after: &ClassFile<'_>, known: &Known<'_>) -> Result<(), SelfCheckError> {
    let (pool, major) = (after.pool(), after.major_version());
    for index in (first..pool.count()).map(PoolIndex) {
        match pool.tag(index) {
            Some(constant_tag::CLASS) => {
                let name = pool.class_name(index).unwrap_or_default();
                let fits = is_class_or_array(name.as_bytes()) && suits(major, name);
                if !fits && !(known.class)(name) {
                    return Err(bad("class", name));
                }
            }
            Some(constant_tag::METHOD_TYPE) => {
                let found = pool.method_type(index).unwrap_or_default();
                method_descriptor(found, false)?;
            }
            Some(constant_tag::NAME_AND_TYPE) => {
                let found = pool.name_and_type(index).unwrap_or_default();
                member(major, found, false, known.member)?;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Checks whether a class or member of `before` has this type. A JVM that accepts it accepts the name.
fn is_typed_with(before: &ClassFile<'_>, name: Utf8<'_>) -> bool {
    let descriptor = match name.as_bytes() {
        array @ [b'[', ..] => array.to_vec(),
        class => [b"L", class, b";"].concat(),
    };
    let pool = before.pool();
    let mut named = (1..pool.count()).map(PoolIndex).filter_map(|index| {
        let class = pool.class_name(index);
        class.or_else(|| Some(pool.name_and_type(index)?.1))
    });
    let mut members = declared(before);
    let holds = |text: Utf8<'_>| {
        let mut parts = text.as_bytes().windows(descriptor.len());
        text == name || parts.any(|part| part == descriptor)
    };
    named.any(holds) || members.any(|((_, found), _)| holds(found))
}

/// Checks names and types of the members that `before` does not have. Renamed types change descriptors of members, but
/// not their names.
pub(super) fn members(before: &ClassFile<'_>, after: &ClassFile<'_>) -> Result<(), SelfCheckError> {
    let old: HashSet<Member<'_>> = declared(before).map(|(found, _)| found).collect();
    let known = |name: Utf8<'_>| names_member(before, name);
    let mut new = declared(after).filter(|(found, _)| !old.contains(found));
    new.try_for_each(|(found, receiver)| member(after.major_version(), found, receiver, &known))
}

/// Checks whether the class declares or references a member of this name.
fn names_member(class: &ClassFile<'_>, name: Utf8<'_>) -> bool {
    let pool = class.pool();
    let mut named = (1..pool.count()).map(PoolIndex);
    named.any(|index| {
        pool.name_and_type(index)
            .is_some_and(|found| found.0 == name)
    }) || declared(class).any(|(found, _)| found.0 == name)
}

/// Returns the fields and methods of a class; true for instance members.
fn declared<'c>(class: &'c ClassFile<'_>) -> impl Iterator<Item = (Member<'c>, bool)> {
    let fields = class.fields();
    let fields = fields.map(|field| ((field.name(), field.descriptor()), false));
    let methods = class.methods().map(|method| {
        let receiver = !method.is_static();
        ((method.name(), method.descriptor()), receiver)
    });
    fields.chain(methods)
}

fn member(
    major: u16,
    (name, descriptor): Member<'_>,
    receiver: bool,
    known: &dyn Fn(Utf8<'_>) -> bool,
) -> Result<(), SelfCheckError> {
    let is_named = if descriptor.as_bytes().starts_with(b"(") {
        method_descriptor(descriptor, receiver)?;
        is_method(name.as_bytes())
    } else {
        if FieldType::checked(descriptor.as_bytes()).is_err() {
            return Err(bad("field descriptor", descriptor));
        }
        is_unqualified(name.as_bytes())
    };
    if is_named && (name.as_bytes().starts_with(b"<") || suits(major, name)) || known(name) {
        return Ok(());
    }
    Err(bad("name of a member", name))
}

fn method_descriptor(found: Utf8<'_>, receiver: bool) -> Result<(), SelfCheckError> {
    let fits = MethodDescriptor::checked(found.as_bytes())
        .is_ok_and(|it| it.argument_slots(receiver) <= MAX_ARGUMENT_SLOTS);
    fits.then_some(())
        .ok_or_else(|| bad("method descriptor", found))
}

/// Checks whether class files of this version allow the name. Before 49, names consist of identifiers.
fn suits(major: u16, name: Utf8<'_>) -> bool {
    major >= ODD_NAMES_SINCE
        || name.as_bytes().starts_with(b"[")
        || name.to_str_lossless().split('/').all(is_identifier)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::{ClassEdit, NewField, NewMethod};
    use crate::structure::extend;

    const SHAPES: &[u8] = include_bytes!("../../tests/fixtures/release25/Shapes.class");

    fn check(name: &str, descriptor: &str) -> Result<(), SelfCheckError> {
        let (name, descriptor) = (name.to_owned(), descriptor.to_owned());
        let edit = if descriptor.starts_with('(') {
            ClassEdit::AddMethod(NewMethod {
                flags: jvms::access_flags::ACC_ABSTRACT,
                name,
                descriptor,
                body: None,
            })
        } else {
            ClassEdit::AddField(NewField {
                flags: 0,
                name,
                descriptor,
                value: None,
            })
        };
        let before = ClassFile::read(SHAPES).expect("a class");
        let bytes = extend(&before, &[edit]).expect("written without a check of names");
        members(&before, &ClassFile::read(&bytes).expect("a class"))
    }

    #[test]
    fn invalid_names_are_refused() {
        for (name, descriptor) in [("a", "La/B;"), ("a b", "[[I"), ("m", "(La/B;)V")] {
            assert_eq!(check(name, descriptor), Ok(()), "{name}{descriptor}");
        }
        let long = format!("({})V", "J".repeat(128));
        for (name, descriptor) in [
            ("a", "L;"),
            ("a", "[L/;"),
            ("a/b", "I"),
            ("", "I"),
            ("m", "()L;"),
            ("m", "(La//b;)V"),
            ("<m>", "()V"),
            ("m", &long),
        ] {
            let refused = check(name, descriptor);
            let named = matches!(refused, Err(SelfCheckError::BadName { .. }));
            assert!(named, "{name}{descriptor}: {refused:?}");
        }
    }

    /// A parameter type moved into a frame; found by mutating classes.
    #[test]
    fn odd_type_name_of_the_original_passes() {
        let sound = ClassFile::read(SHAPES).expect("a class");
        let method = ClassEdit::AddMethod(NewMethod {
            flags: jvms::access_flags::ACC_ABSTRACT,
            name: "m".to_owned(),
            descriptor: "([La.B;La.C;)V".to_owned(),
            body: None,
        });
        let before = extend(&sound, &[method]).expect("written without a check of names");
        let before = ClassFile::read(&before).expect("a class");
        for (name, passes) in [
            ("a.B", true),
            ("a.C", true),
            ("[La.B;", true),
            (".B", false),
            ("[La.C;", false),
            ("m;", false),
        ] {
            let edits = [ClassEdit::AddInterface(name.to_owned())];
            let bytes = extend(&before, &edits).expect("written without a check of names");
            let checked = pool(&before, &ClassFile::read(&bytes).expect("a class"));
            assert_eq!(checked.is_ok(), passes, "{name}");
        }
    }

    #[test]
    fn entry_without_a_class_is_refused() {
        let before = ClassFile::read(SHAPES).expect("a class");
        for (name, passes) in [
            ("a/B", true),
            ("[[La/B;", true),
            ("a.B", false),
            ("La/B;", false),
        ] {
            let edits = [ClassEdit::AddInterface(name.to_owned())];
            let bytes = extend(&before, &edits).expect("written without a check of names");
            let checked = pool(&before, &ClassFile::read(&bytes).expect("a class"));
            assert_eq!(checked.is_ok(), passes, "{name}");
        }
    }
}
