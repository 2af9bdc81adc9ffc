//! Implements the SDK's traits with the WIT interface.

use crate::bindings::classhook::plugin::{
    class_file, plans, probes, recorded, results, rewrite, structure,
};
use crate::capture::Capture;
use crate::edit::{Annotation, Value};
use crate::event::{Event, EventValue};
use crate::observing::classhook::plugin::jvm_events;
use crate::snippet::{Operation, Snippet};
use crate::source::{
    ClassSide, ClassSource, EventNames, MethodSource, PlanSink, RecordedSource, Side,
};
use crate::table::{ColumnKind, Table};
use crate::wit::{
    Column, Failure, FieldSummary, Handler, Instruction, Jump, Line, MemberRef, MethodInfo,
    MethodSummary, Place, RecordedEvent, RecordedTable, Site, Sum,
};

impl ClassSource for class_file::ClassView {
    fn name(&self) -> String {
        self.name()
    }
    fn super_name(&self) -> Option<String> {
        self.super_name()
    }
    fn interfaces(&self) -> Vec<String> {
        self.interfaces()
    }
    fn access_flags(&self) -> u16 {
        self.access_flags()
    }
    fn major_version(&self) -> u16 {
        self.major_version()
    }
    fn source_file(&self) -> Option<String> {
        self.source_file()
    }
    fn loader(&self) -> String {
        self.loader()
    }
    fn fingerprint(&self) -> Option<u64> {
        self.fingerprint()
    }
    fn retransforming(&self) -> bool {
        self.retransforming()
    }
    fn annotations(&self) -> Vec<String> {
        self.annotations()
    }
    fn fields(&self) -> Vec<FieldSummary> {
        self.fields()
    }
    fn attribute(&self, name: &str) -> Option<Vec<u8>> {
        self.attribute(name)
    }
    fn pool_text(&self, pool_index: u16) -> Option<String> {
        self.pool_text(pool_index)
    }
    fn methods(&self) -> Vec<MethodSummary> {
        self.methods()
    }
    fn methods_with_code(&self) -> Vec<u16> {
        self.methods_with_code()
    }
    fn code(&self, start: u32) -> Result<Vec<u64>, Failure> {
        self.code(start)
    }
    fn raw_code(&self, start: u32) -> Vec<u8> {
        self.raw_code(start)
    }
    fn sites(&self, at: &[Place]) -> Result<Vec<Site>, Failure> {
        let at: Vec<u64> = at.iter().copied().map(u64::from).collect();
        self.sites(&at)
    }
    fn method(&self, index: u16) -> Option<Box<dyn MethodSource + '_>> {
        Some(Box::new(self.method(index)?))
    }
    fn side(&self) -> ClassSide<'_> {
        ClassSide::Host(self)
    }
}

impl MethodSource for class_file::MethodView {
    fn annotations(&self) -> Vec<String> {
        self.annotations()
    }
    fn instructions(&self) -> Result<Vec<Instruction>, Failure> {
        let all = self.instructions()?;
        Ok(all.into_iter().map(Instruction::from).collect())
    }
    fn lines(&self) -> Vec<Line> {
        self.lines().into_iter().map(Line::from).collect()
    }
    fn handlers(&self) -> Vec<Handler> {
        self.handlers()
    }
    fn switch_targets(&self, at: u16) -> Vec<u16> {
        self.switch_targets(at)
    }
    fn member(&self, pool_index: u16) -> Option<MemberRef> {
        self.member(pool_index)
    }
    fn type_name(&self, pool_index: u16) -> Option<String> {
        self.type_name(pool_index)
    }
    fn entry(&self) -> Site {
        self.entry()
    }
    fn returns(&self) -> Vec<Site> {
        self.returns()
    }
    fn before(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.before(at)
    }
    fn fall_throughs(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.fall_throughs(at)
    }
    fn jumps(&self, at: &[Jump]) -> Result<Vec<Site>, Failure> {
        self.jumps(at)
    }
    fn unwind(&self) -> Site {
        self.unwind()
    }
    fn at(&self, at: &[u16]) -> Result<Vec<Site>, Failure> {
        self.at(at)
    }
}

impl PlanSink for plans::Plan {
    fn note(&self, at: Site, text: &str) {
        self.note(at, text);
    }
    fn side(&self) -> Side<'_> {
        Side::Host(self)
    }
}

/// Creates the host's copy of a capture.
pub(crate) fn capture_of(capture: &Capture) -> probes::Capture {
    let resource = probes::Capture::new();
    if capture.all_arguments {
        resource.arguments();
    }
    for index in &capture.arguments {
        resource.argument(*index);
    }
    if capture.returned {
        resource.return_value();
    }
    if capture.thrown {
        resource.thrown_class();
    }
    if let Some(bytes) = capture.limit {
        resource.limit(bytes);
    }
    if capture.summed_up {
        resource.sum_up();
    }
    resource
}

