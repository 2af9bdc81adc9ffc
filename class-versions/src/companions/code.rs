//! Generated code: methods that pass their arguments on.

use jvms::descriptor::{FieldType, MethodDescriptor, Parameters};
use jvms::opcode;

use crate::model::Code;

/// Returns code that loads its arguments, executes `call` and returns the result. `descriptor` includes the receiver
/// of an instance method. A malformed descriptor gives no code.
pub(super) fn forward(descriptor: &[u8], call: &[u8]) -> Option<Code> {
    let parsed = MethodDescriptor::parse(descriptor).ok()?;
    let mut code = Vec::new();
    let mut slot = 0_u16;
    for kind in Parameters::of(descriptor) {
        let load = kind.load_opcode();
        match u8::try_from(slot) {
            Ok(slot) => code.extend_from_slice(&[load, slot]),
            Err(_) => {
                code.extend_from_slice(&[opcode::WIDE, load]);
                code.extend_from_slice(&slot.to_be_bytes());
            }
        }
        slot = slot.checked_add(kind.slots())?;
    }
    code.extend_from_slice(call);
    let returns = parsed.return_type();
    code.push(returns.map_or(opcode::RETURN, FieldType::return_opcode));
    Some(Code {
        max_stack: slot.max(returns.map_or(0, FieldType::slots)),
        max_locals: slot,
        code,
        ..Code::default()
    })
}

/// Returns a method descriptor with another first parameter of this class.
pub(super) fn with_receiver(class: &[u8], descriptor: &[u8]) -> Vec<u8> {
    let rest = descriptor.strip_prefix(b"(").unwrap_or(descriptor);
    [b"(L", class, b";", rest].concat()
}
