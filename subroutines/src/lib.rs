//! Inlines subroutines (`jsr`, `ret`; JVMS 6.5), which class files have up to version 50.
//!
//! Several calls share the instructions of a subroutine, so a probe in it would mix them. This module makes each call a
//! copy of the subroutine, in the order of ASM's `JSRInlinerAdapter`, because JaCoCo counts these copies.
//!
//! `aconst_null` and `goto_w` replace a `jsr`, and `goto_w` replaces a `ret`. In ASM, a return leads to a label of its
//! own, even if other jumps lead to the same instruction. The wide form marks such a return for readers of the code.

#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing
    )
)]

mod copies;
mod reach;

use jvms::opcode;

use copies::Copies;
use reach::{Body, Reach};
use rewriter::{Attribute, ClassFile, Code, Method};

/// The first version whose class files have no subroutines (JVMS 4.9.1).
const WITHOUT: u16 = 51;
/// Bytes of an attribute before its contents.
const ATTRIBUTE_HEAD: usize = 6;

/// Returns the class with a copy of a subroutine in place of each call, or `None` without a subroutine that can be
/// inlined. A method stays unchanged if a subroutine calls itself, or if the code would exceed 65,535 bytes or a branch
/// 32,767.
///
/// The new code has no unreachable instructions. Its only attributes are line numbers and local variables.
#[must_use]
pub fn inline(class: &ClassFile<'_>) -> Option<Vec<u8>> {
    if class.major_version() >= WITHOUT {
        return None;
    }
    let bytes = class.bytes();
    let mut out = Vec::new();
    let mut copied = 0;
    for method in class.methods() {
        let Some((attribute, contents)) = inlined(class, &method) else {
            continue;
        };
        let start = attribute.offset as usize;
        out.extend_from_slice(bytes.get(copied..start - ATTRIBUTE_HEAD + 2)?);
        out.extend_from_slice(&u32::try_from(contents.len()).ok()?.to_be_bytes());
        out.extend_from_slice(&contents);
        copied = start + attribute.bytes.len();
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(bytes.get(copied..)?);
    Some(out)
}

/// Returns the `Code` attribute of a method with subroutines, and its new contents.
fn inlined<'a>(class: &ClassFile<'a>, method: &Method<'_, 'a>) -> Option<(Attribute<'a>, Vec<u8>)> {
    let code = method.code().ok()??;
    if !has_subroutines(&code) {
        return None;
    }
    let body = Body::read(&code)?;
    let reach = Reach::of(&body)?;
    let copies = Copies::make(&body, &reach)?;
    let attribute = method.code_attribute()?;
    let contents = copies.code_attribute(&code, &body, class.bytes())?;
    Some((attribute, contents))
}

/// Checks for a `jsr`; most code has no byte that could be one.
fn has_subroutines(code: &Code<'_, '_>) -> bool {
    let mut any = false;
    code.bytes()
        .iter()
        .any(|byte| opcode::is_subroutine_call(*byte))
        && code
            .visit_opcodes(|_, opcode| any |= opcode::is_subroutine_call(opcode))
            .is_ok()
        && any
}

#[cfg(test)]
mod tests;
