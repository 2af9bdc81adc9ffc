//! Events: values selected by a plugin, recorded each time that a location is reached.

use std::fmt;
use std::sync::Arc;

use crate::span::{DEFAULT_LIMIT, MAX_LIMIT};
use edits::{Event, Instruction, Operand, symbolic};
use jvms::descriptor::{BaseType, FieldType, MethodDescriptor, Parameters};
use jvms::opcode;
use rewriter::{
    Assemble, Bci, ClassFile, Constant, InsertionPoint, Location, Method, Operands, Snippet,
    SnippetError,
};
use stored::{Stored, impl_stored};

use crate::limits::{MAX_EVENT_VALUES, OPERATION_BYTES};
use crate::refusal::RefusedRequest;
use crate::row::expect_name;

/// Maximum number of operations for one value.
const OPERATIONS: usize = 6;

/// Opcodes of values.
const DUP: u16 = opcode::DUP as u16;
const LDC: u16 = opcode::LDC as u16;

/// A checked value of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EventValue {
    /// `this` of the method.
    This,
    /// An argument of the method, `this` not counted.
    Argument(u8),
    /// An operand of the instruction; a receiver or array is the first one.
    Operand(u8),
    /// The top of the operand stack: the return value, the exception, or the result of the instruction.
    Stack,
    /// A constant.
    Constant(Constant),
    /// A local variable that the class file names at the location.
    Variable(String),
    /// A local variable slot, read as this type.
    Slot(u16, String),
}

impl_stored!(enum EventValue {
    0 This,
    1 Argument(index),
    2 Operand(index),
    3 Stack,
    4 Constant(value),
    5 Variable(name),
    6 Slot(index, kind),
});

/// A value with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedValue {
    name: String,
    value: EventValue,
    /// The class or array type that the value is tested for. The result is recorded instead of the value.
    instance_of: Option<String>,
}

impl_stored!(struct NamedValue { name, value, instance_of });

/// The values that an event records in addition to time and thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventValues {
    values: Vec<NamedValue>,
    /// Maximum bytes of UTF-8 kept of one value.
    limit: u32,
    /// Maximum events per second at one location.
    per_second: Option<u32>,
}

/// The values of an event at one location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRequest {
    /// The location.
    pub point: InsertionPoint,
    /// The values.
    pub values: Arc<EventValues>,
}

/// The code of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Inserted at the location; before the instruction, if the location is one.
    Insert(Snippet),
    /// Around the instruction.
    Around(Snippet),
}

/// Records a value from the operand stack and pops it. Arguments: the code, the primitive type (`None` for a
/// reference), the value's index.
type Record<'r> = &'r mut dyn FnMut(&mut Snippet, Option<BaseType>, u8) -> Result<(), SnippetError>;

impl EventRequest {
    /// Returns the point for code in front: before the instruction, if the point is one.
    #[must_use]
    pub fn in_front(point: InsertionPoint) -> InsertionPoint {
        match point.location {
            Location::At(bci) => InsertionPoint {
                location: Location::Before(bci),
                ..point
            },
            _ => point,
        }
    }
}

impl Stored for EventValues {
    fn put(&self, out: &mut Vec<u8>) {
        self.values.put(out);
        self.limit.put(out);
        self.per_second.put(out);
    }

    fn take(from: &mut &[u8]) -> Option<Self> {
        Some(Self {
            values: Stored::take(from)?,
            limit: Stored::take(from)?,
            per_second: Stored::take(from)?,
        })
    }
}

impl EventValues {
    /// Checks the names and the code of values; each name is used once.
    ///
    /// # Errors
    /// A value is refused at every location.
    pub fn of(event: Event) -> Result<Self, RefusedRequest> {
        let mut values: Vec<NamedValue> = Vec::with_capacity(event.values.len());
        if event.values.len() > MAX_EVENT_VALUES {
            let message = format!("expected at most {MAX_EVENT_VALUES} values of one event");
            return Err(RefusedRequest::limit(message, None));
        }
        for edits::EventValue {
            name,
            code,
            as_type,
        } in event.values
        {
            expect_name(&name)?;
            if values.iter().any(|known| known.name == name) {
                let cause = format!("expected each name of a value once, found `{name}` twice");
                return Err(RefusedRequest::unsuitable(None, &cause));
            }
            let (value, instance_of) = value_of(code, as_type).ok_or_else(|| {
                let cause = format!(
                    "expected one instruction that pushes the value `{name}`, and at most an `instanceof` behind it"
                );
                RefusedRequest::unsuitable(None, &cause)
            })?;
            values.push(NamedValue {
                name,
                value,
                instance_of,
            });
        }
        Ok(Self {
            values,
            limit: event
                .limit
                .map_or(DEFAULT_LIMIT, |limit| limit.min(MAX_LIMIT)),
            per_second: event.per_second,
        })
    }

