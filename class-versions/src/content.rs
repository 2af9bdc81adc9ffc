//! The content of a class file as text, independent of the order of constants and methods.
//!
//! Two class files with the same content are the same class to the JVM and to reflection. Compilers order constants and
//! methods freely, and so does the JVM when it reconstitutes a class file. Their bytes cannot be compared. Content
//! includes only the parts of a class file that HotSpot keeps, so annotations invisible to reflection are left out.

mod code;
mod members;
mod names;

pub use code::code;
pub(crate) use members::constant as constant_value;
pub use names::{Naming, own_names};

use std::collections::BTreeMap;

use jvms::modified_utf8::Utf8;
use rewriter::{ClassFile, Method};

/// Checks whether two class files have the same content.
#[must_use]
pub fn is_same(one: &ClassFile<'_>, other: &ClassFile<'_>) -> bool {
    one.bytes() == other.bytes() || {
        members::header(one) == members::header(other)
            && members::enclosing_agree(one, other)
            && members::fields(one) == members::fields(other)
            && methods(one, true) == methods(other, true)
    }
}

/// Checks whether a JVM may have reconstituted `loaded` from a class loaded from `file`. HotSpot leaves out
/// `MethodParameters` before JDK 20.
#[must_use]
pub fn is_reconstituted(loaded: &ClassFile<'_>, file: &ClassFile<'_>) -> bool {
    let named = loaded
        .methods()
        .any(|method| method.parameters().next().is_some());
    members::header(loaded) == members::header(file)
        && members::enclosing_agree(loaded, file)
        && members::fields(loaded) == members::fields(file)
        && methods(loaded, named) == methods(file, named)
}

/// Returns the class file with its methods sorted by name and descriptor. HotSpot reconstitutes methods in the order of
/// addresses, which differs between loads.
#[must_use]
pub fn in_order(class: &ClassFile<'_>) -> Vec<u8> {
    let bytes = class.bytes();
    let (start, end) = (class.methods_start(), class.attributes_start());
    let mut methods: Vec<Method<'_, '_>> = class.methods().collect();
    methods.sort_by_key(|method| (method.name(), method.descriptor()));
    let mut ordered = bytes.get(..start).unwrap_or_default().to_vec();
    methods
        .iter()
        .for_each(|method| ordered.extend_from_slice(method.bytes()));
    ordered.extend_from_slice(bytes.get(end..).unwrap_or_default());
    ordered
}

/// Returns the methods by name and descriptor, with or without `MethodParameters`.
fn methods<'a>(class: &ClassFile<'a>, parameters: bool) -> BTreeMap<(Utf8<'a>, Utf8<'a>), String> {
    let content = |method: Method<'_, 'a>| {
        let mut text = members::method(&method);
        if parameters {
            let listed: Vec<_> = method.parameters().collect();
            text.push_str(&format!("{listed:?}\n"));
        }
        text.push_str(&code(&method, &own_names));
        text.push_str(&code::debug_tables(&method));
        ((method.name(), method.descriptor()), text)
    };
    class.methods().map(content).collect()
}

/// Checks whether two class files behave the same: they may differ in debugging tables, and in the list of the nested
/// classes that they mention.
#[must_use]
pub fn behaves_same(one: &ClassFile<'_>, other: &ClassFile<'_>) -> bool {
    one.bytes() == other.bytes() || {
        members::declaration(one) == members::declaration(other)
            && members::fields(one) == members::fields(other)
            && instructions(one) == instructions(other)
    }
}

/// Returns the methods by name and descriptor, without debugging tables.
fn instructions<'a>(class: &ClassFile<'a>) -> BTreeMap<(Utf8<'a>, Utf8<'a>), String> {
    let content = |method: Method<'_, 'a>| {
        let mut text = members::method(&method);
        text.push_str(&code(&method, &own_names));
        ((method.name(), method.descriptor()), text)
    };
    class.methods().map(content).collect()
}
