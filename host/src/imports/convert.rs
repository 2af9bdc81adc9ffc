//! Converts between values of the interface and the vocabulary of edits.

use edits::InsertionPoint;
use jvms::modified_utf8::Utf8;
use plan_rules::RefusedRequest;
use wasmtime::Result;

use crate::bindings::classhook::plugin::{probes, types};

/// The result of a function that plugins call.
pub(super) type Answer<T = ()> = Result<std::result::Result<T, types::Refusal>>;

/// Converts the result of a request.
pub(super) fn answer<T>(asked: std::result::Result<T, RefusedRequest>) -> Answer<T> {
    Ok(asked.map_err(types::Refusal::from))
}

pub(super) fn text(utf8: Utf8<'_>) -> String {
    utf8.to_str_lossless().into_owned()
}

/// Packs insertion points.
pub(super) fn packed(points: Vec<InsertionPoint>) -> Vec<u64> {
    points.into_iter().map(u64::from).collect()
}

/// Converts a list.
pub(super) fn all<T, U: From<T>>(list: Vec<T>) -> Vec<U> {
    list.into_iter().map(U::from).collect()
}

impl From<RefusedRequest> for types::Refusal {
    fn from(refused: RefusedRequest) -> Self {
        Self {
            code: refused.code.to_owned(),
            message: refused.message,
            help: refused.help.map(str::to_owned),
        }
    }
}

/// Converts an enum or variant of the interface, case by case.
macro_rules! from_cases {
    ($($kind:ident { $($case:ident $(($value:ident))?),* $(,)? })*) => {$(
        impl From<types::$kind> for edits::$kind {
            fn from(value: types::$kind) -> Self {
                match value {
                    $(types::$kind::$case $(($value))? => Self::$case $(($value.into()))?),*
                }
            }
        }
    )*};
}

/// Converts a record of the interface, field by field.
macro_rules! from_fields {
    ($($from:path => $to:path { $($field:ident),* $(,)? })*) => {$(
        impl From<$from> for $to {
            fn from(value: $from) -> Self {
                Self { $($field: value.$field.into()),* }
            }
        }
    )*};
}

from_cases! {
    Constant { Integer(value), Long(value), Float(value), Double(value), Text(value) }
    Operand {
        None, Int(value), Long(value), Float(value), Double(value), Text(value), Member(value),
        Type(value), Label(value), Local(value),
    }
    ColumnKind { Text, Integer, Duration, Bytes, Class, Method, Line }
    Tag { None, Bytes(value), Row(value) }
    Value {
        Boolean(value), Byte(value), Char(value), Short(value), Integer(value), Long(value),
        Float(value), Double(value), Text(value), Enum(value), Class(value), Annotation(value),
        Array(value),
    }
    Target { Class, Field(value), Method(value) }
    Visibility { Visible, Invisible }
    InstructionKind { Call, Field, Allocation, String, Recipe, Monitor, Throw, Catch }
}

from_fields! {
    types::Member => edits::Member { owner, name, descriptor, interface }
    edits::Member => types::Member { owner, name, descriptor, interface }
    types::Local => edits::Local { index, increment }
    types::Instruction => edits::Instruction { opcode, operand }
    types::Column => edits::Column { name, kind }
    types::EnumConstant => edits::EnumConstant { descriptor, name }
    types::Annotation => edits::AnnotationStart { kind, elements }
    types::Element => edits::Element { name, value }
    types::FieldName => edits::FieldName { name, descriptor }
}

impl From<types::Row> for edits::Row {
    fn from(row: types::Row) -> Self {
        Self {
            table: row.table,
            columns: all(row.columns),
            cells: row.cells,
        }
    }
}

impl From<types::EventValue> for edits::EventValue {
    fn from(value: types::EventValue) -> Self {
        Self {
            name: value.name,
            code: all(value.code),
            as_type: value.as_type,
        }
    }
}

impl From<types::EventValues> for edits::Event {
    fn from(event: types::EventValues) -> Self {
        Self {
            values: all(event.values),
            limit: event.limit,
            per_second: event.per_second,
        }
    }
}

impl From<probes::Capture> for edits::Capture {
    fn from(capture: probes::Capture) -> Self {
        use probes::RecordedValues as Values;
        let has = |wanted| capture.values.contains(wanted);
        Self {
            all_arguments: has(Values::ARGUMENTS),
            returned: has(Values::RETURNED),
            thrown: has(Values::THROWN),
            summed_up: has(Values::SUMS),
            arguments: capture.arguments,
            limit: capture.limit,
        }
    }
}
