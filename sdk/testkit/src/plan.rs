//! Implements the resource `plan` with the rules for plans.

use std::cell::RefCell;
use std::fmt::Write;

use classhook_sdk::source::{NativePlan, PlanSink, Side};
use edits::{Capture, Edit, Event, InsertionPoint, Refusal, Tag};
use error_codes::table as codes;
use plan_rules::{CheckedClass, PlanRequest, RefusedRequest, Row, Transformation};
use rewriter::{Action, MethodIndex};

/// The code of a failure that ends a plugin's work on a class in production, regardless of what
/// follows.
const TRAP: &str = codes::H0311;

/// Records the requests of a plugin for one class, and their text.
pub struct PlanRecord {
    state: RefCell<State>,
}

/// The requests so far.
pub(crate) struct State {
    pub(crate) transformation: Transformation,
    text: String,
    /// Set when the host would have stopped the plugin.
    trap: Option<Refusal>,
}

impl PlanRecord {
    /// Creates a record without requests.
    pub fn new(class: CheckedClass) -> Self {
        let state = State {
            transformation: Transformation::new(class),
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
    pub fn finish(self) -> (PlanRequest, String, Option<Refusal>) {
        let state = self.state.into_inner();
        let (_, request) = state.transformation.finish();
        (request, state.text, state.trap)
    }

    /// Runs `ask` on the requests so far; a rejection becomes the plugin's answer.
    pub(crate) fn ask<T>(
        &self,
        ask: impl FnOnce(&mut State) -> Result<T, RefusedRequest>,
    ) -> Result<T, Refusal> {
        let state = &mut *self.state.borrow_mut();
        ask(state).map_err(Refusal::from)
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

    /// Writes a line for each probe, with the plugin's tag.
    fn probes(
        &self,
        at: &[InsertionPoint],
        action: fn(u32) -> Action,
        ask: impl FnOnce(&mut Transformation) -> Result<std::ops::Range<u32>, RefusedRequest>,
    ) -> Result<u32, Refusal> {
        self.ask(|state| {
            let tags = state.tags();
            let probes = ask(&mut state.transformation)?;
            let tag = state.tag(tags);
            for (point, probe) in at.iter().zip(probes.clone()) {
                state.say_at(*point, &action(probe), &tag);
            }
            Ok(probes.start)
        })
    }
}

impl State {
    fn tags(&self) -> usize {
        self.transformation.request().tags.len()
    }

    /// Returns the bytes of the tag with this index; empty without one.
    fn tag(&self, index: usize) -> Vec<u8> {
        let tag = self.transformation.request().tags.get(index);
        tag.map(|tag| tag.bytes.clone()).unwrap_or_default()
    }

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
    fn say_at(&mut self, point: InsertionPoint, what: &dyn std::fmt::Display, tag: &[u8]) {
        let method = self.method_name(point.method);
        self.say(&format!("{method} {}: {what}", point.location), tag);
    }

    pub(crate) fn method_name(&self, index: MethodIndex) -> String {
        self.transformation.method_name(index).unwrap_or_default()
    }

    /// Records that the host would have stopped the plugin here.
    pub(crate) fn stop(&mut self, message: String) -> Refusal {
        let failure = Refusal {
            code: TRAP.to_owned(),
            message: format!("it trapped: {message}"),
            help: None,
        };
        self.trap.get_or_insert(failure).clone()
    }
}

impl PlanSink for PlanRecord {
    fn side(&self) -> Side<'_> {
        Side::Native(self)
    }

    fn note(&self, at: InsertionPoint, text: &str) {
        let state = &mut *self.state.borrow_mut();
        let kept = state.transformation.note(at, text.to_owned());
        if let Some(text) = kept.map(|note| format!("note {}", note.text)) {
            state.say_at(at, &text, b"");
        }
    }
}

impl NativePlan for PlanRecord {
    fn hit(&self, at: &[InsertionPoint], tag: Tag) -> Result<u32, Refusal> {
        let numbers: Vec<u64> = at.iter().copied().map(u64::from).collect();
        self.probes(at, Action::Hit, |asked| asked.hit(&numbers, tag))
    }

    fn count(&self, at: &[InsertionPoint], tag: Tag) -> Result<u32, Refusal> {
        self.probes(at, Action::Count, |asked| asked.count(at, tag))
    }

    fn span(&self, method: u16, capture: &Capture, tag: Tag) -> Result<u32, Refusal> {
        let method = MethodIndex(method);
        self.ask(|state| {
            let tags = state.tags();
            let asked = &mut state.transformation;
            let number = asked.span(method, capture, tag)?;
            if let Some(span) = asked.request().spans.as_slice().last() {
                let line = format!(": {span}");
                let line = state.method_name(method) + &line;
                let tag = state.tag(tags);
                state.say(&line, &tag);
            }
            Ok(number)
        })
    }

    fn event(&self, at: &[InsertionPoint], event: &Event, tag: Tag) -> Result<u32, Refusal> {
        self.ask(|state| {
            let tags = state.tags();
            let (events, values) = state.transformation.event(at, event.clone(), tag)?;
            let tag = state.tag(tags);
            for (point, number) in at.iter().zip(events.clone()) {
                state.say_at(*point, &format!("event {number}: {values}"), &tag);
            }
            Ok(events.start)
        })
    }

    fn helpers(&self, class_files: &[Vec<u8>]) -> Result<Vec<String>, Refusal> {
        self.ask(|state| {
            let names = state.transformation.define_helpers(class_files)?;
            let lines = names.iter().map(|name| format!("helper class {name}"));
            lines.for_each(|line| state.say(&line, b""));
            Ok(names)
        })
    }

    fn edit(&self, edit: Edit) -> Result<(), Refusal> {
        self.ask(|state| state.edit(edit))
    }
}
