//! Checks of names in operations.

use crate::snippet::error::SnippetError;
use crate::snippet::operation::{EncodedMember, Member};
use jvms::descriptor::{FieldType, MAX_ARGUMENT_SLOTS, MethodDescriptor, is_class_or_array};
use jvms::modified_utf8;
use jvms::names::{is_called_by_name, is_internal, is_unqualified};
use jvms::opcode;

/// Maximum bytes of a name shown in an error.
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

/// Encodes the text in modified UTF-8, if it fits into the pool.
pub(super) fn encode(text: &str) -> Result<Vec<u8>, SnippetError> {
    let bytes = modified_utf8::encode(text);
    if bytes.len() > usize::from(u16::MAX) {
        let length = bytes.len() as u64;
        return Err(SnippetError::TextTooLong { length });
    }
    Ok(bytes)
}

/// Checks an internal name or array descriptor.
pub(super) fn class(name: &str, at: u32) -> Result<Vec<u8>, SnippetError> {
    let bytes = encode(name)?;
    if is_class_or_array(&bytes) {
        return Ok(bytes);
    }
    Err(bad(
        "class as its internal name, a/B, or an array as its descriptor",
        name,
        at,
    ))
}

pub(super) fn field(opcode: u8, target: &Member, at: u32) -> Result<EncodedMember, SnippetError> {
    if !matches!(opcode, opcode::GETSTATIC..=opcode::PUTFIELD) {
        let expected = "getstatic, putstatic, getfield or putfield";
        return Err(SnippetError::opcode(at, opcode.into(), expected));
    }
    let member = member(target, at)?;
    if !is_internal(&member.owner) {
        return Err(bad("class that is no array", &target.owner, at));
    }
    if !is_unqualified(&member.name) {
        return Err(bad("field name", &target.name, at));
    }
    if FieldType::checked(&member.descriptor).is_err() {
        return Err(bad("field descriptor", &target.descriptor, at));
    }
    Ok(member)
}

pub(super) fn method(opcode: u8, target: &Member, at: u32) -> Result<EncodedMember, SnippetError> {
    if !matches!(opcode, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE) {
        let expected = "invokestatic, invokevirtual, invokespecial or invokeinterface";
        return Err(SnippetError::opcode(at, opcode.into(), expected));
    }
    let member = member(target, at)?;
    let Ok(found) = MethodDescriptor::checked(&member.descriptor) else {
        return Err(bad("method descriptor", &target.descriptor, at));
    };
    if found.argument_slots(opcode != opcode::INVOKESTATIC) > MAX_ARGUMENT_SLOTS {
        let expected = "method descriptor of at most 255 argument slots";
        return Err(bad(expected, &target.descriptor, at));
    }
    let constructor = member.name == b"<init>" && opcode == opcode::INVOKESPECIAL;
    if !is_called_by_name(&member.name) && !constructor {
        return Err(bad("method name", &target.name, at));
    }
    if constructor && !is_internal(&member.owner) {
        return Err(bad("class that is no array", &target.owner, at));
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

fn member(target: &Member, at: u32) -> Result<EncodedMember, SnippetError> {
    Ok(EncodedMember {
        owner: class(&target.owner, at)?,
        name: encode(&target.name)?,
        descriptor: encode(&target.descriptor)?,
        interface: target.interface,
    })
}

impl EncodedMember {
    /// Checks the names of a method.
    pub(crate) fn method(opcode: u8, target: &Member) -> Result<Self, SnippetError> {
        method(opcode, target, 0)
    }

    /// Checks the names of a field.
    pub(crate) fn field(opcode: u8, target: &Member) -> Result<Self, SnippetError> {
        field(opcode, target, 0)
    }
}
