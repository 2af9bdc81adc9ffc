//! Restores parameter names that a JVM has dropped.
//!
//! Up to release 20, HotSpot leaves `MethodParameters` out of the class file that it reconstitutes for a
//! retransformation. The retransformed class would lose its parameter names, and frameworks that read them by
//! reflection would fail.

use std::collections::HashMap;

use jvms::constant_tag;
use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, Method, Parameter};

/// The attribute (JVMS 4.7.24).
const ATTRIBUTE: &[u8] = b"MethodParameters";
/// Bytes of a class file before its constant pool; the last two are the pool count.
const HEAD: usize = 10;
/// Bytes of a method before its attributes; the last two are the attribute count.
const METHOD_HEAD: usize = 8;

/// Copies `MethodParameters` from `file` to the methods of `class` that have none. Methods match by name and
/// descriptor. `None` if no method lacks them, or the constant pool is full.
#[must_use]
pub fn restore_parameter_names(class: &ClassFile<'_>, file: &ClassFile<'_>) -> Option<Vec<u8>> {
    if !file.pool().holds(ATTRIBUTE) {
        return None;
    }
    let known = file.methods().map(|method| (key(&method), method));
    let known: HashMap<_, _> = known.collect();
    let mut names = Names::new(class.pool().count());
    let attribute = names.index(ATTRIBUTE)?;
    let bytes = class.bytes();
    let mut methods = Vec::new();
    let mut copied = class.methods_start();
    let mut is_changed = false;
    for method in class.methods() {
        let found = known.get(&key(&method));
        let lost = found.filter(|_| method.parameters().next().is_none());
        let Some(row) = lost.and_then(|found| names.rows(found.parameters())) else {
            continue;
        };
        let (start, own) = (method.start(), method.bytes());
        let (head, attributes) = own.split_at_checked(METHOD_HEAD)?;
        let (head, count) = head.split_at_checked(METHOD_HEAD - 2)?;
        let count = u16::from_be_bytes(count.try_into().ok()?).checked_add(1)?;
        methods.extend_from_slice(bytes.get(copied..start)?);
        methods.extend_from_slice(head);
        methods.extend_from_slice(&count.to_be_bytes());
        methods.extend_from_slice(attributes);
        methods.extend_from_slice(&attribute.to_be_bytes());
        methods.extend_from_slice(&u32::try_from(row.len()).ok()?.to_be_bytes());
        methods.extend_from_slice(&row);
        copied = start.checked_add(own.len())?;
        is_changed = true;
    }
    is_changed.then_some(())?;
    let mut out = bytes.get(..HEAD - 2)?.to_vec();
    out.extend_from_slice(&names.next.to_be_bytes());
    out.extend_from_slice(bytes.get(HEAD..class.pool().end())?);
    out.extend_from_slice(&names.entries);
    out.extend_from_slice(bytes.get(class.pool().end()..class.methods_start())?);
    out.extend_from_slice(&methods);
    out.extend_from_slice(bytes.get(copied..)?);
    Some(out)
}

/// Returns name and descriptor, which identify a method in its class.
fn key<'a>(method: &Method<'_, 'a>) -> (&'a [u8], &'a [u8]) {
    (method.name().as_bytes(), method.descriptor().as_bytes())
}

/// Entries to append to a constant pool.
struct Names<'a> {
    known: HashMap<&'a [u8], u16>,
    entries: Vec<u8>,
    /// The index of the next entry.
    next: u16,
}

impl<'a> Names<'a> {
    fn new(next: u16) -> Self {
        Self {
            known: HashMap::new(),
            entries: Vec::new(),
            next,
        }
    }

    /// Returns the index of a text; `None` if the pool is full.
    fn index(&mut self, text: &'a [u8]) -> Option<u16> {
        if let Some(index) = self.known.get(text) {
            return Some(*index);
        }
        let index = self.next;
        self.next = index.checked_add(1)?;
        self.entries.push(constant_tag::UTF8);
        let length = u16::try_from(text.len()).ok()?;
        self.entries.extend_from_slice(&length.to_be_bytes());
        self.entries.extend_from_slice(text);
        self.known.insert(text, index);
        Some(index)
    }

    /// Returns the body of the attribute; `None` without parameters.
    fn rows(&mut self, parameters: impl Iterator<Item = Parameter<'a>>) -> Option<Vec<u8>> {
        let mut rows = vec![0];
        for Parameter { name, access_flags } in parameters {
            let name = name.map_or(Some(0), |name| self.index(Utf8::as_bytes(name)))?;
            rows.extend_from_slice(&name.to_be_bytes());
            rows.extend_from_slice(&access_flags.to_be_bytes());
            let count = rows.first_mut()?;
            *count = count.checked_add(1)?;
        }
        (rows.len() > 1).then_some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DECLARED: &[u8] =
        include_bytes!("../../rewriter/tests/fixtures/release25/Declared.class");

    /// Returns the class without `MethodParameters`: its name in the pool becomes another of the same length.
    fn without(file: &[u8]) -> Vec<u8> {
        let at = file
            .windows(ATTRIBUTE.len())
            .position(|window| window == ATTRIBUTE)
            .expect("the name of the attribute");
        let mut class = file.to_vec();
        class[at..at + 6].copy_from_slice(b"Unread");
        class
    }

    /// Names and flags of the parameters of each method.
    type Names = Vec<(String, Vec<(Option<String>, u16)>)>;

    fn names(class: &ClassFile<'_>) -> Names {
        let of_method = |method: Method<'_, '_>| {
            let parameters = method.parameters();
            let parameters =
                parameters.map(|it| (it.name.map(|name| name.to_string()), it.access_flags));
            (
                format!("{}{}", method.name(), method.descriptor()),
                parameters.collect(),
            )
        };
        class.methods().map(of_method).collect()
    }

    #[test]
    fn only_parameter_names_are_restored() {
        let file = ClassFile::read(DECLARED).expect("a class");
        let dropped = without(DECLARED);
        let dropped = ClassFile::read(&dropped).expect("a class");
        assert!(names(&dropped).iter().all(|(_, names)| names.is_empty()));
        let restored = restore_parameter_names(&dropped, &file).expect("names");
        let restored = ClassFile::read(&restored).expect("a class");
        assert_eq!(names(&restored), names(&file));
        assert!(names(&file).iter().any(|(_, names)| !names.is_empty()));
        let others = |class: &ClassFile<'_>| {
            let attributes = class.methods().map(|method| {
                method
                    .attributes()
                    .filter(|it| it.name != "MethodParameters")
                    .count()
            });
            attributes.collect::<Vec<_>>()
        };
        assert_eq!(others(&restored), others(&dropped));
        assert_eq!(class_tail(&restored), class_tail(&dropped));
    }

    fn class_tail<'a>(class: &ClassFile<'a>) -> Vec<&'a [u8]> {
        class
            .attributes()
            .map(|attribute| attribute.bytes)
            .collect()
    }

    #[test]
    fn class_with_or_without_any_names_stays_unchanged() {
        let file = ClassFile::read(DECLARED).expect("a class");
        assert!(restore_parameter_names(&file, &file).is_none());
        let without = without(DECLARED);
        let without = ClassFile::read(&without).expect("a class");
        assert!(restore_parameter_names(&file, &without).is_none());
        assert!(restore_parameter_names(&without, &without).is_none());
    }
}