/// Creates the host's copy of an event's values.
pub(crate) fn values_of(event: &Event) -> probes::EventValues {
    let resource = probes::EventValues::new();
    for (name, value) in &event.values {
        match value {
            EventValue::This => resource.this(name),
            EventValue::Argument(index) => resource.argument(name, *index),
            EventValue::Operand(index) => resource.operand(name, *index),
            EventValue::Stack => resource.stack(name),
            EventValue::Constant(value) => resource.constant(name, value),
            EventValue::Variable(variable) => resource.variable(name, variable),
            EventValue::Slot(index, kind) => resource.slot(name, *index, kind),
        }
    }
    if let Some(bytes) = event.limit {
        resource.limit(bytes);
    }
    if let Some(most) = event.per_second {
        resource.per_second(most);
    }
    resource
}

/// Creates a row, which the host checks.
pub(crate) fn row_of(table: &Table, cells: &[&str]) -> Result<Vec<u8>, Failure> {
    let cells: Vec<String> = cells.iter().map(|cell| (*cell).to_owned()).collect();
    results::row(table.name, &columns_of(table), &cells)
}

fn columns_of(table: &Table) -> Vec<Column> {
    let columns = table.columns.iter();
    let column = |(name, kind): &(&str, ColumnKind)| Column {
        name: (*name).to_owned(),
        kind: kind.as_str().to_owned(),
    };
    columns.map(column).collect()
}

/// The host's recorded data.
pub(crate) struct HostRecorded;

impl RecordedSource for HostRecorded {
    fn tables(&self) -> Vec<RecordedTable> {
        recorded::tables()
    }
    fn sums(&self, table: u32, start: u32) -> Vec<Sum> {
        recorded::sums(table, start)
    }
    fn events(&self, table: u32, start: u32) -> Vec<RecordedEvent> {
        recorded::events(table, start)
    }
    fn quantiles(&self, table: u32, rows: &[u32], of: &[f64]) -> Result<Vec<u64>, Failure> {
        recorded::quantiles(table, rows, of)
    }
    fn add_rows(&self, table: &Table, rows: &[Vec<String>]) -> Result<(), Failure> {
        recorded::add_rows(table.name, &columns_of(table), rows)
    }
}

/// Creates the host's copy of a snippet.
pub(crate) fn code_of(snippet: &Snippet) -> Result<rewrite::Snippet, Failure> {
    let resource = rewrite::Snippet::new();
    let (parts, labels) = snippet.parts();
    for _ in 0..labels {
        resource.new_label();
    }
    for part in parts {
        match part {
            Operation::This => resource.load_this(),
            Operation::Argument(index) => resource.load_argument(*index),
            Operation::Int(value) => resource.push_int(*value),
            Operation::Long(value) => resource.push_long(*value),
            Operation::Float(value) => resource.push_float(*value),
            Operation::Double(value) => resource.push_double(*value),
            Operation::String(value) => resource.push_string(value),
            Operation::Class(name) => resource.push_class(name),
            Operation::Null => resource.push_null(),
            Operation::Invoke(opcode, target) => {
                resource.invoke(*opcode, &target.reference(), target.interface)
            }
            Operation::Field(opcode, target) => resource.field(*opcode, &target.reference()),
            Operation::WithType(opcode, name) => resource.with_type(*opcode, name),
            Operation::Op(opcode, operand) => resource.op(*opcode, *operand),
            Operation::Increment(slot, by) => resource.increment(*slot, *by),
            Operation::Place(label) => resource.place(*label),
            Operation::Jump(opcode, label) => resource.jump(*opcode, *label),
            Operation::Operand(index) => resource.load_operand(*index),
            Operation::Proceed => resource.proceed(),
        }?;
    }
    Ok(resource)
}

/// Creates the host's copy of an annotation.
pub(crate) fn annotation_of(annotation: &Annotation) -> structure::Annotation {
    let (kind, elements) = annotation.parts();
    let resource = structure::Annotation::new(kind);
    for (name, value) in elements {
        match value {
            Value::One(value) => resource.put(name, value),
            Value::Many(values) => resource.put_array(name, values),
            Value::Nested(value) => resource.nest(name, &annotation_of(value)),
            Value::NestedMany(values) => {
                let values: Vec<_> = values.iter().map(annotation_of).collect();
                resource.nest_array(name, &values.iter().collect::<Vec<_>>());
            }
        }
    }
    resource
}

/// The host's names and stacks of events.
pub struct HostNames;

impl EventNames for HostNames {
    fn name(&self, id: u32) -> Option<String> {
        jvm_events::name(id)
    }
    fn frames(&self, stack: u32) -> Vec<u64> {
        jvm_events::frames(stack)
    }
    fn method(&self, id: u32) -> Option<MethodInfo> {
        jvm_events::method(id)
    }
}
