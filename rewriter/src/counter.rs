//! The code of a counter, for whoever knows where its number is kept.

use crate::snippet::{MemberName, Snippet, SnippetError};
use jvms::opcode;

/// Adds 1 to an element of a static `long[]`, without synchronization; what is on the stack stays.
///
/// # Errors
/// When the names are none that a class file may hold.
pub fn increment(owner: String, field: &str, index: i32) -> Result<Snippet, SnippetError> {
    let mut code = Snippet::new();
    let array = MemberName {
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
