//! Changes of code and structure over the rewriter's checks.

use classhook_sdk::edit::{self, Constant, Element, Value};
use classhook_sdk::snippet::{Member, Part, Snippet};
use classhook_sdk::source::NativeCode;
use classhook_sdk::wit::{Failure, Site};
use rewriter::{
    Action, Annotation, Bci, CallTarget, Change, ClassEdit, Edit, EditConstant, ElementValue,
    Label, MemberName, MethodIndex, NewField, NewMethod, Place, SnippetError, Target,
};

use crate::plan::{Recorder, failure};

fn refused(error: &dyn std::fmt::Display) -> Failure {
    failure("H0317", error)
}

/// The rewriter's own copy of a snippet.
fn code_of(snippet: &Snippet) -> Result<rewriter::Snippet, SnippetError> {
    let mut code = rewriter::Snippet::new();
    let (parts, labels) = snippet.parts();
    let labels: Vec<Label> = (0..labels).map(|_| code.new_label()).collect();
    // The SDK hands out no other numbers.
    let label = |number: &u32| labels[*number as usize];
    for part in parts {
        match part {
            Part::This => code.load_this(),
            Part::Argument(index) => code.load_argument(*index),
            Part::Int(value) => code.push_int(*value),
            Part::Long(value) => code.push_long(*value),
            Part::Float(value) => code.push_float(*value),
            Part::Double(value) => code.push_double(*value),
            Part::String(value) => code.push_string(value),
            Part::Class(name) => code.push_class(name),
            Part::Null => code.push_null(),
            Part::Invoke(opcode, target) => code.invoke(*opcode, name(target)),
            Part::Field(opcode, target) => code.field(*opcode, name(target)),
            Part::WithType(opcode, name) => code.with_type(*opcode, name),
            Part::Op(opcode, operand) => code.op(*opcode, *operand),
            Part::Increment(slot, by) => code.increment(*slot, *by),
            Part::Place(number) => code.place(label(number)),
            Part::Jump(opcode, number) => code.jump(*opcode, label(number)),
        }?;
    }
    Ok(code)
}

fn name(member: &Member) -> MemberName {
    MemberName {
        owner: member.owner.clone(),
        name: member.name.clone(),
        descriptor: member.descriptor.clone(),
        interface: member.interface,
    }
}

fn constant(value: &Constant) -> EditConstant {
    match value {
        Constant::Integer(value) => EditConstant::Int(*value),
        Constant::Long(value) => EditConstant::Long(*value),
        Constant::Float(value) => EditConstant::Float(value.to_bits()),
        Constant::Double(value) => EditConstant::Double(value.to_bits()),
        Constant::Text(text) => EditConstant::String(text.clone()),
    }
}

fn element(value: &Element) -> ElementValue {
    match value {
        Element::Boolean(value) => ElementValue::Boolean(*value),
        Element::Byte(value) => ElementValue::Byte(*value),
        Element::Char(value) => ElementValue::Char(*value),
        Element::Short(value) => ElementValue::Short(*value),
        Element::Integer(value) => ElementValue::Int(*value),
        Element::Long(value) => ElementValue::Long(*value),
        Element::Float(value) => ElementValue::Float(value.to_bits()),
        Element::Double(value) => ElementValue::Double(value.to_bits()),
        Element::Text(text) => ElementValue::String(text.clone()),
        Element::Enum(found) => ElementValue::Enum {
            descriptor: found.descriptor.clone(),
            constant: found.name.clone(),
        },
        Element::Class(descriptor) => ElementValue::Class(descriptor.clone()),
    }
}

fn annotation(annotation: &edit::Annotation) -> Annotation {
    let (kind, elements) = annotation.parts();
    let value = |value: &Value| match value {
        Value::One(value) => element(value),
        Value::Many(values) => ElementValue::Array(values.iter().map(element).collect()),
        Value::Nested(value) => ElementValue::Annotation(self::annotation(value)),
        Value::NestedMany(values) => {
            let values = values.iter().map(self::annotation);
            ElementValue::Array(values.map(ElementValue::Annotation).collect())
        }
    };
    let elements = elements.iter();
    Annotation {
        descriptor: kind.to_owned(),
        elements: elements
            .map(|(name, it)| (name.clone(), value(it)))
            .collect(),
    }
}

fn change(of: &edit::Change) -> Change {
    match of {
        edit::Change::Call(opcode, target) => Change::Call(CallTarget {
            opcode: *opcode,
            method: name(target),
        }),
        edit::Change::Field(opcode, field) => Change::Field {
            opcode: *opcode,
            field: name(field),
        },
        edit::Change::Factory(method) => Change::Factory(name(method)),
        edit::Change::New(class) => Change::New(class.clone()),
        edit::Change::Remove(value) => Change::Remove(value.as_ref().map(constant)),
    }
}

fn target(of: &edit::Target) -> Target {
    match of {
        edit::Target::Class => Target::Class,
        edit::Target::Field(name, descriptor) => Target::Field {
            name: name.clone(),
            descriptor: descriptor.clone(),
        },
        edit::Target::Method(index) => Target::Method(MethodIndex(*index)),
    }
}

