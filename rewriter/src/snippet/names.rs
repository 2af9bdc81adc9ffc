//! Names in operations, checked.

use crate::arithmetic::Exact;
use crate::snippet::error::SnippetError;
use crate::snippet::operation::{Member, MemberName};
use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::modified_utf8;
use jvms::names::{is_internal, is_unqualified};
use jvms::opcode;

/// Longest name shown in an error.
const SHOWN: usize = 80;

#[cold]
pub(super) fn bad(expected: &'static str, found: &str, at: u32) -> SnippetError {
    let mut text: String = found.chars().take(SHOWN).collect();
    if text.len() < found.len() {
        text.push('…');
    }
    SnippetError::BadName {
        at,
        expected,
        found: text,
    }
}

/// The text in modified UTF-8, if the pool has room for it.
fn encode(text: &str) -> Result<Vec<u8>, SnippetError> {
    let bytes = modified_utf8::encode(text);
    if bytes.len() > usize::from(u16::MAX) {
        let length = bytes.len() as u64;
        return Err(SnippetError::TextTooLong { length });
    }
    Ok(bytes)
}

fn is_array(name: &[u8]) -> bool {
    match FieldType::parse(name) {
        Ok(found @ FieldType::Array(_)) => found.class_name().is_none_or(is_internal),
        _ => false,
    }
}

/// An internal name or array descriptor.
pub(super) fn class(name: &str, at: u32) -> Result<Vec<u8>, SnippetError> {
    let bytes = encode(name)?;
    if is_internal(&bytes) || is_array(&bytes) {
        return Ok(bytes);
    }
    Err(bad(
        "class as its internal name, a/B, or an array as its descriptor",
        name,
        at,
    ))
}

pub(super) fn field(opcode: u8, target: &MemberName, at: u32) -> Result<Member, SnippetError> {
    if !matches!(opcode, opcode::GETSTATIC..=opcode::PUTFIELD) {
        let expected = "getstatic, putstatic, getfield or putfield";
        return Err(SnippetError::opcode(at, opcode, expected));
    }
    let member = member(target, at)?;
    if !is_internal(&member.owner) {
        return Err(bad("class that is no array", &target.owner, at));
    }
    if !is_unqualified(&member.name) {
        return Err(bad("field name", &target.name, at));
    }
    let found = FieldType::parse(&member.descriptor).ok();
    if !found.is_some_and(|found| found.class_name().is_none_or(is_internal)) {
        return Err(bad("field descriptor", &target.descriptor, at));
    }
    Ok(member)
}

pub(super) fn method(opcode: u8, target: &MemberName, at: u32) -> Result<Member, SnippetError> {
    if !matches!(opcode, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE) {
        let expected = "invokestatic, invokevirtual, invokespecial or invokeinterface";
        return Err(SnippetError::opcode(at, opcode, expected));
    }
    let member = member(target, at)?;
    let found = MethodDescriptor::parse(&member.descriptor).ok();
    let found = found.filter(|found| found.class_names().all(is_internal));
    let Some(found) = found else {
        return Err(bad("method descriptor", &target.descriptor, at));
    };
    let receiver = u32::from(opcode != opcode::INVOKESTATIC);
    if found.parameter_slots().plus(receiver) > 255 {
        let expected = "method descriptor of at most 255 argument slots";
        return Err(bad(expected, &target.descriptor, at));
    }
    let constructor = member.name == b"<init>" && opcode == opcode::INVOKESPECIAL;
    let plain =
        is_unqualified(&member.name) && !member.name.iter().any(|b| matches!(b, b'<' | b'>'));
    if !plain && !constructor {
        return Err(bad("method name", &target.name, at));
    }
    if constructor && (found.return_type().is_some() || member.interface) {
        return Err(bad("constructor's descriptor", &target.descriptor, at));
    }
    let expected = match opcode {
        opcode::INVOKEINTERFACE if !member.interface => "method of an interface",
        opcode::INVOKEVIRTUAL if member.interface => "method of a class",
        _ => return Ok(member),
    };
    Err(bad(expected, &target.name, at))
}

fn member(target: &MemberName, at: u32) -> Result<Member, SnippetError> {
    Ok(Member {
        owner: class(&target.owner, at)?,
        name: encode(&target.name)?,
        descriptor: encode(&target.descriptor)?,
        interface: target.interface,
    })
}

impl Member {
    /// A method by its names, checked.
    pub(crate) fn method(opcode: u8, target: &MemberName) -> Result<Self, SnippetError> {
        method(opcode, target, 0)
    }

    /// A field by its names, checked.
    pub(crate) fn field(opcode: u8, target: &MemberName) -> Result<Self, SnippetError> {
        field(opcode, target, 0)
    }
}
