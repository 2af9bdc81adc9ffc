//! Uses of helper classes in code, resolved as the JVM does at run time (JVMS 5.4.3). Members must exist, have the kind
//! that the instruction needs, and be accessible.

use std::collections::HashSet;
use std::fmt;

use thiserror::Error;

use crate::helper_classes::resolution::{HelperSet, Use};
use jvms::modified_utf8::Utf8;
use jvms::opcode::*;
use rewriter::{ClassFile, MemberRef, MethodHandle, PoolIndex};

/// A use of a helper class that would end in a linkage error.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{place} uses {used} of its helper class {helper}, {problem}")]
pub struct HelperUseError {
    /// Internal name of the helper class.
    pub helper: String,
    /// Name and descriptor of the member, or the instruction that needs the class.
    pub used: String,
    /// The location of the use.
    pub place: UsePlace,
    /// The fault, with the error that the JVM would throw.
    pub problem: &'static str,
}

/// The location of a use.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsePlace {
    /// An instruction.
    Code {
        /// Name and descriptor of the method.
        method: String,
        /// Its bci.
        bci: u16,
        /// The mnemonic.
        instruction: &'static str,
    },
    /// A `CONSTANT_MethodHandle`, by its index.
    MethodHandle(u16),
}

impl fmt::Display for UsePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code {
                method,
                bci,
                instruction,
            } => write!(f, "{instruction} in {method} at bci {bci}"),
            Self::MethodHandle(index) => write!(f, "the method handle of constant {index}"),
        }
    }
}

/// Checks that helper classes have the members that the code of a class uses.
pub(super) fn check_uses(
    class: &ClassFile<'_>,
    helpers: &HelperSet<'_, '_>,
) -> Result<(), HelperUseError> {
    let uses = Uses { class, helpers };
    let mut seen = HashSet::new();
    for method in class.methods() {
        let Ok(Some(code)) = method.code() else {
            continue;
        };
        for instruction in code.instructions().map_while(Result::ok) {
            let Some(index) = instruction.pool_index() else {
                continue;
            };
            let (opcode, name) = (instruction.opcode, method.name());
            let initializer = use_of(opcode).is_some_and(|wanted| name == wanted.initializer());
            if !seen.insert((index, opcode, initializer)) {
                continue;
            }
            let place = || UsePlace::Code {
                method: format!("{name}{}", method.descriptor()),
                bci: instruction.bci.0,
                instruction: instruction.mnemonic(),
            };
            match opcode {
                NEW => uses.allocation(class.pool().class_name(index), &place)?,
                _ => uses.member(class.pool().member_ref(index), opcode, initializer, &place)?,
            }
        }
    }
    for index in (1..class.pool().count()).map(PoolIndex) {
        let Some(MethodHandle { kind, member }) = class.pool().method_handle(index) else {
            continue;
        };
        let place = || UsePlace::MethodHandle(index.0);
        if kind == NEW_INVOKE_SPECIAL {
            uses.allocation(Some(member.owner), &place)?;
        }
        if let Some(opcode) = OPCODE_OF_KIND.get(usize::from(kind)) {
            uses.member(Some(member), *opcode, false, &place)?;
        }
    }
    Ok(())
}

/// The code of one class, and the available helper classes.
struct Uses<'u, 'h, 'a> {
    class: &'u ClassFile<'a>,
    helpers: &'u HelperSet<'h, 'h>,
}

impl Uses<'_, '_, '_> {
    fn allocation(
        &self,
        class: Option<Utf8<'_>>,
        place: &dyn Fn() -> UsePlace,
    ) -> Result<(), HelperUseError> {
        let Some(class) = class else { return Ok(()) };
        let found = self.helpers.instance_of(class);
        found.map_err(|problem| HelperUseError {
            helper: class.to_string(),
            used: "an instance".to_owned(),
            place: place(),
            problem: problem.text(),
        })
    }

    fn member(
        &self,
        member: Option<MemberRef<'_>>,
        opcode: u8,
        initializer: bool,
        place: &dyn Fn() -> UsePlace,
    ) -> Result<(), HelperUseError> {
        let (Some(member), Some(wanted)) = (member, use_of(opcode)) else {
            return Ok(());
        };
        let found = self
            .helpers
            .member(self.class, &member, wanted, initializer);
        found.map_err(|problem| HelperUseError {
            helper: member.owner.to_string(),
            used: shown(&member),
            place: place(),
            problem: problem.text(),
        })
    }
}

/// `REF_newInvokeSpecial` (JVMS table 5.4.3.5-A).
const NEW_INVOKE_SPECIAL: u8 = 8;

/// The instruction with the behaviour of each kind of method handle (JVMS table 5.4.3.5-A).
const OPCODE_OF_KIND: [u8; 10] = [
    NOP,
    GETFIELD,
    GETSTATIC,
    PUTFIELD,
    PUTSTATIC,
    INVOKEVIRTUAL,
    INVOKESTATIC,
    INVOKESPECIAL,
    INVOKESPECIAL,
    INVOKEINTERFACE,
];

/// Returns the use of a member by an instruction.
fn use_of(opcode: u8) -> Option<Use> {
    Some(match opcode {
        GETSTATIC => Use::GetStatic,
        GETFIELD => Use::GetField,
        PUTSTATIC => Use::PutStatic,
        PUTFIELD => Use::PutField,
        INVOKESTATIC => Use::InvokeStatic,
        INVOKESPECIAL => Use::InvokeSpecial,
        INVOKEVIRTUAL | INVOKEINTERFACE => Use::Invoke,
        _ => return None,
    })
}

fn shown(member: &MemberRef<'_>) -> String {
    let descriptor = member.descriptor.to_string();
    match descriptor.starts_with('(') {
        true => format!("the method {}{descriptor}", member.name),
        false => format!("the field {} {descriptor}", member.name),
    }
}
