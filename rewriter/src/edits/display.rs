//! Edits as text, stable across releases.

use std::fmt::{self, Display, Formatter};

use crate::edits::change::Change;
use crate::edits::class_edit::{Annotation, ClassEdit, ElementValue, PrefixedNative, Target};
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::snippet::{Member, Snippet};
use ::edits::Constant;
use jvms::opcode::mnemonic;

/// A member as `OWNER.NAME:DESCRIPTOR`.
pub(crate) struct MemberText<'m>(pub(crate) &'m Member);

impl Display for MemberText<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Member {
            owner,
            name,
            descriptor,
            ..
        } = self.0;
        write!(f, "{owner}.{name}:{descriptor}")
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Target::Class => f.write_str("class"),
            Target::Field { name, descriptor } => write!(f, "field {name}:{descriptor}"),
            Target::Method(method) => write!(f, "method {method}"),
        }
    }
}

impl Display for Annotation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        nested(self, 0, f)
    }
}

impl Display for ElementValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        element(self, 0, f)
    }
}

fn nested(annotation: &Annotation, depth: u32, f: &mut Formatter<'_>) -> fmt::Result {
    write!(f, "@{}(", annotation.descriptor)?;
    for (index, (name, value)) in annotation.elements.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(f, "{comma}{name}=")?;
        element(value, depth, f)?;
    }
    f.write_str(")")
}

fn element(value: &ElementValue, depth: u32, f: &mut Formatter<'_>) -> fmt::Result {
    if depth >= MAX_ELEMENT_DEPTH {
        return f.write_str("...");
    }
    let deeper = depth.saturating_add(1);
    match value {
        ElementValue::Boolean(value) => write!(f, "{value}"),
        ElementValue::Byte(value) => write!(f, "(byte) {value}"),
        ElementValue::Char(value) => write!(f, "(char) {value}"),
        ElementValue::Short(value) => write!(f, "(short) {value}"),
        ElementValue::Int(value) => write!(f, "{value}"),
        ElementValue::Long(value) => write!(f, "{value}L"),
        ElementValue::Float(bits) => Constant::Float(f32::from_bits(*bits)).fmt(f),
        ElementValue::Double(bits) => Constant::Double(f64::from_bits(*bits)).fmt(f),
        ElementValue::String(text) => write!(f, "{text:?}"),
        ElementValue::Enum {
            descriptor,
            constant,
        } => write!(f, "{descriptor}.{constant}"),
        ElementValue::Class(descriptor) => write!(f, "class {descriptor}"),
        ElementValue::Annotation(annotation) => nested(annotation, deeper, f),
        ElementValue::Array(values) => {
            f.write_str("{")?;
            for (index, value) in values.iter().enumerate() {
                f.write_str(if index == 0 { "" } else { ", " })?;
                element(value, deeper, f)?;
            }
            f.write_str("}")
        }
    }
}

impl Display for ClassEdit {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            ClassEdit::AddField(field) => {
                write!(
                    f,
                    "add field {}:{} ({:#06x})",
                    field.name, field.descriptor, field.flags
                )?;
                match &field.value {
                    Some(value) => write!(f, " = {value}"),
                    None => Ok(()),
                }
            }
            ClassEdit::AddMethod(method) => {
                write!(
                    f,
                    "add method {}{} ({:#06x})",
                    method.name, method.descriptor, method.flags
                )?;
                body(method.body.as_ref(), f)
            }
            ClassEdit::AddInterface(name) => write!(f, "add interface {name}"),
            ClassEdit::AddAnnotation {
                target,
                visible,
                annotation,
            } => {
                let kind = if *visible { "visible" } else { "invisible" };
                write!(f, "{target}: add {kind} annotation {annotation}")
            }
            ClassEdit::AddAttribute {
                target,
                name,
                bytes,
            } => write!(f, "{target}: add attribute {name} of {} bytes", bytes.len()),
            ClassEdit::RenameMember { member, to } => {
                write!(f, "rename {} to {to}", MemberText(member))
            }
            ClassEdit::RenameType { from, to } => write!(f, "rename type {from} to {to}"),
            ClassEdit::PrefixNative(wrapper) => native(wrapper, f),
            ClassEdit::ReplaceBody { method, body } => {
                write!(f, "method {method}: replace body:")?;
                self::body(Some(body), f)
            }
        }
    }
}

fn native(wrapper: &PrefixedNative, f: &mut Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "method {}: wrap native with prefix {}",
        wrapper.method, wrapper.prefix
    )
}

/// Writes the operations of a snippet, one a line; the last one without line feed.
fn body(snippet: Option<&Snippet>, f: &mut Formatter<'_>) -> fmt::Result {
    let text = snippet.map(ToString::to_string).unwrap_or_default();
    text.lines()
        .try_for_each(|line| write!(f, "\n    {}", line.trim_start()))
}

impl Display for Change {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = |opcode: u8| mnemonic(opcode).unwrap_or("?");
        match self {
            Change::Call(target) => write!(
                f,
                "redirect to {} {}",
                name(target.opcode),
                MemberText(&target.method)
            ),
            Change::Field { opcode, field } => {
                write!(f, "redirect to {} {}", name(*opcode), MemberText(field))
            }
            Change::Remove(None) => f.write_str("remove"),
            Change::Remove(Some(value)) => write!(f, "replace by {value}"),
            Change::New { class, cast: false } => write!(f, "redirect to new {class}"),
            Change::New { class, cast: true } => write!(f, "redirect to new {class}, cast"),
            Change::Factory(method) => write!(f, "redirect to factory {}", MemberText(method)),
            Change::Around(code) => {
                f.write_str("around:")?;
                body(Some(code), f)
            }
        }
    }
}
