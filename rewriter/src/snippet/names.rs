//! Names that a class file may hold (JVMS 4.2).

use crate::opcode;
use crate::snippet::descriptor::{self, Kind};
use crate::snippet::{Member, MemberName, SnippetError, parameter_slots, return_type};
use crate::utf8;

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
    let bytes = utf8::encode(text);
    if bytes.len() > usize::from(u16::MAX) {
        let length = bytes.len() as u64;
        return Err(SnippetError::TextTooLong { length });
    }
    Ok(bytes)
}

/// An internal name: segments between slashes, none of them empty.
pub(crate) fn is_internal(name: &[u8]) -> bool {
    let forbidden = |byte: &u8| matches!(byte, b'.' | b';' | b'[');
    !name.iter().any(forbidden)
        && name
            .split(|byte| *byte == b'/')
            .all(|part| !part.is_empty())
}

pub(crate) fn is_unqualified(name: &[u8]) -> bool {
    !name.is_empty()
        && !name
            .iter()
            .any(|byte| matches!(byte, b'.' | b';' | b'[' | b'/'))
}

/// The classes that a descriptor names have proper names.
fn names_classes(descriptor: &[u8]) -> bool {
    let mut kinds = descriptor::Parameters::of(descriptor)
        .chain(return_type(descriptor))
        .filter_map(class_of);
    kinds.all(is_internal)
}

fn class_of(kind: Kind<'_>) -> Option<&[u8]> {
    match kind {
        Kind::Class(name) => Some(name),
        Kind::Array(descriptor) => {
            let element = descriptor.iter().position(|byte| *byte != b'[')?;
            match descriptor::first(descriptor.get(element..)?)?.0 {
                Kind::Class(name) => Some(name),
                _ => None,
            }
        }
        _ => None,
    }
}

fn is_array(name: &[u8]) -> bool {
    matches!(descriptor::first(name), Some((kind @ Kind::Array(_), []))
        if class_of(kind).is_none_or(is_internal))
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
    let kind = descriptor::first(&member.descriptor).and_then(|(kind, _)| class_of(kind));
    if !descriptor::is_field(&member.descriptor) || !kind.is_none_or(is_internal) {
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
    if !descriptor::is_method(&member.descriptor) || !names_classes(&member.descriptor) {
        return Err(bad("method descriptor", &target.descriptor, at));
    }
    let receiver = u32::from(opcode != opcode::INVOKESTATIC);
    if parameter_slots(&member.descriptor).wrapping_add(receiver) > 255 {
        let expected = "method descriptor of at most 255 argument slots";
        return Err(bad(expected, &target.descriptor, at));
    }
    let constructor = member.name == b"<init>" && opcode == opcode::INVOKESPECIAL;
    let plain =
        is_unqualified(&member.name) && !member.name.iter().any(|b| matches!(b, b'<' | b'>'));
    if !plain && !constructor {
        return Err(bad("method name", &target.name, at));
    }
    if constructor && (return_type(&member.descriptor) != Some(Kind::Void) || member.interface) {
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
