//! The interface `structure`: members, supertypes, annotations and names.

use edits::{Edit, Field};
use wasmtime::component::Resource;

use super::convert::{Answer, all};
use crate::bindings::classhook::plugin::structure::Host;
use crate::bindings::classhook::plugin::types::{
    Constant, Element, Instruction, Member, Target, Visibility,
};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

impl Host for StoreData {
    fn add_field(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        value: Option<Constant>,
    ) -> Answer {
        self.edit(Edit::AddField(Field {
            access_flags,
            name,
            descriptor,
            value: value.map(Into::into),
        }))
    }

    fn add_method(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        body: Option<Vec<Instruction>>,
    ) -> Answer {
        let body = body.map(all);
        self.edit(Edit::AddMethod(access_flags, name, descriptor, body))
    }

    fn add_interface(&mut self, _: Resource<PlanHandle>, name: String) -> Answer {
        self.edit(Edit::AddInterface(name))
    }

    fn annotate(
        &mut self,
        _: Resource<PlanHandle>,
        target: Target,
        visibility: Visibility,
        value: Vec<Element>,
    ) -> Answer {
        self.edit(Edit::Annotate(target.into(), visibility.into(), all(value)))
    }

    fn rename_member(&mut self, _: Resource<PlanHandle>, member: Member, to: String) -> Answer {
        self.edit(Edit::RenameMember(member.into(), to))
    }

    fn rename_type(&mut self, _: Resource<PlanHandle>, of: String, name: String) -> Answer {
        self.edit(Edit::RenameType(of, name))
    }

    fn add_attribute(
        &mut self,
        _: Resource<PlanHandle>,
        target: Target,
        name: String,
        contents: Vec<u8>,
    ) -> Answer {
        self.edit(Edit::AddAttribute(target.into(), name, contents))
    }
}
