//! Matches the instructions of a method against a pattern.

use jvms::opcode;

use super::nodes::Nodes;
use crate::class::{Constant, MemberRef, Operand};

/// A name for an item that occurs several times in a pattern.
pub(crate) type Name = (&'static str, u32);

/// A few named items.
struct Bindings<T>(Vec<(Name, T)>);

impl<T> Default for Bindings<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy + PartialEq> Bindings<T> {
    fn get(&self, name: Name) -> Option<T> {
        let mut all = self.0.iter();
        all.find(|(of, _)| *of == name).map(|&(_, named)| named)
    }

    /// Names an item, and replaces a previous item of this name.
    fn set(&mut self, name: Name, item: T) {
        self.0.retain(|(of, _)| *of != name);
        self.0.push((name, item));
    }

    /// Checks whether the name belongs to `item`; binds an unknown name to it.
    fn is(&mut self, name: Name, item: T) -> bool {
        match self.get(name) {
            Some(named) => named == item,
            None => {
                self.0.push((name, item));
                true
            }
        }
    }
}

/// A position in a method. After a failed expectation it has no position, and all later expectations fail.
pub(crate) struct Cursor<'a> {
    nodes: &'a Nodes<'a>,
    at: Option<usize>,
    locals: Bindings<u16>,
    labels: Bindings<usize>,
    owners: Bindings<&'a str>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(nodes: &'a Nodes<'a>) -> Self {
        Self {
            nodes,
            at: None,
            locals: Bindings::default(),
            labels: Bindings::default(),
            owners: Bindings::default(),
        }
    }

    /// Starts at the first instruction of the method.
    pub(crate) fn at_first(nodes: &'a Nodes<'a>) -> Self {
        let mut cursor = Self::new(nodes);
        cursor.at = nodes.skip_to_instruction(0);
        cursor
    }

    /// Starts at the first instruction of the method if it is `aload_0`.
    pub(crate) fn at_this(nodes: &'a Nodes<'a>) -> Self {
        let mut cursor = Self::at_first(nodes);
        cursor.keep_if(opcode::ALOAD, |operand| *operand == Operand::Local(0));
        cursor
    }

    /// Moves to another position and keeps the names.
    pub(crate) fn go_to(&mut self, at: Option<usize>) {
        self.at = at;
    }

    /// Returns the position.
    pub(crate) fn at(&self) -> Option<usize> {
        self.at
    }

    /// Checks whether all expectations so far were met.
    pub(crate) fn is_met(&self) -> bool {
        self.at.is_some()
    }

    /// Names the local variable of the instruction at `at`.
    pub(crate) fn name_local(&mut self, name: Name, at: usize) {
        if let Some(Operand::Local(local)) = self.nodes.instruction(at).map(|at| &at.operand) {
            self.locals.set(name, *local);
        }
    }

    /// Moves to the next instruction.
    pub(crate) fn next(&mut self) {
        self.at = self.following();
    }

    /// Returns the opcode at the position.
    pub(crate) fn opcode(&self) -> Option<u8> {
        self.nodes.opcode(self.at?)
    }

    /// Returns the opcode of the following node; `None` if that is a label or a line.
    pub(crate) fn neighbour(&self) -> Option<u8> {
        self.nodes.opcode(self.at? + 1)
    }

    fn keep_if(&mut self, opcode: u8, fits: impl FnOnce(&'a Operand<'a>) -> bool) {
        self.at = self.at.filter(|&at| {
            self.nodes.opcode(at) == Some(opcode)
                && self
                    .nodes
                    .instruction(at)
                    .is_some_and(|instruction| fits(&instruction.operand))
        });
    }

    /// Returns the position of the next instruction.
    pub(crate) fn following(&self) -> Option<usize> {
        self.nodes.next_instruction(self.at?)
    }

    /// Returns the opcode of the next instruction.
    pub(crate) fn opcode_of_next(&self) -> Option<u8> {
        self.nodes.opcode(self.following()?)
    }

    /// Requires an opcode for which `fits` holds.
    pub(crate) fn keep_opcode(&mut self, fits: impl FnOnce(u8) -> bool) {
        if !self.opcode().is_some_and(fits) {
            self.at = None;
        }
    }

    /// Requires the load of a string with this prefix.
    pub(crate) fn next_is_string(&mut self, prefix: &str) {
        self.next();
        self.keep_if(opcode::LDC, |operand| {
            matches!(operand, Operand::Constant(Constant::String(text)) if text.starts_with(prefix))
        });
    }

    pub(crate) fn next_is(&mut self, opcode: u8) {
        self.next();
        self.keep_if(opcode, |_| true);
    }

    pub(crate) fn next_is_switch(&mut self) {
        self.next();
        if !matches!(
            self.opcode(),
            Some(opcode::TABLESWITCH | opcode::LOOKUPSWITCH)
        ) {
            self.at = None;
        }
    }

    pub(crate) fn next_is_type(&mut self, opcode: u8, name: &str) {
        self.next();
        self.keep_if(
            opcode,
            |operand| matches!(operand, Operand::Type(of) if *of == name),
        );
    }

    pub(crate) fn next_is_member(&mut self, opcode: u8, owner: &str, name: &str, descriptor: &str) {
        self.next();
        self.keep_if(opcode, |operand| {
            matches!(operand, Operand::Member(member)
                if member.owner == owner && member.name == name && member.descriptor == descriptor)
        });
    }

    /// Requires a `throw` of a new exception of this class, with a message with this prefix.
    pub(crate) fn next_is_throw(&mut self, exception: &str, message: &str) {
        self.next_is_type(opcode::NEW, exception);
        self.next_is(opcode::DUP);
        self.next_is_string(message);
        self.next_is_member(
            opcode::INVOKESPECIAL,
            exception,
            "<init>",
            "(Ljava/lang/String;)V",
        );
        self.next_is(opcode::ATHROW);
    }

    /// Requires a comparison of the local variable of this name with a constant string.
    pub(crate) fn next_is_string_comparison(&mut self, string: Name) {
        self.next_is_local(opcode::ALOAD, string);
        self.next_is(opcode::LDC);
        self.next_is_member(
            opcode::INVOKEVIRTUAL,
            "java/lang/String",
            "equals",
            "(Ljava/lang/Object;)Z",
        );
    }

    /// A load or store of the local variable with this name; an unknown name is
    /// given to the variable found.
    pub(crate) fn next_is_local(&mut self, opcode: u8, name: Name) {
        self.next_is(opcode);
        let Some(Operand::Local(local)) = self.operand() else {
            self.at = None;
            return;
        };
        let local = *local;
        if !self.locals.is(name, local) {
            self.at = None;
        }
    }

    /// A jump to the label with this name; an unknown name is given to it.
    pub(crate) fn next_is_jump(&mut self, opcode: u8, name: Name) {
        self.next_is(opcode);
        let Some(label) = self.at.and_then(|at| self.nodes.jump_label(at)) else {
            self.at = None;
            return;
        };
        if !self.labels.is(name, label) {
            self.at = None;
        }
    }

    /// The very next node is the label with this name.
    pub(crate) fn next_is_label(&mut self, name: Name) {
        let expected = self.labels.get(name);
        self.at = self.at.map(|at| at + 1).filter(|at| Some(*at) == expected);
    }

    /// A call of a `close()` that is always the same class's for this name.
    pub(crate) fn next_is_close(&mut self, resource: Name) {
        self.next_is_local(opcode::ALOAD, resource);
        self.next();
        if !matches!(
            self.opcode(),
            Some(opcode::INVOKEVIRTUAL | opcode::INVOKEINTERFACE)
        ) {
            self.at = None;
            return;
        }
        match self.member() {
            Some(member) if member.name == "close" && member.descriptor == "()V" => {
                let owner = member.owner;
                if !self.owners.is(resource, owner) {
                    self.at = None;
                }
            }
            _ => self.at = None,
        }
    }

    pub(crate) fn operand(&self) -> Option<&'a Operand<'a>> {
        self.nodes
            .instruction(self.at?)
            .map(|instruction| &instruction.operand)
    }

    pub(crate) fn member(&self) -> Option<&'a MemberRef<'a>> {
        self.nodes.member(self.at?)
    }
}
