//! The interface `structure`: members, supertypes, annotations and names.

use rewriter::{Annotation, ClassEdit, ElementValue, MethodIndex, NewField, NewMethod, Target};
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::class_file::MemberRef;
use crate::bindings::classhook::plugin::structure::{Element, Host, HostAnnotation};
use crate::bindings::classhook::plugin::types::Constant;
use crate::job::PlanHandle;
use crate::rewrite::{Answer, Code, constant, name, text};
use crate::state::State;

/// Stands for the resource `annotation`.
#[derive(Debug, Clone)]
pub struct Marked {
    annotation: Annotation,
    /// Bytes that it takes here, about.
    weight: usize,
}

/// Bytes of one element or member, beside its text.
const ELEMENT: usize = 64;
/// Most bytes of one annotation: nesting can double it each time.
const MAX_ANNOTATION: usize = 1 << 20;

impl Marked {
    fn put(&mut self, name: String, value: ElementValue, weight: usize) -> Result<()> {
        self.weight += ELEMENT + name.len() + weight;
        if self.weight > MAX_ANNOTATION {
            return Err(wasmtime::Error::msg(format!(
                "expected at most {MAX_ANNOTATION} bytes in one annotation, found {}",
                self.weight
            )));
        }
        self.annotation.elements.push((name, value));
        Ok(())
    }
}

/// A value, and the bytes of text in it.
fn element(value: Element) -> (ElementValue, usize) {
    let of_text = |text: String, make: fn(String) -> ElementValue| {
        let weight = text.len();
        (make(text), weight)
    };
    let value = match value {
        Element::Text(text) => return of_text(text, ElementValue::String),
        Element::Class(descriptor) => return of_text(descriptor, ElementValue::Class),
        Element::Enum(found) => {
            let weight = found.descriptor.len() + found.name.len();
            let value = ElementValue::Enum {
                descriptor: found.descriptor,
                constant: found.name,
            };
            return (value, weight);
        }
        Element::Boolean(value) => ElementValue::Boolean(value),
        Element::Byte(value) => ElementValue::Byte(value),
        Element::Char(value) => ElementValue::Char(value),
        Element::Short(value) => ElementValue::Short(value),
        Element::Integer(value) => ElementValue::Int(value),
        Element::Long(value) => ElementValue::Long(value),
        Element::Float(value) => ElementValue::Float(value.to_bits()),
        Element::Double(value) => ElementValue::Double(value.to_bits()),
    };
    (value, 0)
}

impl State {
    fn annotate(&mut self, target: Target, visible: bool, value: &Resource<Marked>) -> Answer {
        let Marked { annotation, weight } = self.resources.get(value)?.clone();
        let edit = ClassEdit::AddAnnotation {
            target,
            visible,
            annotation,
        };
        Ok(self.job()?.edit_class(edit, ELEMENT + weight))
    }
}

impl Host for State {
    fn add_field(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        value: Option<Constant>,
    ) -> Answer {
        let value = value.map(constant);
        let text = match &value {
            Some(rewriter::EditConstant::String(text)) => text.len(),
            _ => 0,
        };
        let weight = ELEMENT + name.len() + descriptor.len() + text;
        let edit = ClassEdit::AddField(NewField {
            flags: access_flags,
            name,
            descriptor,
            value,
        });
        Ok(self.job()?.edit_class(edit, weight))
    }

    fn add_method(
        &mut self,
        _: Resource<PlanHandle>,
        access_flags: u16,
        name: String,
        descriptor: String,
        body: Option<Resource<Code>>,
    ) -> Answer {
        let body = match body {
            Some(code) => Some(self.resources.get(&code)?.parts()),
            None => None,
        };
        let code = body.as_ref().map_or(0, |(_, weight)| *weight);
        let weight = ELEMENT + name.len() + descriptor.len() + code;
        let edit = ClassEdit::AddMethod(NewMethod {
            flags: access_flags,
            name,
            descriptor,
            body: body.map(|(snippet, _)| snippet),
        });
        Ok(self.job()?.edit_class(edit, weight))
    }

    fn add_interface(&mut self, _: Resource<PlanHandle>, name: String) -> Answer {
        let weight = ELEMENT + name.len();
        let edit = ClassEdit::AddInterface(name);
        Ok(self.job()?.edit_class(edit, weight))
    }

    fn annotate_class(
        &mut self,
        _: Resource<PlanHandle>,
        visible: bool,
        value: Resource<Marked>,
    ) -> Answer {
        self.annotate(Target::Class, visible, &value)
    }

    fn annotate_field(
        &mut self,
        _: Resource<PlanHandle>,
        name: String,
        descriptor: String,
        visible: bool,
        value: Resource<Marked>,
    ) -> Answer {
        self.annotate(Target::Field { name, descriptor }, visible, &value)
    }

    fn annotate_method(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        visible: bool,
        value: Resource<Marked>,
    ) -> Answer {
        self.annotate(Target::Method(MethodIndex(method)), visible, &value)
    }

    fn rename_member(&mut self, _: Resource<PlanHandle>, member: MemberRef, to: String) -> Answer {
        let member = name(member, false);
        let weight = ELEMENT + text(&member) + to.len();
        let edit = ClassEdit::RenameMember { member, to };
        Ok(self.job()?.edit_class(edit, weight))
    }
}

impl HostAnnotation for State {
    fn new(&mut self, kind: String) -> Result<Resource<Marked>> {
        let weight = ELEMENT + kind.len();
        let annotation = Annotation {
            descriptor: kind,
            elements: Vec::new(),
        };
        Ok(self.resources.push(Marked { annotation, weight })?)
    }

    fn put(&mut self, of: Resource<Marked>, name: String, value: Element) -> Result<()> {
        let (value, weight) = element(value);
        self.resources.get_mut(&of)?.put(name, value, weight)
    }

    fn put_array(
        &mut self,
        of: Resource<Marked>,
        name: String,
        values: Vec<Element>,
    ) -> Result<()> {
        let mut weight = 0;
        let values = values.into_iter().map(|value| {
            let (value, text) = element(value);
            weight += ELEMENT + text;
            value
        });
        let value = ElementValue::Array(values.collect());
        self.resources.get_mut(&of)?.put(name, value, weight)
    }

    fn nest(&mut self, of: Resource<Marked>, name: String, value: Resource<Marked>) -> Result<()> {
        let Marked { annotation, weight } = self.resources.get(&value)?.clone();
        let value = ElementValue::Annotation(annotation);
        self.resources.get_mut(&of)?.put(name, value, weight)
    }

    fn nest_array(
        &mut self,
        of: Resource<Marked>,
        name: String,
        values: Vec<Resource<Marked>>,
    ) -> Result<()> {
        let (mut weight, mut all) = (0, Vec::with_capacity(values.len()));
        for value in &values {
            let value = self.resources.get(value)?;
            weight += value.weight;
            if weight > MAX_ANNOTATION {
                break; // refused below, before memory is
            }
            all.push(ElementValue::Annotation(value.annotation.clone()));
        }
        let value = ElementValue::Array(all);
        self.resources.get_mut(&of)?.put(name, value, weight)
    }

    fn drop(&mut self, of: Resource<Marked>) -> Result<()> {
        self.resources.delete(of)?;
        Ok(())
    }
}
