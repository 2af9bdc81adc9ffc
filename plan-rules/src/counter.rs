//! The code that increments a counter.

use jvms::opcode;
use rewriter::{Assemble, Member, Snippet, SnippetError};

/// Returns code that adds 1 to an element of a static `long[]`, without synchronization. The operand stack stays
/// unchanged.
///
/// # Errors
/// A class file may not hold the names.
pub fn increment(owner: String, field: &str, index: i32) -> Result<Snippet, SnippetError> {
    let mut code = Snippet::new();
    let array = Member {
        owner,
        name: field.to_owned(),
        descriptor: "[J".to_owned(),
        interface: false,
    };
    code.field(opcode::GETSTATIC, array)?; // array
    code.push_int(index)?; // array, index
    for opcode in [
        opcode::DUP2,     // array, index, array, index
        opcode::LALOAD,   // array, index, count (2)
        opcode::LCONST_1, // array, index, count (2), 1 (2)
        opcode::LADD,     // array, index, count (2)
        opcode::LASTORE,  //
    ] {
        code.op(opcode, 0)?;
    }
    Ok(code)
}
