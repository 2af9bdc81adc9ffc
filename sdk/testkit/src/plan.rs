//! Implements the resource `plan` with the rules for plans.

use std::cell::RefCell;
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use classhook_sdk::edit::{self, Edit};
use classhook_sdk::source::{NativePlan, PlanSink, Side};
use classhook_sdk::wit::{Failure, Place, ProbeId, Site};
use classhook_sdk::{Capture, Event, EventValue, Table};
use plan_rules::span::{self, Arguments};
use plan_rules::{CheckedClass, EventValues, PlanRequest, RefusedRequest, Row, Transformation};
use rewriter::{Action, Constant, InsertionPoint, MethodIndex};

/// The code of a failure that ends a plugin's work on a class in production, regardless of what
/// follows.
const TRAP: &str = "H0311";

/// The rejection of a request.
pub(crate) enum Denied {
    /// The plugin gets the reason.
    Refused(RefusedRequest),
    /// The plugin is stopped.
    Stopped(String),
}

impl From<RefusedRequest> for Denied {
    fn from(refused: RefusedRequest) -> Self {
        Self::Refused(refused)
    }
}

/// Records the requests of a plugin for one class, and their text.
pub struct PlanRecord {
    state: RefCell<State>,
}

/// The requests so far.
pub(crate) struct State {
    pub(crate) transformation: Transformation,
    text: String,
    /// Set when the host would have stopped the plugin.
    trap: Option<Failure>,
}

impl PlanRecord {
    /// Creates a record without requests.
    pub fn new(class: CheckedClass) -> Self {
        let state = State {
            transformation: Transformation::new(class, 1),
            text: String::new(),
            trap: None,
        };
        Self {
            state: RefCell::new(state),
        }
    }

    /// Returns whether the class is already loaded.
    pub fn loaded(&self) -> bool {
        self.state.borrow().transformation.is_retransforming()
    }

    /// Returns the request, its text with one line per edit and note, and the reason why the host
    /// would have stopped the plugin, if any.
    pub fn finish(self) -> (PlanRequest, String, Option<Failure>) {
        let state = self.state.into_inner();
        let (_, request) = state.transformation.finish();
        (request, state.text, state.trap)
    }

    /// Runs `ask` on the requests so far; a rejection becomes the plugin's answer.
    pub(crate) fn ask<T>(
        &self,
        ask: impl FnOnce(&mut State) -> Result<T, Denied>,
    ) -> Result<T, Failure> {
        let state = &mut *self.state.borrow_mut();
        ask(state).map_err(|denied| match denied {
            Denied::Refused(refused) => Failure {
                code: refused.code.to_owned(),
                message: refused.message,
                help: refused.help.map(str::to_owned),
            },
            Denied::Stopped(message) => state.stop(message),
        })
    }

    /// Like [`PlanRecord::ask`], for a request that returns no error: a rejection stops the plugin.
    pub(crate) fn ask_or_trap<T: Default>(
        &self,
        ask: impl FnOnce(&mut Transformation) -> Result<T, RefusedRequest>,
    ) -> T {
        let state = &mut *self.state.borrow_mut();
        let asked = ask(&mut state.transformation);
        asked.unwrap_or_else(|refused| {
            state.stop(refused.message);
            T::default()
        })
    }

    fn probes(
        &self,
        at: &[Site],
        tag: &[u8],
        action: fn(u32) -> Action,
        ask: impl FnOnce(&mut Transformation) -> Result<Range<u32>, RefusedRequest>,
    ) -> Result<Vec<ProbeId>, Failure> {
        self.ask(|state| {
            let probes = ask(&mut state.transformation)?;
            for (site, probe) in at.iter().zip(probes.clone()) {
                state.say_at(*site, &action(probe), tag);
            }
            Ok(probes.map(|value| ProbeId { value }).collect())
        })
    }
}

impl State {
    /// Adds a line, with the plugin's tag, if any.
    pub(crate) fn say(&mut self, line: &str, tag: &[u8]) {
        self.text.push_str(line);
        if let Some(row) = Row::of_tag(tag) {
            let _ = write!(self.text, " {row}");
        } else if !tag.is_empty() {
            let _ = write!(self.text, " tag {:?}", String::from_utf8_lossy(tag));
        }
        self.text.push('\n');
    }

    /// Adds a line about an insertion point.
    pub(crate) fn say_at(&mut self, site: Site, what: &dyn std::fmt::Display, tag: &[u8]) {
        if let Some(found) = self.transformation.point(site.token) {
            self.say_of(found, what, tag);
        }
    }

    fn say_of(&mut self, point: InsertionPoint, what: &dyn std::fmt::Display, tag: &[u8]) {
        let method = self.method_name(point.method);
        self.say(&format!("{method} {}: {what}", point.location), tag);
    }

    pub(crate) fn method_name(&self, index: MethodIndex) -> String {
        self.transformation.method_name(index).unwrap_or_default()
    }

    /// Records that the host would have stopped the plugin here.
    pub(crate) fn stop(&mut self, message: String) -> Failure {
        let failure = Failure {
            code: TRAP.to_owned(),
            message: format!("it trapped: {message}"),
            help: None,
        };
        self.trap.get_or_insert(failure).clone()
    }
}

