//! Edits of code and structure, checked by the rewriter.

use classhook_sdk::edit::{self, Edit, Element, Value};
use classhook_sdk::snippet::{self, Operation, Snippet};
use plan_rules::{AnnotationBuilder, NestedArray, RefusedRequest, SnippetBuilder, Transformation};
use rewriter::{
    Action, Assemble, CallTarget, Change, ElementValue, InsertionPoint, Location, Member,
    MethodIndex, NewField, Target,
};

use crate::plan::{Denied, State, constant, tokens};

type Answer<T = ()> = Result<T, Denied>;
type Granted = Result<(), RefusedRequest>;

/// Converts a snippet, one operation after the other.
fn code_of(
    asked: &mut Transformation,
    snippet: &Snippet,
) -> Result<SnippetBuilder, RefusedRequest> {
    let mut code = SnippetBuilder::default();
    let (parts, labels) = snippet.parts();
    for _ in 0..labels {
        code.new_label();
    }
    for part in parts {
        let added = add(&mut code, part);
        added.map_err(|cause| asked.refuse_unsuitable(&cause))?;
    }
    Ok(code)
}

fn add(code: &mut SnippetBuilder, part: &Operation) -> Result<(), String> {
    match part {
        Operation::This => code.add(0, rewriter::Snippet::load_this),
        Operation::Argument(index) => code.add(0, |code| code.load_argument(*index)),
        Operation::Int(value) => code.add(0, |code| code.push_int(*value)),
        Operation::Long(value) => code.add(0, |code| code.push_long(*value)),
        Operation::Float(value) => code.add(0, |code| code.push_float(*value)),
        Operation::Double(value) => code.add(0, |code| code.push_double(*value)),
        Operation::String(value) => code.add(value.len(), |code| code.push_string(value)),
        Operation::Class(name) => code.add(name.len(), |code| code.push_class(name)),
        Operation::Null => code.add(0, rewriter::Snippet::push_null),
        Operation::Invoke(opcode, target) => {
            code.add_member(name(target), |code, target| code.invoke(*opcode, target))
        }
        Operation::Field(opcode, target) => {
            code.add_member(name(target), |code, target| code.field(*opcode, target))
        }
        Operation::WithType(opcode, name) => {
            code.add(name.len(), |code| code.with_type(*opcode, name))
        }
        Operation::Op(opcode, operand) => code.add(0, |code| code.op(*opcode, *operand)),
        Operation::Increment(slot, by) => code.add(0, |code| code.increment(*slot, *by)),
        Operation::Place(label) => code.add_at(*label, rewriter::Snippet::place),
        Operation::Jump(opcode, label) => {
            code.add_at(*label, |code, label| code.jump(*opcode, label))
        }
        Operation::Operand(index) => code.add(0, |code| code.load_operand(*index)),
        Operation::Proceed => code.add(0, rewriter::Snippet::proceed),
    }
}