    /// Returns the maximum bytes of UTF-8 kept of one value.
    #[must_use]
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// Returns the maximum events per second at one location; `None` for no limit.
    #[must_use]
    pub fn per_second(&self) -> Option<u32> {
        self.per_second
    }

    /// Returns the names of the values, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|named| named.name.as_str())
    }

    /// Returns the bytes of its code at one location before splicing.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let text = |value: &EventValue| match value {
            EventValue::Constant(Constant::Text(text))
            | EventValue::Variable(text)
            | EventValue::Slot(_, text) => text.len(),
            _ => 0,
        };
        let texts = self.values.iter().map(|named| {
            let class = named.instance_of.as_ref().map_or(0, String::len);
            named.name.len() + text(&named.value) + class
        });
        (self.values.len() * OPERATIONS + 3) * OPERATION_BYTES + texts.sum::<usize>()
    }

    /// Checks whether the code must wrap the instruction, if the location is one.
    #[must_use]
    pub fn needs_instruction(&self) -> bool {
        let needs = |value: &EventValue| matches!(value, EventValue::Operand(_));
        self.values.iter().any(|named| needs(&named.value)) || self.needs_stack()
    }

    fn needs_stack(&self) -> bool {
        let mut values = self.values.iter();
        values.any(|named| named.value == EventValue::Stack)
    }

    /// Builds code that loads and drops the values, so that the type check shows missing values.
    pub(crate) fn check_step(
        &self,
        class: &ClassFile<'_>,
        point: InsertionPoint,
    ) -> Result<Step, String> {
        let mut drop = |code: &mut Snippet, base: Option<BaseType>, _| {
            code.op(
                if is_wide(base) {
                    opcode::POP2
                } else {
                    opcode::POP
                },
                0,
            )
        };
        self.step(class, point, &mut drop, &mut |_| Ok(()))
    }

    /// Builds the code of the event at a location. `record` takes each value from the operand stack; `end` follows the
    /// last one.
    ///
    /// # Errors
    /// Names the missing value.
    pub fn step(
        &self,
        class: &ClassFile<'_>,
        point: InsertionPoint,
        record: Record<'_>,
        end: &mut dyn FnMut(&mut Snippet) -> Result<(), SnippetError>,
    ) -> Result<Step, String> {
        let method = class.method(point.method);
        let method = method.ok_or("there is no such method")?;
        let mut code = Snippet::new();
        let text = |error: SnippetError| error.to_string();
        let operands = match point.location {
            Location::At(bci) if self.needs_instruction() => {
                let found = Operands::at(class, point.method, bci);
                Some(found.map_err(|error| error.to_string())?)
            }
            _ => None,
        };
        let place = EventLocation {
            method,
            point,
            operands,
        };
        // The result of an instruction exists after its completion.
        let is_behind = place.operands.is_some() && self.needs_stack();
        if is_behind {
            code.proceed().map_err(text)?;
        }
        for (named, number) in self.values.iter().zip(0..) {
            let mut base = place.load(&named.value, &mut code)?;
            if let Some(class) = &named.instance_of {
                code.with_type(opcode::INSTANCEOF, class).map_err(text)?;
                base = Some(BaseType::Boolean);
            }
            record(&mut code, base, number).map_err(text)?;
        }
        end(&mut code).map_err(text)?;
        if place.operands.is_none() {
            return Ok(Step::Insert(code));
        }
        if !is_behind {
            code.proceed().map_err(text)?;
        }
        Ok(Step::Around(code))
    }
}

/// Returns the value that this code pushes, and the type that it is tested for.
fn value_of(
    code: Vec<Instruction>,
    as_type: Option<String>,
) -> Option<(EventValue, Option<String>)> {
    let mut code = code.into_iter();
    let load = code.next()?;
    let tested = match code.next() {
        Some(test) if test.opcode == u16::from(opcode::INSTANCEOF) => match test.operand {
            Operand::Type(class) => Some(class),
            _ => return None,
        },
        Some(_) => return None,
        None => None,
    };
    match code.next() {
        None => Some((loaded_value(load, as_type)?, tested)),
        Some(_) => None,
    }
}