fn capture_of(capture: &Capture) -> span::Capture {
    let mut result = span::Capture {
        returned: capture.returned,
        thrown: capture.thrown,
        sum_up: capture.summed_up,
        ..span::Capture::default()
    };
    if let Some(bytes) = capture.limit {
        result.limit = bytes.min(span::MAX_LIMIT);
    }
    capture
        .arguments
        .iter()
        .for_each(|index| result.argument(*index));
    if capture.all_arguments {
        result.arguments = Arguments::All;
    }
    result
}

pub(crate) fn constant(value: &edit::Constant) -> Constant {
    match value {
        edit::Constant::Integer(value) => Constant::Integer(*value),
        edit::Constant::Long(value) => Constant::Long(*value),
        edit::Constant::Float(value) => Constant::Float(*value),
        edit::Constant::Double(value) => Constant::Double(*value),
        edit::Constant::Text(text) => Constant::Text(text.clone()),
    }
}

fn values_of(event: &Event) -> EventValues {
    let mut values = EventValues::default();
    for (name, value) in &event.values {
        let value = match value {
            EventValue::This => plan_rules::EventValue::This,
            EventValue::Argument(index) => plan_rules::EventValue::Argument(*index),
            EventValue::Operand(index) => plan_rules::EventValue::Operand(*index),
            EventValue::Stack => plan_rules::EventValue::Stack,
            EventValue::Constant(value) => plan_rules::EventValue::Constant(constant(value)),
            EventValue::Variable(variable) => plan_rules::EventValue::Variable(variable.clone()),
            EventValue::Slot(index, kind) => plan_rules::EventValue::Slot(*index, kind.clone()),
        };
        values.add(name.clone(), value);
    }
    if let Some(bytes) = event.limit {
        values.set_limit(bytes);
    }
    if let Some(most) = event.per_second {
        values.set_per_second(most);
    }
    values
}

/// Returns the tokens of insertion points.
pub(crate) fn tokens(at: &[Site]) -> impl ExactSizeIterator<Item = u64> {
    at.iter().map(|site| site.token)
}

impl PlanSink for PlanRecord {
    fn side(&self) -> Side<'_> {
        Side::Native(self)
    }

    fn note(&self, at: Site, text: &str) {
        let state = &mut *self.state.borrow_mut();
        let kept = state.transformation.note(at.token, text.to_owned());
        if let Some(text) = kept.map(|note| format!("note {}", note.text)) {
            state.say_at(at, &text, b"");
        }
    }
}

impl NativePlan for PlanRecord {
    fn hit(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.probes(at, tag, Action::Hit, |asked| asked.hit(tokens(at), tag))
    }

    fn hit_places(&self, at: &[Place], tag: &[u8]) -> Result<ProbeId, Failure> {
        let places: Vec<u64> = at.iter().copied().map(u64::from).collect();
        self.ask(|state| {
            let probes = state.transformation.hit_places(&places, tag)?;
            let points = places
                .iter()
                .filter_map(|place| InsertionPoint::unpacked(*place));
            for (point, probe) in points.zip(probes.clone()) {
                state.say_of(point, &Action::Hit(probe), tag);
            }
            Ok(ProbeId {
                value: probes.start,
            })
        })
    }

    fn count(&self, at: &[Site], tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        self.probes(at, tag, Action::Count, |asked| asked.count(tokens(at), tag))
    }

    fn span(&self, method: u16, capture: &Capture, tag: &[u8]) -> Result<ProbeId, Failure> {
        let method = MethodIndex(method);
        self.ask(|state| {
            let asked = &mut state.transformation;
            let value = asked.span(method, capture_of(capture), tag)?;
            if let Some(span) = asked.request().spans.as_slice().last() {
                let line = format!(": {span}");
                let line = state.method_name(method) + &line;
                state.say(&line, tag);
            }
            Ok(ProbeId { value })
        })
    }

    fn event(&self, at: &[Site], event: &Event, tag: &[u8]) -> Result<Vec<ProbeId>, Failure> {
        let values = Arc::new(values_of(event));
        self.ask(|state| {
            let events = state.transformation.event(tokens(at), &values, tag)?;
            for (site, number) in at.iter().zip(events.clone()) {
                state.say_at(*site, &format!("event {number}: {values}"), tag);
            }
            Ok(events.map(|value| ProbeId { value }).collect())
        })
    }

    fn row(&self, table: &Table, cells: &[&str]) -> Result<Vec<u8>, Failure> {
        let columns = table.columns.iter();
        let columns = columns.map(|(name, kind)| ((*name).to_owned(), kind.as_str().to_owned()));
        let cells = cells.iter().map(|cell| (*cell).to_owned()).collect();
        self.ask(|_| {
            let row = Row::new(table.name.to_owned(), columns.collect(), cells)?;
            Ok(row.to_tag())
        })
    }

    fn helpers(&self, class_files: &[Vec<u8>]) -> Result<Vec<String>, Failure> {
        self.ask(|state| {
            let names = state.transformation.define_helpers(class_files)?;
            let lines = names.iter().map(|name| format!("helper class {name}"));
            lines.for_each(|line| state.say(&line, b""));
            Ok(names)
        })
    }

    fn edit(&self, edit: &Edit<'_>) -> Result<(), Failure> {
        self.ask(|state| state.edit(edit))
    }
}
