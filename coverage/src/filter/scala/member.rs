//! A method of a Scala class, and the properties of its code that identify generated methods.

use jvms::opcode;

use crate::class::{ClassDescription, Instruction, Line, MemberRef, MethodDescription, Operand};

/// The field with the instance of an `object`.
pub(super) const INSTANCE: &str = "MODULE$";

/// A method with code.
#[derive(Clone, Copy)]
pub(super) struct Member<'a> {
    pub(super) class: &'a ClassDescription<'a>,
    pub(super) name: &'a str,
    pub(super) descriptor: &'a str,
    pub(super) code: &'a [Instruction<'a>],
    pub(super) lines: &'a [Line],
}

impl<'a> Member<'a> {
    pub(super) fn of(
        class: &'a ClassDescription<'a>,
        method: &'a MethodDescription<'a>,
    ) -> Option<Self> {
        let code = method.code.as_ref()?;
        Some(Self {
            class,
            name: method.name,
            descriptor: method.descriptor,
            code: code.instructions,
            lines: code.lines,
        })
    }

    /// Returns the other methods of the class with this name.
    pub(super) fn others(self, name: &str) -> impl Iterator<Item = Member<'a>> {
        let class = self.class;
        let methods = class
            .methods
            .iter()
            .filter(move |method| method.name == name);
        methods.filter_map(|method| Member::of(class, method))
    }

    /// Checks for a method inherited from a trait, of a trait, or of a value class: it calls the implementation elsewhere.
    pub(super) fn is_forwarder(self) -> bool {
        if matches!(self.name, "hashCode$extension" | "equals$extension") {
            return true;
        }
        let is_target = |call: &MemberRef<'_>| {
            let of_trait = call.name.strip_suffix('$') == Some(self.name);
            let in_trait = self.name.strip_suffix('$') == Some(call.name);
            let is_own = call.owner == self.class.name;
            of_trait
                || (in_trait && is_own)
                || call.name.strip_suffix("$extension") == Some(self.name)
        };
        let (targets, others): (Vec<_>, Vec<_>) = self.calls().partition(|call| is_target(call));
        let own = |call: &&MemberRef<'_>| call.owner == self.class.name;
        targets.len() == 1 && others.iter().all(own) && self.is_straight()
    }

    /// Checks for the constructor of a value class, whose instances exist only where the compiler needs one.
    pub(super) fn is_constructor_of_value(self) -> bool {
        let mut hashes = self.others("hashCode");
        self.name == "<init>"
            && self.only_line().is_some()
            && hashes.any(|hash| hash.calls().any(|call| call.name == "hashCode$extension"))
    }

    /// Checks for a method that reads or writes the field of its own name.
    pub(super) fn is_accessor(self) -> bool {
        let written = self.name.strip_suffix("_$eq");
        let field = |at: usize| match self.code.get(at).map(|at| &at.operand) {
            Some(Operand::Member(field)) => field.name,
            _ => "",
        };
        let name_of = |name: &str| {
            name.rsplit("$$")
                .next()
                .unwrap_or(name)
                .trim_end()
                .to_owned()
        };
        match self.opcodes().as_slice() {
            [opcode::ALOAD, opcode::GETFIELD, last] if is_return(*last) => {
                name_of(field(1)) == name_of(self.name)
            }
            [opcode::GETSTATIC, last] if is_return(*last) => field(0) == self.name,
            [opcode::ALOAD, load, opcode::PUTFIELD, opcode::RETURN] if is_load(*load) => {
                Some(name_of(field(2))) == written.map(name_of)
            }
            [load, opcode::PUTSTATIC, opcode::RETURN] if is_load(*load) => {
                Some(field(1)) == written
            }
            _ => false,
        }
    }

    /// Checks for the default of a parameter, if it is a constant, or the default of a `copy`.
    pub(super) fn is_default(self) -> bool {
        let Some((method, number)) = self.name.rsplit_once("$default$") else {
            return false;
        };
        let is_number = !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit());
        let is_constant = self.calls().next().is_none();
        is_number && self.is_straight() && (is_constant || method == "copy")
    }

    pub(super) fn opcodes(self) -> Vec<u8> {
        let plain = |at: &Instruction<'_>| opcode::general_form(at.opcode);
        self.code.iter().map(plain).collect()
    }

    /// Returns the methods that the code calls.
    pub(super) fn calls(self) -> impl Iterator<Item = &'a MemberRef<'a>> {
        let calls = self
            .code
            .iter()
            .filter(|at| matches!(at.opcode, opcode::INVOKEVIRTUAL..=opcode::INVOKEINTERFACE));
        calls.filter_map(|at| match at.operand {
            Operand::Member(method) => Some(method),
            _ => None,
        })
    }

    /// Checks whether the code has no branches.
    pub(super) fn is_straight(self) -> bool {
        let branches = |at: &Instruction<'_>| {
            matches!(at.operand, Operand::Target(_) | Operand::Switch { .. })
        };
        !self.code.iter().any(branches)
    }

    /// Returns the line of the method, if it has exactly one.
    pub(super) fn only_line(self) -> Option<u16> {
        let first = self.lines.first()?.number;
        let is_it = |line: &Line| line.number == first;
        self.lines.iter().all(is_it).then_some(first)
    }

    /// Checks whether an instruction refers to this class.
    pub(super) fn has_type(self, opcode: u8, name: &str) -> bool {
        self.code.iter().any(|at| {
            at.opcode == opcode && matches!(at.operand, Operand::Type(found) if found == name)
        })
    }

    /// Checks whether the code only returns a new object of this class.
    pub(super) fn creates(self, name: &str) -> bool {
        let made = |at: &MemberRef<'_>| (at.owner, at.name) == (name, "<init>");
        let (Some([new, dup]), Some([call, last])) =
            (self.code.first_chunk(), self.code.last_chunk())
        else {
            return false;
        };
        let loads = self
            .code
            .get(2..self.code.len().saturating_sub(2))
            .unwrap_or_default();
        matches!(new.operand, Operand::Type(found) if found == name)
            && (new.opcode, dup.opcode) == (opcode::NEW, opcode::DUP)
            && loads
                .iter()
                .all(|at| is_load(opcode::general_form(at.opcode)))
            && matches!(call.operand, Operand::Member(called) if made(called))
            && last.opcode == opcode::ARETURN
    }
}

pub(super) fn is_load(opcode: u8) -> bool {
    (opcode::ILOAD..=opcode::ALOAD).contains(&opcode)
}

pub(super) fn is_return(opcode: u8) -> bool {
    (opcode::IRETURN..=opcode::ARETURN).contains(&opcode)
}