/// Returns the value that an instruction pushes.
fn loaded_value(load: Instruction, as_type: Option<String>) -> Option<EventValue> {
    let Instruction { opcode, operand } = load;
    let index = match &operand {
        Operand::Local(local) => Some(local.index),
        _ => None,
    };
    let small = index.and_then(|index| u8::try_from(index).ok());
    Some(match (opcode, operand, as_type) {
        (symbolic::LOAD_VARIABLE..symbolic::LOAD_NAMED, _, Some(kind)) => {
            EventValue::Slot(index?, kind)
        }
        (_, _, Some(_)) => return None,
        (symbolic::LOAD_THIS, Operand::None, _) => EventValue::This,
        (symbolic::LOAD_ARGUMENT, ..) => EventValue::Argument(small?),
        (symbolic::LOAD_OPERAND, ..) => EventValue::Operand(small?),
        (symbolic::LOAD_NAMED, Operand::Text(name), _) => EventValue::Variable(name),
        (DUP, Operand::None, _) => EventValue::Stack,
        (LDC, operand, _) => EventValue::Constant(operand.constant()?),
        _ => return None,
    })
}

/// The location at which the values of an event are read.
struct EventLocation<'m, 'a> {
    method: Method<'m, 'a>,
    point: InsertionPoint,
    operands: Option<Operands>,
}

impl EventLocation<'_, '_> {
    /// Pushes a value onto the operand stack and returns its primitive type; `None` for a reference.
    fn load(&self, value: &EventValue, code: &mut Snippet) -> Result<Option<BaseType>, String> {
        let variable = self.variable(value)?;
        let base = match value {
            EventValue::Variable(_) | EventValue::Slot(..) => variable.and_then(|(_, base)| base),
            EventValue::This => None,
            EventValue::Argument(index) => self.argument(*index)?,
            EventValue::Operand(index) => self.operand(*index)?,
            EventValue::Stack => self.stack()?,
            EventValue::Constant(literal) => base_of(literal),
        };
        let loaded = match value {
            EventValue::This => code.load_this(),
            EventValue::Argument(index) => code.load_argument(*index),
            EventValue::Operand(index) => code.load_operand(*index),
            EventValue::Stack if is_wide(base) => code.op(opcode::DUP2, 0),
            EventValue::Stack => code.op(opcode::DUP, 0),
            EventValue::Constant(literal) => code.push_constant(literal),
            EventValue::Variable(_) | EventValue::Slot(..) => {
                let slot = variable.map_or(0, |(slot, _)| slot);
                let load = base.map_or(opcode::ALOAD, |base| FieldType::Base(base).load_opcode());
                code.load_variable(load, slot)
            }
        };
        loaded.map_err(|error| error.to_string())?;
        Ok(base)
    }

    /// Returns slot and primitive type of a local variable; `None` for other values.
    fn variable(&self, value: &EventValue) -> Result<Option<(u16, Option<BaseType>)>, String> {
        let found = match value {
            EventValue::Slot(slot, kind) => (*slot, variable_type(kind.as_bytes())?),
            EventValue::Variable(name) => self.named(name)?,
            _ => return Ok(None),
        };
        match self.operands {
            None => Ok(Some(found)),
            Some(_) => Err(BESIDE_OPERANDS.to_owned()),
        }
    }

    /// Finds a local variable that the class file names at this location (JVMS 4.7.13).
    fn named(&self, name: &str) -> Result<(u16, Option<BaseType>), String> {
        let code = self.method.code().ok().flatten();
        let code = code.ok_or("the method has no code")?;
        let here = match self.point.location {
            Location::Entry => Bci(0),
            Location::Before(bci) | Location::At(bci) => bci,
            Location::Jump { target, .. } => target,
            Location::FallThrough(bci) => next_bci(code.bytes(), bci),
            _ => {
                let cause = "expected a location within the method: no local variable is in scope when an exception leaves it";
                return Err(cause.to_owned());
            }
        };
        let mut scope = Vec::new();
        for variable in code.local_variables().take(MAX_VARIABLES) {
            let start = u32::from(variable.start.0);
            let range = start..start + u32::from(variable.length);
            if !range.contains(&u32::from(here.0)) {
                continue;
            }
            if variable.name == name {
                let kind = variable_type(variable.descriptor.as_bytes())?;
                return Ok((variable.index.0, kind));
            }
            scope.push(variable.name.to_str_lossless().into_owned());
        }
        Err(match scope.as_slice() {
            [] => format!(
                "the class file has no names of local variables here, so `{name}` is unknown. Compile with `-g`; a variable has its name after its first store"
            ),
            names => format!(
                "no local variable `{name}` is in scope here; those that are: {}",
                names.join(", ")
            ),
        })
    }

    fn argument(&self, index: u8) -> Result<Option<BaseType>, String> {
        let descriptor = self.method.descriptor();
        let mut parameters = Parameters::of(descriptor.as_bytes());
        let found = parameters.nth(index.into()).map(base_of_type);
        found.ok_or_else(|| {
            let count = Parameters::of(descriptor.as_bytes()).count();
            format!("the method has {count} parameters, so there is no argument {index}")
        })
    }