fn name(member: &snippet::Member) -> Member {
    Member {
        owner: member.owner.clone(),
        name: member.name.clone(),
        descriptor: member.descriptor.clone(),
        interface: member.interface,
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

/// Converts an annotation, one element after the other. The error is the reason why the plugin is
/// stopped.
fn annotation_of(annotation: &edit::Annotation) -> Result<AnnotationBuilder, String> {
    let (kind, elements) = annotation.parts();
    let mut result = AnnotationBuilder::new(kind.to_owned())?;
    for (name, value) in elements {
        let name = name.clone();
        match value {
            Value::One(value) => result.put(name, element(value)),
            Value::Many(values) => result.put_array(name, values.iter().map(element).collect()),
            Value::Nested(value) => result.nest(name, &annotation_of(value)?),
            Value::NestedMany(values) => {
                let values: Vec<_> = values.iter().map(annotation_of).collect::<Result<_, _>>()?;
                result.nest_array(name, NestedArray::of(values.iter()))
            }
        }?;
    }
    Ok(result)
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
        edit::Change::New(class) => Change::New {
            class: class.clone(),
            cast: false,
        },
        edit::Change::NewWithCast(class) => Change::New {
            class: class.clone(),
            cast: true,
        },
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

impl State {
    /// Requests edits of code, and writes the resulting edits to the text.
    fn edit_code(&mut self, ask: impl FnOnce(&mut Transformation) -> Granted) -> Answer {
        let first = self.transformation.request().plan.edits().len();
        ask(&mut self.transformation)?;
        self.say_edits(first);
        Ok(())
    }

    /// Writes the edits of code from number `first` on to the text. Inserted code follows the last
    /// place that it is inserted at.
    fn say_edits(&mut self, first: usize) {
        let plan = &self.transformation.request().plan;
        let mut lines = Vec::new();
        let mut edits = plan.edits().iter().skip(first).peekable();
        while let Some(edit) = edits.next() {
            let InsertionPoint { method, location } = edit.point;
            let at = format!("{} {location}", self.method_name(method));
            let Action::Insert(id) = edit.action else {
                lines.push(format!("{at}: {}", plan.describe(edit.action)));
                continue;
            };
            lines.push(format!("{at}: insert"));
            let goes_on = edits.peek().is_some_and(|next| {
                next.action == edit.action && is_behind(next.point) == is_behind(edit.point)
            });
            let code = plan.snippet(id).filter(|_| !goes_on);
            let code = code.map(ToString::to_string).unwrap_or_default();
            lines.extend(code.lines().map(|line| format!("  {line}")));
        }
        lines.iter().for_each(|line| self.say(line, b""));
    }

    /// Requests an edit of the class itself, and writes it to the text.
    fn edit_class(&mut self, ask: impl FnOnce(&mut Transformation) -> Granted) -> Answer {
        ask(&mut self.transformation)?;
        let edits = self.transformation.request().plan.class_edits();
        let text = edits.last().map(ToString::to_string).unwrap_or_default();
        text.lines().for_each(|line| self.say(line, b""));
        Ok(())
    }

    pub(crate) fn edit(&mut self, edit: &Edit<'_>) -> Answer {
        let asked = &mut self.transformation;
        match edit {
            Edit::Insert(at, code) => {
                let code = code_of(asked, code)?;
                self.edit_code(|asked| asked.insert(tokens(at), &code))
            }
            Edit::Wrap(at, before, after) => {
                let (before, after) = (code_of(asked, before)?, code_of(asked, after)?);
                self.edit_code(|asked| asked.wrap(tokens(at), &before, &after))
            }
            Edit::Around(at, code) => {
                let code = code_of(asked, code)?;
                self.edit_code(|asked| asked.around(tokens(at), &code))
            }
            Edit::Change(at, of) => self.edit_code(|asked| asked.change(tokens(at), &change(of))),
            Edit::Body(method, code) => {
                let body = code_of(asked, code)?;
                self.edit_class(|asked| asked.replace_body(MethodIndex(*method), &body))
            }
            Edit::Class(bytes) => {
                asked.replace_class(bytes.to_vec())?;
                let line = format!("another class file of {} bytes", bytes.len());
                self.say(&line, b"");
                Ok(())
            }
            Edit::AddField(field) => {
                let field = NewField {
                    flags: field.access_flags,
                    name: field.name.clone(),
                    descriptor: field.descriptor.clone(),
                    value: field.value.as_ref().map(constant),
                };
                self.edit_class(|asked| asked.add_field(field))
            }
            Edit::AddMethod(flags, name, descriptor, body) => {
                let body = body.map(|body| code_of(asked, body)).transpose()?;
                let (name, descriptor) = ((*name).to_owned(), (*descriptor).to_owned());
                let body = body.as_ref();
                self.edit_class(|asked| asked.add_method(*flags, name, descriptor, body))
            }
            Edit::AddInterface(name) => {
                self.edit_class(|asked| asked.add_interface((*name).to_owned()))
            }
            Edit::Annotate(on, visible, value) => {
                let value = annotation_of(value).map_err(Denied::Stopped)?;
                self.edit_class(|asked| asked.annotate(target(on), *visible, &value))
            }
            Edit::Rename(member, to) => {
                self.edit_class(|asked| asked.rename_member(name(member), (*to).to_owned()))
            }
            Edit::RenameType(from, to) => {
                self.edit_class(|asked| asked.rename_type((*from).to_owned(), (*to).to_owned()))
            }
            Edit::AddAttribute(to, name, contents) => self.edit_class(|asked| {
                asked.add_attribute(target(to), (*name).to_owned(), contents.to_vec())
            }),
        }
    }
}

/// Returns whether code at the point runs when an instruction has completed.
fn is_behind(point: InsertionPoint) -> bool {
    matches!(point.location, Location::FallThrough(_))
}
