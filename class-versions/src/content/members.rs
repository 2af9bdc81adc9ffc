//! The declarations of a class as text, without code.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::content::names::{Constants, own_names};
use jvms::access_flags::{ACC_STATIC, Declaration, mask};
use jvms::modified_utf8::Utf8;
use rewriter::{Attributes, ClassFile, DeclaredAnnotation, Field, Method};

/// Returns name, version, supertypes, flags, and the attributes of the class.
pub(super) fn header(class: &ClassFile<'_>) -> String {
    let mut inner: Vec<String> = class
        .inner_classes()
        .map(|found| format!("{found:?}"))
        .collect();
    inner.sort_unstable();
    let mut text = declaration(class);
    let _ = write!(
        text,
        "{inner:?} {:?} {:?}",
        class.source_file(),
        class.source_debug_extension()
    );
    text
}

/// Returns the header without the source file and the nested classes that the class mentions.
pub(super) fn declaration(class: &ClassFile<'_>) -> String {
    let interfaces: Vec<_> = class.interfaces().collect();
    let mut members: Vec<_> = class.nest_members().collect();
    members.sort_unstable();
    let permitted: Vec<_> = class.permitted_subclasses().collect();
    let flags = class.access_flags() & mask(Declaration::Class);
    let mut text = format!(
        "{:?} {}.{} {flags:#x} {:?} {interfaces:?} {:?} {:?} {members:?} {permitted:?}",
        class.this_class(),
        class.major_version(),
        class.minor_version(),
        class.super_class(),
        class.signature(),
        class.nest_host(),
    );
    for component in class.record_components().unwrap_or_default() {
        let (name, descriptor) = (component.name, component.descriptor);
        let signature = component.signature();
        let _ = write!(text, "{name:?} {descriptor:?} {signature:?}");
        text.push_str(&annotations(component.attributes));
    }
    text.push_str(&annotations(class.attributes()));
    text
}

/// Checks whether `EnclosingMethod` is the same. HotSpot does not reconstitute it, so a class without it agrees with
/// any.
pub(super) fn enclosing_agree(one: &ClassFile<'_>, other: &ClassFile<'_>) -> bool {
    let (one, other) = (one.enclosing(), other.enclosing());
    one.is_none() || other.is_none() || one == other
}

/// Returns the fields by name and descriptor.
pub(super) fn fields<'a>(class: &ClassFile<'a>) -> BTreeMap<(Utf8<'a>, Utf8<'a>), String> {
    let content = |field: Field<'_, 'a>| {
        let flags = field.access_flags() & mask(Declaration::Field);
        let signature = text_of(class, field.attributes(), "Signature");
        // HotSpot drops the value of an instance field, which has no effect (JVMS 4.7.2).
        let is_static = flags & ACC_STATIC != 0;
        let value = is_static.then(|| constant(class, &field));
        let mut text = format!("{flags:#x} {signature:?} {value:?}");
        text.push_str(&annotations(field.attributes()));
        ((field.name(), field.descriptor()), text)
    };
    class.fields().map(content).collect()
}

/// Returns the value of `ConstantValue` as text.
pub(crate) fn constant(class: &ClassFile<'_>, field: &Field<'_, '_>) -> Option<String> {
    let mut attributes = field.attributes();
    let found = attributes.find(|found| found.name == "ConstantValue")?;
    let constants = Constants {
        class,
        naming: &own_names,
    };
    Some(constants.entry(found.index()?))
}

/// Returns a method without its code and `MethodParameters`.
pub(super) fn method(method: &Method<'_, '_>) -> String {
    let flags = method.access_flags() & mask(Declaration::Method);
    let exceptions: Vec<_> = method.exceptions().collect();
    let mut text = format!(
        "{flags:#x} {:?} {exceptions:?} {:?}",
        method.signature(),
        method.annotation_default(),
    );
    text.push_str(&annotations(method.attributes()));
    text.push_str(&visible(method.attributes().parameter_annotations()));
    if let Ok(Some(code)) = method.code() {
        let _ = write!(text, "{:?}", code.attributes().type_annotations());
    }
    text.push('\n');
    text
}

fn text_of<'a>(
    class: &ClassFile<'a>,
    mut attributes: Attributes<'_, 'a>,
    name: &str,
) -> Option<Utf8<'a>> {
    attributes
        .find(|found| found.name == name)?
        .utf8(class.pool())
}

/// Returns the annotations that reflection sees.
fn annotations(attributes: Attributes<'_, '_>) -> String {
    let types = attributes.clone().type_annotations();
    format!("{} {types:?}", visible(attributes.annotations()))
}

fn visible(mut all: Vec<DeclaredAnnotation<'_>>) -> String {
    all.retain(|annotation| annotation.visible);
    format!("{all:?}")
}
