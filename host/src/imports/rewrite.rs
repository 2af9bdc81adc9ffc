//! The interface `rewrite`: code that a plugin inserts, and instructions that it changes.

use plan_rules::SnippetBuilder;
use rewriter::{Assemble, CallTarget, Change, Label, Member, MethodIndex, Snippet, SnippetError};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, constant, member_name, tokens};
use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::rewrite::{Host, HostSnippet};
use crate::bindings::classhook::plugin::types::{Constant, Site};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

type Added = std::result::Result<(), SnippetError>;

impl StoreData {
    /// Appends to a snippet, or reports why that fails.
    fn extend_snippet(
        &mut self,
        of: &Resource<SnippetBuilder>,
        add: impl FnOnce(&mut SnippetBuilder) -> std::result::Result<(), String>,
    ) -> Answer {
        let added = self.change(of, add)?;
        let transformation = self.transformation()?;
        answer(added.map_err(|cause| transformation.refuse_unsuitable(&cause)))
    }

    /// Appends an operation with `text` bytes of text to a snippet.
    fn extend(
        &mut self,
        of: &Resource<SnippetBuilder>,
        text: usize,
        add: impl FnOnce(&mut Snippet) -> Added,
    ) -> Answer {
        self.extend_snippet(of, |code| code.add(text, add))
    }

    /// Appends an operation with the name of a member.
    fn extend_with(
        &mut self,
        of: &Resource<SnippetBuilder>,
        member: Member,
        add: impl FnOnce(&mut Snippet, Member) -> Added,
    ) -> Answer {
        self.extend_snippet(of, |code| code.add_member(member, add))
    }

    /// Appends an operation with a label.
    fn extend_at(
        &mut self,
        of: &Resource<SnippetBuilder>,
        label: u32,
        add: impl FnOnce(&mut Snippet, Label) -> Added,
    ) -> Answer {
        self.extend_snippet(of, |code| code.add_at(label, add))
    }

    fn change_at(&mut self, at: &[Site], change: &Change) -> Answer {
        answer(self.transformation()?.change(tokens(at), change))
    }
}

impl Host for StoreData {
    fn insert(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        code: Resource<SnippetBuilder>,
    ) -> Answer {
        let (code, transformation) = self.resource_and_transformation(&code)?;
        answer(transformation.insert(tokens(&at), code))
    }

    fn replace_body(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        code: Resource<SnippetBuilder>,
    ) -> Answer {
        let (body, transformation) = self.resource_and_transformation(&code)?;
        answer(transformation.replace_body(MethodIndex(method), body))
    }

    fn wrap(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        before: Resource<SnippetBuilder>,
        after: Resource<SnippetBuilder>,
    ) -> Answer {
        let after = self.kept(&after)?.clone();
        let (before, transformation) = self.resource_and_transformation(&before)?;
        answer(transformation.wrap(tokens(&at), before, &after))
    }

    fn around(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        code: Resource<SnippetBuilder>,
    ) -> Answer {
        let (code, transformation) = self.resource_and_transformation(&code)?;
        answer(transformation.around(tokens(&at), code))
    }

    fn redirect_call(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        opcode: u8,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        let method = member_name(target, of_interface);
        self.change_at(&at, &Change::Call(CallTarget { opcode, method }))
    }

    fn redirect_field(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        opcode: u8,
        target: MemberRef,
    ) -> Answer {
        let field = member_name(target, false);
        self.change_at(&at, &Change::Field { opcode, field })
    }

    fn redirect_allocation(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        self.change_at(&at, &Change::Factory(member_name(target, of_interface)))
    }

    fn allocate(&mut self, _: Resource<PlanHandle>, at: Vec<Site>, name: String) -> Answer {
        let (class, cast) = (name, false);
        self.change_at(&at, &Change::New { class, cast })
    }

    fn allocate_with_cast(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        name: String,
    ) -> Answer {
        let (class, cast) = (name, true);
        self.change_at(&at, &Change::New { class, cast })
    }

