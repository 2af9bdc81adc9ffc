//! The declarations of a class, and queries on its code, implemented with the rules for plans.

use classhook_sdk::declared::{
    Annotated, Component, Enclosing, InnerClass, NamedMethod, Parameter, ParameterPlace,
};
use classhook_sdk::source::NativeClass as Source;
use classhook_sdk::wit::{DynamicFound, Found, FoundAnnotation};
use edits::{
    AnnotationStart, Element, EnumConstant, InsertionPoint, InstructionKind, Refusal, Value,
    Visibility,
};
use plan_rules::declared::{self, TooLarge};
use plan_rules::{RefusedRequest, queries};
use rewriter::ClassFile;

use crate::class::{NativeClass, text};
use crate::plan::State;

impl NativeClass<'_, '_> {
    /// Reads a declaration of the class; a result that is too large stops the plugin.
    fn declared<T: Default>(&self, read: impl FnOnce(&ClassFile<'_>) -> Result<T, TooLarge>) -> T {
        let read = read(self.class);
        self.record
            .ask_or_trap(|_| read.map_err(|error| RefusedRequest::limit(error.to_string(), None)))
    }
}

fn element(found: rewriter::DeclaredElement<'_>) -> Element {
    use rewriter::DeclaredValue as Declared;
    let value = match found.value {
        Declared::Boolean(value) => Value::Boolean(value),
        Declared::Byte(value) => Value::Byte(value),
        Declared::Char(value) => Value::Char(value),
        Declared::Short(value) => Value::Short(value),
        Declared::Integer(value) => Value::Integer(value),
        Declared::Long(value) => Value::Long(value),
        Declared::Float(value) => Value::Float(value),
        Declared::Double(value) => Value::Double(value),
        Declared::Text(value) => Value::Text(text(value)),
        Declared::Enum(descriptor, name) => Value::Enum(EnumConstant {
            descriptor: text(descriptor),
            name: text(name),
        }),
        Declared::Class(descriptor) => Value::Class(text(descriptor)),
        Declared::Annotation(kind, elements) => Value::Annotation(AnnotationStart {
            kind: text(kind),
            elements,
        }),
        Declared::Array(length) => Value::Array(length),
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

fn all<T, U>(found: Vec<T>, of: impl Fn(T) -> U) -> Vec<U> {
    found.into_iter().map(of).collect()
}

impl Source for NativeClass<'_, '_> {
    fn bytes(&self) -> Vec<u8> {
        self.class.bytes().to_vec()
    }

    fn annotations(&self, kinds: &[String]) -> Vec<FoundAnnotation> {
        self.declared(|class| {
            let found = declared::annotations(class, kinds)?;
            Ok(all(found, |(of, found)| FoundAnnotation {
                of: annotated(of),
                visibility: match found.visible {
                    true => Visibility::Visible,
                    false => Visibility::Invisible,
                },
                elements: all(found.elements, element),
            }))
        })
    }
    fn inner_classes(&self) -> Vec<InnerClass> {
        self.declared(|class| {
            Ok(all(declared::inner_classes(class)?, |found| InnerClass {
                name: text(found.name),
                outer: found.outer.map(text),
                simple_name: found.simple_name.map(text),
                access_flags: found.access_flags,
            }))
        })
    }
    fn enclosing_method(&self) -> Option<Enclosing> {
        let found = self.class.enclosing()?;
        let method = found.method.map(|(name, descriptor)| NamedMethod {
            name: text(name),
            descriptor: text(descriptor),
        });
        let class = text(found.class);
        Some(Enclosing { class, method })
    }
    fn components(&self) -> Option<Vec<Component>> {
        self.declared(|class| {
            let found = declared::components(class)?;
            Ok(found.map(|found| {
                all(found, |found| Component {
                    name: text(found.name),
                    descriptor: text(found.descriptor),
                    signature: found.signature().map(text),
                })
            }))
        })
    }
    fn listed_classes(&self, attribute: &str, method: Option<u16>) -> Vec<String> {
        self.declared(|class| {
            let found = declared::listed_classes(class, attribute, method)?;
            Ok(all(found, text))
        })
    }
    fn annotation_default(&self, method: u16) -> Vec<Element> {
        self.declared(|class| Ok(all(declared::annotation_default(class, method)?, element)))
    }
    fn parameters(&self, method: u16) -> Vec<Parameter> {
        self.declared(|class| {
            Ok(all(declared::parameters(class, method)?, |found| {
                Parameter {
                    name: found.name.map(text),
                    access_flags: found.access_flags,
                }
            }))
        })
    }
    fn find(
        &self,
        kind: InstructionKind,
        method: Option<u16>,
        pattern: &str,
    ) -> Result<Vec<Found>, Refusal> {
        let ask =
            |state: &mut State| queries::find(&mut state.transformation, kind, method, pattern);
        let found = self.record.ask(ask)?;
        Ok(all(found, place))
    }
    fn dynamic_calls(
        &self,
        method: Option<u16>,
        pattern: &str,
    ) -> Result<Vec<DynamicFound>, Refusal> {
        let ask =
            |state: &mut State| queries::dynamic_calls(&mut state.transformation, method, pattern);
        let found = self.record.ask(ask)?;
        Ok(all(found, dynamic))
    }
    fn loops(&self, method: u16) -> Result<Vec<InsertionPoint>, Refusal> {
        let ask = |state: &mut State| queries::loops(&mut state.transformation, method);
        self.record.ask(ask)
    }
}

fn place(found: queries::InstructionMatch) -> Found {
    Found {
        at: found.at().into(),
        line: found.line,
        opcode: found.opcode,
        target: found.target,
    }
}

fn dynamic(found: queries::DynamicMatch) -> DynamicFound {
    DynamicFound {
        at: place(found.at),
        name: found.name,
        descriptor: found.descriptor,
        implementation: found.implementation,
    }
}