/// An edit of the class itself; none for one of its code.
fn class_edit(of: &edit::Edit<'_>) -> Result<Option<ClassEdit>, SnippetError> {
    Ok(Some(match of {
        edit::Edit::Insert(..) | edit::Edit::Wrap(..) | edit::Edit::Change(..) => return Ok(None),
        edit::Edit::Body(method, code) => ClassEdit::ReplaceBody {
            method: MethodIndex(*method),
            body: code_of(code)?,
        },
        edit::Edit::AddField(field) => ClassEdit::AddField(NewField {
            flags: field.access_flags,
            name: field.name.clone(),
            descriptor: field.descriptor.clone(),
            value: field.value.as_ref().map(constant),
        }),
        edit::Edit::AddMethod(flags, name, descriptor, body) => ClassEdit::AddMethod(NewMethod {
            flags: *flags,
            name: (*name).to_owned(),
            descriptor: (*descriptor).to_owned(),
            body: body.map(code_of).transpose()?,
        }),
        edit::Edit::AddInterface(name) => ClassEdit::AddInterface((*name).to_owned()),
        edit::Edit::Annotate(on, visible, value) => ClassEdit::AddAnnotation {
            target: target(on),
            visible: *visible,
            annotation: annotation(value),
        },
        edit::Edit::Rename(member, to) => ClassEdit::RenameMember {
            member: name(member),
            to: (*to).to_owned(),
        },
    }))
}

impl Recorder<'_, '_> {
    fn insert(&self, sites: Vec<rewriter::Site>, code: &Snippet) -> Result<(), Failure> {
        let code = code_of(code).map_err(|error| refused(&error))?;
        let state = &mut *self.state.borrow_mut();
        for site in &sites {
            let fits = state.checker.check_snippet(*site, &code);
            fits.map_err(|error| refused(&error))?;
        }
        for site in &sites {
            let line = format!("{} {}: insert", self.method_name(site.method), site.place);
            state.say(&line, b"");
        }
        for line in code.to_string().lines() {
            state.say(&format!("  {line}"), b"");
        }
        let id = state.plan.keep(code).map_err(|error| refused(&error))?;
        let action = Action::Insert(id);
        let mut edits = sites.into_iter().map(|site| Edit { site, action });
        edits
            .try_for_each(|edit| state.plan.push(edit))
            .map_err(|error| refused(&error))
    }

    fn sites(&self, at: &[Site]) -> Result<Vec<rewriter::Site>, Failure> {
        let state = &mut *self.state.borrow_mut();
        at.iter().map(|site| state.checked(*site)).collect()
    }

    /// The instructions at sites that were made for instructions.
    fn instructions(&self, at: &[Site]) -> Result<Vec<(MethodIndex, Bci)>, Failure> {
        let sites = self.sites(at)?.into_iter();
        let instruction = |site: rewriter::Site| match site.place {
            Place::At(bci) => Ok((site.method, bci)),
            place => Err(refused(&format_args!(
                "expected an instruction, found the place `{place}`"
            ))),
        };
        sites.map(instruction).collect()
    }

    fn change(&self, at: &[(MethodIndex, Bci)], change: &Change) -> Result<(), Failure> {
        let state = &mut *self.state.borrow_mut();
        for (method, bci) in at {
            let suits = state.checker.check_change(*method, *bci, change);
            suits.map_err(|error| refused(&error))?;
        }
        for (method, bci) in at {
            let line = format!("{} at {bci}: {change}", self.method_name(*method));
            state.say(&line, b"");
            let added = state.plan.change(*method, *bci, change.clone());
            added.map_err(|error| refused(&error))?;
        }
        Ok(())
    }

    fn edit_class(&self, edit: ClassEdit) -> Result<(), Failure> {
        let loaded = self.loaded();
        let state = &mut *self.state.borrow_mut();
        let suits = state.checker.check_class_edit(&edit, loaded);
        suits.map_err(|error| refused(&error))?;
        for line in edit.to_string().lines() {
            state.say(line, b"");
        }
        state.plan.edit_class(edit).map_err(|error| refused(&error))
    }
}

impl NativeCode for Recorder<'_, '_> {
    fn edit(&self, edit: &edit::Edit<'_>) -> Result<(), Failure> {
        if let Some(edit) = class_edit(edit).map_err(|error| refused(&error))? {
            self.check_limits(1, 0)?;
            return self.edit_class(edit);
        }
        match edit {
            edit::Edit::Insert(at, code) => {
                self.check_limits(at.len(), 0)?;
                self.insert(self.sites(at)?, code)
            }
            edit::Edit::Wrap(at, before, after) => {
                self.check_limits(2 * at.len(), 0)?;
                let at = self.instructions(at)?;
                let sites = |place: fn(Bci) -> Place| {
                    let at = at.iter();
                    at.map(|(method, bci)| rewriter::Site {
                        method: *method,
                        place: place(*bci),
                    })
                    .collect()
                };
                self.insert(sites(Place::Before), before)?;
                self.insert(sites(Place::FallThrough), after)
            }
            edit::Edit::Change(at, of) => {
                self.check_limits(at.len(), 0)?;
                self.change(&self.instructions(at)?, &change(of))
            }
            _ => Ok(()),
        }
    }
}