    fn remove(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        value: Option<Constant>,
    ) -> Answer {
        self.change_at(&at, &Change::Remove(value.map(constant)))
    }
}

impl HostSnippet for StoreData {
    fn new(&mut self) -> Result<Resource<SnippetBuilder>> {
        self.keep(SnippetBuilder::default())
    }

    fn load_this(&mut self, of: Resource<SnippetBuilder>) -> Answer {
        self.extend(&of, 0, Snippet::load_this)
    }

    fn load_argument(&mut self, of: Resource<SnippetBuilder>, index: u8) -> Answer {
        self.extend(&of, 0, |code| code.load_argument(index))
    }

    fn push_int(&mut self, of: Resource<SnippetBuilder>, value: i32) -> Answer {
        self.extend(&of, 0, |code| code.push_int(value))
    }

    fn push_long(&mut self, of: Resource<SnippetBuilder>, value: i64) -> Answer {
        self.extend(&of, 0, |code| code.push_long(value))
    }

    fn push_float(&mut self, of: Resource<SnippetBuilder>, value: f32) -> Answer {
        self.extend(&of, 0, |code| code.push_float(value))
    }

    fn push_double(&mut self, of: Resource<SnippetBuilder>, value: f64) -> Answer {
        self.extend(&of, 0, |code| code.push_double(value))
    }

    fn push_string(&mut self, of: Resource<SnippetBuilder>, value: String) -> Answer {
        self.extend(&of, value.len(), |code| code.push_string(&value))
    }

    fn push_class(&mut self, of: Resource<SnippetBuilder>, name: String) -> Answer {
        self.extend(&of, name.len(), |code| code.push_class(&name))
    }

    fn push_null(&mut self, of: Resource<SnippetBuilder>) -> Answer {
        self.extend(&of, 0, Snippet::push_null)
    }

    fn invoke(
        &mut self,
        of: Resource<SnippetBuilder>,
        opcode: u8,
        target: MemberRef,
        of_interface: bool,
    ) -> Answer {
        let target = member_name(target, of_interface);
        self.extend_with(&of, target, |code, target| code.invoke(opcode, target))
    }

    fn field(&mut self, of: Resource<SnippetBuilder>, opcode: u8, target: MemberRef) -> Answer {
        let target = member_name(target, false);
        self.extend_with(&of, target, |code, target| code.field(opcode, target))
    }

    fn with_type(&mut self, of: Resource<SnippetBuilder>, opcode: u8, name: String) -> Answer {
        self.extend(&of, name.len(), |code| code.with_type(opcode, &name))
    }

    fn op(&mut self, of: Resource<SnippetBuilder>, opcode: u8, operand: i32) -> Answer {
        self.extend(&of, 0, |code| code.op(opcode, operand))
    }

    fn increment(&mut self, of: Resource<SnippetBuilder>, slot: u16, by: i16) -> Answer {
        self.extend(&of, 0, |code| code.increment(slot, by))
    }

    fn load_operand(&mut self, of: Resource<SnippetBuilder>, index: u8) -> Answer {
        self.extend(&of, 0, |code| code.load_operand(index))
    }

    fn proceed(&mut self, of: Resource<SnippetBuilder>) -> Answer {
        self.extend(&of, 0, Snippet::proceed)
    }

    fn new_label(&mut self, of: Resource<SnippetBuilder>) -> Result<u32> {
        self.change(&of, SnippetBuilder::new_label)
    }

    fn place(&mut self, of: Resource<SnippetBuilder>, label: u32) -> Answer {
        self.extend_at(&of, label, Snippet::place)
    }

    fn jump(&mut self, of: Resource<SnippetBuilder>, opcode: u8, label: u32) -> Answer {
        self.extend_at(&of, label, |code, label| code.jump(opcode, label))
    }

    fn drop(&mut self, of: Resource<SnippetBuilder>) -> Result<()> {
        self.forget(of)
    }
}