    fn operand(&self, index: u8) -> Result<Option<BaseType>, String> {
        let operands = self.operands.as_ref().ok_or(
            "expected an instruction, whose operands can be recorded; use the point of the instruction itself",
        )?;
        let found = operands.inputs.get(usize::from(index)).copied();
        found.ok_or_else(|| {
            let count = operands.inputs.len();
            format!("the instruction takes {count} operands, so there is no operand {index}")
        })
    }

    fn stack(&self) -> Result<Option<BaseType>, String> {
        if let Some(operands) = &self.operands {
            let result = operands.result;
            return result.ok_or_else(|| "the instruction has no result".to_owned());
        }
        match self.point.location {
            Location::Unwind => Ok(None),
            Location::Before(bci) => self.before(bci),
            _ => Err(NOTHING.to_owned()),
        }
    }

    /// Returns the type on top of the stack before an instruction that leaves the method.
    fn before(&self, bci: Bci) -> Result<Option<BaseType>, String> {
        let code = self.method.code().ok().flatten();
        let bytes = code.as_ref().map(|code| code.bytes());
        let opcode = bytes.and_then(|bytes| bytes.get(usize::from(bci.0)).copied());
        let descriptor = self.method.descriptor();
        let returned = MethodDescriptor::parse(descriptor.as_bytes());
        match opcode {
            Some(opcode::ATHROW) => Ok(None),
            Some(code) if opcode::is_return(code) => {
                let kind = returned.ok().and_then(|found| found.return_type());
                let kind = kind.ok_or("the method returns nothing");
                Ok(base_of_type(kind?))
            }
            _ => Err(NOTHING.to_owned()),
        }
    }
}

/// Maximum number of named local variables examined in a method.
const MAX_VARIABLES: usize = 4_096;

/// Message for a local variable in code around an instruction.
const BESIDE_OPERANDS: &str = "a local variable is recorded in front of an instruction, not together with its operands or what it gives: \
                               ask for two events";

/// Returns the bci after an instruction that completes there.
fn next_bci(code: &[u8], at: Bci) -> Bci {
    let byte = |bci: u16| code.get(usize::from(bci)).copied().unwrap_or(0);
    let opcode = byte(at.0);
    let length = match (opcode, byte(at.0.saturating_add(1))) {
        (opcode::WIDE, opcode::IINC) => 6,
        (opcode::WIDE, _) => 4,
        _ => u16::from(opcode::length(opcode)),
    };
    Bci(at.0.saturating_add(length))
}

/// Returns the primitive type of a field descriptor, or `None` for a reference.
fn variable_type(descriptor: &[u8]) -> Result<Option<BaseType>, String> {
    let kind = FieldType::parse(descriptor);
    kind.map(base_of_type).map_err(|_| {
        let found = String::from_utf8_lossy(descriptor);
        format!("expected a field descriptor as the type of a local variable, found `{found}`")
    })
}

/// Message for a location without a value on the stack.
const NOTHING: &str = "nothing is found on the stack here: it is before a return instruction, before `athrow`, \
                       at `unwind`, and at an instruction that gives something";

fn base_of_type(kind: FieldType<'_>) -> Option<BaseType> {
    match kind {
        FieldType::Base(base) => Some(base),
        FieldType::Class(_) | FieldType::Array(_) => None,
    }
}

fn base_of(literal: &Constant) -> Option<BaseType> {
    match literal {
        Constant::Integer(_) => Some(BaseType::Int),
        Constant::Long(_) => Some(BaseType::Long),
        Constant::Float(_) => Some(BaseType::Float),
        Constant::Double(_) => Some(BaseType::Double),
        Constant::Text(_) => None,
    }
}

fn is_wide(base: Option<BaseType>) -> bool {
    matches!(base, Some(BaseType::Long | BaseType::Double))
}

impl fmt::Display for EventValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::This => f.write_str("this"),
            Self::Argument(index) => write!(f, "argument {index}"),
            Self::Operand(index) => write!(f, "operand {index}"),
            Self::Stack => f.write_str("stack"),
            Self::Constant(literal) => write!(f, "{literal}"),
            Self::Variable(name) => write!(f, "variable {name}"),
            Self::Slot(slot, kind) => write!(f, "slot {slot} {kind}"),
        }
    }
}

/// Formats as `statement = argument 0, limit 80, 100 per second`.
impl fmt::Display for EventValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for NamedValue {
            name,
            value,
            instance_of,
        } in &self.values
        {
            write!(f, "{name} = {value}")?;
            if let Some(class) = instance_of {
                write!(f, " instanceof {class}")?;
            }
            f.write_str(", ")?;
        }
        write!(f, "limit {}", self.limit)?;
        match self.per_second {
            Some(most) => write!(f, ", {most} per second"),
            None => Ok(()),
        }
    }
}
