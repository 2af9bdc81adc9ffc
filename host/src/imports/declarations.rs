//! The interface `declarations`: the declarations of a class, apart from its code.

use plan_rules::declared::{self, TooLarge};
use rewriter::{
    ClassFile, DeclaredElement, DeclaredValue, Enclosing as Around, InnerClass as Inner,
    Parameter as Declared, RecordComponent,
};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::text;
use crate::bindings::classhook::plugin::declarations::{
    Annotated, Component, Enclosing, FoundAnnotation, Host, InnerClass, NamedMethod, Parameter,
    ParameterPlace,
};
use crate::bindings::classhook::plugin::types::{
    Annotation, Element, EnumConstant, Value, Visibility,
};
use crate::handles::ClassHandle;
use crate::store_data::StoreData;

impl StoreData {
    /// Reads a declaration of the class; a result that is too large traps.
    fn declared<T>(
        &mut self,
        read: impl FnOnce(&ClassFile<'_>) -> Result<T, TooLarge>,
    ) -> Result<T> {
        let read = read(self.transformation()?.class());
        read.map_err(|error| wasmtime::Error::msg(error.to_string()))
    }
}

fn element(found: DeclaredElement<'_>) -> Element {
    let value = match found.value {
        DeclaredValue::Boolean(value) => Value::Boolean(value),
        DeclaredValue::Byte(value) => Value::Byte(value),
        DeclaredValue::Char(value) => Value::Char(value),
        DeclaredValue::Short(value) => Value::Short(value),
        DeclaredValue::Integer(value) => Value::Integer(value),
        DeclaredValue::Long(value) => Value::Long(value),
        DeclaredValue::Float(value) => Value::Float(value),
        DeclaredValue::Double(value) => Value::Double(value),
        DeclaredValue::Text(value) => Value::Text(text(value)),
        DeclaredValue::Enum(descriptor, name) => Value::Enum(EnumConstant {
            descriptor: text(descriptor),
            name: text(name),
        }),
        DeclaredValue::Class(descriptor) => Value::Class(text(descriptor)),
        DeclaredValue::Annotation(kind, elements) => Value::Annotation(Annotation {
            kind: text(kind),
            elements,
        }),
        DeclaredValue::Array(length) => Value::Array(length),
    };
    let name = text(found.name);
    Element { name, value }
}

fn annotated(of: declared::Annotated) -> Annotated {
    match of {
        declared::Annotated::Class => Annotated::Class,
        declared::Annotated::Field(index) => Annotated::Field(index),
        declared::Annotated::Method(index) => Annotated::Method(index),
        declared::Annotated::Parameter(method, parameter) => {
            Annotated::Parameter(ParameterPlace { method, parameter })
        }
        declared::Annotated::Component(index) => Annotated::Component(index),
    }
}

fn inner_class(found: Inner<'_>) -> InnerClass {
    InnerClass {
        name: text(found.name),
        outer: found.outer.map(text),
        simple_name: found.simple_name.map(text),
        access_flags: found.access_flags,
    }
}

fn enclosing(found: Around<'_>) -> Enclosing {
    let method = found.method.map(|(name, descriptor)| NamedMethod {
        name: text(name),
        descriptor: text(descriptor),
    });
    let class = text(found.class);
    Enclosing { class, method }
}

fn component(found: &RecordComponent<'_, '_>) -> Component {
    Component {
        name: text(found.name),
        descriptor: text(found.descriptor),
        signature: found.signature().map(text),
    }
}

fn parameter(found: Declared<'_>) -> Parameter {
    Parameter {
        name: found.name.map(text),
        access_flags: found.access_flags,
    }
}

fn all<T, U>(found: Vec<T>, of: fn(T) -> U) -> Vec<U> {
    found.into_iter().map(of).collect()
}

impl Host for StoreData {
    fn annotations(
        &mut self,
        _: Resource<ClassHandle>,
        kinds: Vec<String>,
    ) -> Result<Vec<FoundAnnotation>> {
        self.declared(|class| {
            let found = declared::annotations(class, &kinds)?;
            let found = found.into_iter().map(|(of, found)| FoundAnnotation {
                of: annotated(of),
                visibility: match found.visible {
                    true => Visibility::Visible,
                    false => Visibility::Invisible,
                },
                elements: all(found.elements, element),
            });
            Ok(found.collect())
        })
    }

    fn inner_classes(&mut self, _: Resource<ClassHandle>) -> Result<Vec<InnerClass>> {
        self.declared(|class| Ok(all(declared::inner_classes(class)?, inner_class)))
    }

    fn enclosing_method(&mut self, _: Resource<ClassHandle>) -> Result<Option<Enclosing>> {
        self.declared(|class| Ok(class.enclosing().map(enclosing)))
    }

    fn components(&mut self, _: Resource<ClassHandle>) -> Result<Option<Vec<Component>>> {
        self.declared(|class| {
            let found = declared::components(class)?;
            Ok(found.map(|found| found.iter().map(component).collect()))
        })
    }

    fn listed_classes(
        &mut self,
        _: Resource<ClassHandle>,
        attribute: String,
        method: Option<u16>,
    ) -> Result<Vec<String>> {
        self.declared(|class| {
            let found = declared::listed_classes(class, &attribute, method)?;
            Ok(all(found, text))
        })
    }

    fn annotation_default(
        &mut self,
        _: Resource<ClassHandle>,
        method: u16,
    ) -> Result<Vec<Element>> {
        self.declared(|class| Ok(all(declared::annotation_default(class, method)?, element)))
    }

    fn parameters(&mut self, _: Resource<ClassHandle>, method: u16) -> Result<Vec<Parameter>> {
        self.declared(|class| Ok(all(declared::parameters(class, method)?, parameter)))
    }
}
