//! The interface `structure`: members, supertypes, annotations and names.

use plan_rules::{AnnotationBuilder, NestedArray, SnippetBuilder};
use rewriter::{ElementValue, MethodIndex, NewField, Target};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, constant, member_name};
use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::structure::{Element, Host, HostAnnotation};
use crate::bindings::classhook::plugin::types::Constant;
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

fn element(value: Element) -> ElementValue {
    match value {
        Element::Boolean(value) => ElementValue::Boolean(value),
        Element::Byte(value) => ElementValue::Byte(value),
        Element::Char(value) => ElementValue::Char(value),
        Element::Short(value) => ElementValue::Short(value),
        Element::Integer(value) => ElementValue::Int(value),
        Element::Long(value) => ElementValue::Long(value),
        Element::Float(value) => ElementValue::Float(value.to_bits()),
        Element::Double(value) => ElementValue::Double(value.to_bits()),
        Element::Text(text) => ElementValue::String(text),
        Element::Class(descriptor) => ElementValue::Class(descriptor),
        Element::Enum(found) => ElementValue::Enum {
            descriptor: found.descriptor,
            constant: found.name,
        },
    }
}

impl StoreData {
    fn annotate(
        &mut self,
        target: Target,
        visible: bool,
        value: &Resource<AnnotationBuilder>,
    ) -> Answer {
        let (value, transformation) = self.resource_and_transformation(value)?;
        answer(transformation.annotate(target, visible, value))
    }

    fn add_attribute(&mut self, target: Target, name: String, contents: Vec<u8>) -> Answer {
        answer(self.transformation()?.add_attribute(target, name, contents))
    }

    /// Adds an element to an annotation; an annotation that is too large traps.
    fn extend_annotation(
        &mut self,
        of: &Resource<AnnotationBuilder>,
        add: impl FnOnce(&mut AnnotationBuilder) -> std::result::Result<(), String>,
    ) -> Result<()> {
        self.change(of, add)?.map_err(wasmtime::Error::msg)
    }
}

impl Host for StoreData {
    fn add_field(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        value: Option<Constant>,
    ) -> Answer {
        let field = NewField {
            flags: access_flags,
            name,
            descriptor,
            value: value.map(constant),
        };
        answer(self.transformation()?.add_field(field))
    }

    fn add_method(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        body: Option<Resource<SnippetBuilder>>,
    ) -> Answer {
        let Some(body) = body else {
            let transformation = self.transformation()?;
            return answer(transformation.add_method(access_flags, name, descriptor, None));
        };
        let (body, transformation) = self.resource_and_transformation(&body)?;
        answer(transformation.add_method(access_flags, name, descriptor, Some(body)))
    }

    fn add_interface(&mut self, _: Resource<PlanHandle>, name: String) -> Answer {
        answer(self.transformation()?.add_interface(name))
    }

    fn annotate_class(
        &mut self,
        _: Resource<PlanHandle>,
        visible: bool,
        value: Resource<AnnotationBuilder>,
    ) -> Answer {
        self.annotate(Target::Class, visible, &value)
    }

    fn annotate_field(
        &mut self,
        _: Resource<PlanHandle>,
        name: String,
        descriptor: String,
        visible: bool,
        value: Resource<AnnotationBuilder>,
    ) -> Answer {
        self.annotate(Target::Field { name, descriptor }, visible, &value)
    }

    fn annotate_method(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        visible: bool,
        value: Resource<AnnotationBuilder>,
    ) -> Answer {
        self.annotate(Target::Method(MethodIndex(method)), visible, &value)
    }

    fn rename_member(&mut self, _: Resource<PlanHandle>, member: MemberRef, to: String) -> Answer {
        let member = member_name(member, false);
        answer(self.transformation()?.rename_member(member, to))
    }

    fn rename_type(&mut self, _: Resource<PlanHandle>, of: String, name: String) -> Answer {
        answer(self.transformation()?.rename_type(of, name))
    }

    fn add_class_attribute(
        &mut self,
        _: Resource<PlanHandle>,
        name: String,
        contents: Vec<u8>,
    ) -> Answer {
        self.add_attribute(Target::Class, name, contents)
    }

    fn add_field_attribute(
        &mut self,
        _: Resource<PlanHandle>,
        field: String,
        descriptor: String,
        name: String,
        contents: Vec<u8>,
    ) -> Answer {
        let target = Target::Field {
            name: field,
            descriptor,
        };
        self.add_attribute(target, name, contents)
    }

    fn add_method_attribute(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        name: String,
        contents: Vec<u8>,
    ) -> Answer {
        self.add_attribute(Target::Method(MethodIndex(method)), name, contents)
    }
}

impl HostAnnotation for StoreData {
    fn new(&mut self, kind: String) -> Result<Resource<AnnotationBuilder>> {
        let annotation = AnnotationBuilder::new(kind).map_err(wasmtime::Error::msg)?;
        self.keep(annotation)
    }

    fn put(&mut self, of: Resource<AnnotationBuilder>, name: String, value: Element) -> Result<()> {
        self.extend_annotation(&of, |annotation| annotation.put(name, element(value)))
    }

    fn put_array(
        &mut self,
        of: Resource<AnnotationBuilder>,
        name: String,
        values: Vec<Element>,
    ) -> Result<()> {
        let values = values.into_iter().map(element).collect();
        self.extend_annotation(&of, |annotation| annotation.put_array(name, values))
    }

    fn nest(
        &mut self,
        of: Resource<AnnotationBuilder>,
        name: String,
        value: Resource<AnnotationBuilder>,
    ) -> Result<()> {
        let value = self.kept(&value)?.clone();
        self.extend_annotation(&of, |annotation| annotation.nest(name, &value))
    }

    fn nest_array(
        &mut self,
        of: Resource<AnnotationBuilder>,
        name: String,
        values: Vec<Resource<AnnotationBuilder>>,
    ) -> Result<()> {
        let values = values.iter().map(|value| self.kept(value));
        let values: Vec<_> = values.collect::<Result<_>>()?;
        let values = NestedArray::of(values.into_iter());
        self.extend_annotation(&of, |annotation| annotation.nest_array(name, values))
    }

    fn drop(&mut self, of: Resource<AnnotationBuilder>) -> Result<()> {
        self.forget(of)
    }
}
