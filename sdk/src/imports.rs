//! Implements the SDK's traits with the WIT interface.

use crate::bindings::classhook::plugin::{class_file, plans, probes, recorded};
use crate::observing::classhook::plugin::jvm_events;
use crate::queries::points;
use crate::source::{
    ClassSide, ClassSource, EventNames, MethodSource, PlanSink, RecordedSource, Side,
};
use crate::table::Table;
use crate::wit::{
    FieldSummary, Handler, Instruction, Line, MethodInfo, MethodSummary, RecordedEvent,
    RecordedTable, Sum,
};
use edits::{Capture, InsertionPoint, Member, Refusal};

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
    fn code(&self, start: u32) -> Result<Vec<u64>, Refusal> {
        self.code(start)
    }
    fn raw_code(&self, start: u32) -> Vec<u8> {
        self.raw_code(start)
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
    fn instructions(&self) -> Result<Vec<Instruction>, Refusal> {
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
    fn member(&self, pool_index: u16) -> Option<Member> {
        self.member(pool_index)
    }
    fn type_name(&self, pool_index: u16) -> Option<String> {
        self.type_name(pool_index)
    }
    fn returns(&self) -> Vec<InsertionPoint> {
        points(self.returns())
    }
}

impl PlanSink for plans::Plan {
    fn note(&self, at: InsertionPoint, text: &str) {
        self.note(at.into(), text);
    }
    fn side(&self) -> Side<'_> {
        Side::Host(self)
    }
}

/// Packs points for the host.
pub(crate) fn packed(at: &[InsertionPoint]) -> Vec<u64> {
    at.iter().copied().map(u64::from).collect()
}

/// Converts the values of a span.
pub(crate) fn capture_of(capture: &Capture) -> probes::Capture {
    use probes::RecordedValues as Values;
    let mut values = Values::empty();
    for (is_set, value) in [
        (capture.all_arguments, Values::ARGUMENTS),
        (capture.returned, Values::RETURNED),
        (capture.thrown, Values::THROWN),
        (capture.summed_up, Values::SUMS),
    ] {
        if is_set {
            values = values | value;
        }
    }
    probes::Capture {
        values,
        arguments: capture.arguments.clone(),
        limit: capture.limit,
    }
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
    fn quantiles(&self, table: u32, rows: &[u32], of: &[f64]) -> Result<Vec<u64>, Refusal> {
        recorded::quantiles(table, rows, of)
    }
    fn add_rows(&self, table: &Table, rows: &[Vec<String>]) -> Result<(), Refusal> {
        recorded::add_rows(table.name, &table.columns(), rows)
    }
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
