//! Generates calls of static methods, mainly those of the helper class `$Classhook`.

use jvms::descriptor::BaseType;
use jvms::opcode;
use rewriter::{Assemble, Member, Snippet, SnippetError};

use crate::storage::HELPER;

/// Converts the primitive value on the stack to a `long` with its bits.
pub(crate) fn to_bits(code: &mut Snippet, base: BaseType) -> Result<(), SnippetError> {
    match base {
        BaseType::Long => Ok(()),
        BaseType::Double => bits(code, "java/lang/Double", "doubleToRawLongBits", "(D)J"),
        BaseType::Float => {
            bits(code, "java/lang/Float", "floatToRawIntBits", "(F)I")?;
            code.op(opcode::I2L, 0)
        }
        _ => code.op(opcode::I2L, 0),
    }
}

/// Calls a method of the helper class by name and descriptor.
pub(crate) fn call(
    code: &mut Snippet,
    (name, descriptor): (&str, &str),
) -> Result<(), SnippetError> {
    bits(code, HELPER, name, descriptor)
}

fn bits(code: &mut Snippet, owner: &str, name: &str, descriptor: &str) -> Result<(), SnippetError> {
    let target = Member {
        owner: owner.to_owned(),
        name: name.to_owned(),
        descriptor: descriptor.to_owned(),
        interface: false,
    };
    code.invoke(opcode::INVOKESTATIC, target)
}
