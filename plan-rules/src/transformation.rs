//! The work of one plugin on one class: insertion points and requests.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use edits::{Constant, Event, Instruction, Operand, Tag, Visibility};
use jvms::opcode;
use rewriter::{
    Action, Bci, CallTarget, Change, ClassEdit, ClassFile, Edit, InsertionPoint, Location, Method,
    MethodIndex, NewField, NewMethod, PlanError, Snippet, Target,
};

use crate::annotation::CountedAnnotation;
use crate::attributes::is_predefined;
use crate::class::{CheckedClass, Checker};
use crate::event::{EventRequest, EventValues, Step};
use crate::helpers::{expect_room_for_helpers, helper_bytes};
use crate::limits::{
    EDIT_BYTES, ELEMENT_BYTES, MAX_CLASS_BYTES, MAX_CLASS_EDITS, MAX_CODE_BYTES, MAX_EDITS,
    MAX_NOTE_BYTES, MAX_NOTES, MAX_TAG_BYTES, OPERATION_BYTES,
};
use crate::refusal::RefusedRequest;
use crate::request::{Note, PlanRequest, ProbeKind};
use crate::row::Row;
use crate::snippet::CountedSnippet;
use crate::span::{Arguments, Capture, MAX_LIMIT};

/// Message for a class that is both edited and replaced.
const BOTH: &str = "a replaced class keeps its members and names: replace the class file or edit the class, not both";

/// The result of a request.
type Answer<T = ()> = Result<T, RefusedRequest>;

/// One call of a plugin's `transform`. Each request is checked when it is made, and accepted or refused as a whole.
#[derive(Debug)]
pub struct Transformation {
    class: CheckedClass,
    request: PlanRequest,
    /// The last refusal, for the message if the plugin then fails.
    refused: Option<RefusedRequest>,
    /// The method that the plugin queried last.
    method: Option<MethodIndex>,
    tag_bytes: usize,
    code_bytes: usize,
}

impl Transformation {
    /// Creates a transformation without requests.
    #[must_use]
    pub fn new(class: CheckedClass) -> Self {
        Self::with(class, PlanRequest::default())
    }

    /// Does the same as [`Transformation::new`] with the memory of an earlier request.
    #[must_use]
    pub fn with(mut class: CheckedClass, mut memory: PlanRequest) -> Self {
        class.begin();
        memory.clear();
        Self {
            class,
            request: memory,
            refused: None,
            method: None,
            tag_bytes: 0,
            code_bytes: 0,
        }
    }

    /// Returns the class and the requests.
    #[must_use]
    pub fn finish(self) -> (CheckedClass, PlanRequest) {
        (self.class, self.request)
    }

    /// Returns the view of the class.
    #[must_use]
    pub fn class(&self) -> &ClassFile<'_> {
        self.class.class()
    }

    /// Checks whether the class is already loaded.
    #[must_use]
    pub fn is_retransforming(&self) -> bool {
        self.class.is_retransforming()
    }

    /// Returns name and descriptor of a method for display.
    #[must_use]
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        self.class.method_name(index)
    }

    /// Returns the requests made so far.
    #[must_use]
    pub fn request(&self) -> &PlanRequest {
        &self.request
    }

    /// Returns the bytes of all requests.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let PlanRequest { tags, notes, .. } = &self.request;
        let notes: usize =
            notes.iter().map(|note| note.text.len()).sum::<usize>() + notes.len() * EDIT_BYTES;
        let edits = (self.request.edits() + tags.len()) * EDIT_BYTES;
        let class = self.request.replacement.as_ref().map_or(0, Vec::len);
        let helpers = helper_bytes(&self.request);
        self.tag_bytes + self.code_bytes + edits + notes + class + helpers
    }

    /// Returns the last refusal.
    #[must_use]
    pub fn refused(&self) -> Option<&RefusedRequest> {
        self.refused.as_ref()
    }

    /// Returns the method that the plugin queried last.
    #[must_use]
    pub fn last_method(&self) -> Option<MethodIndex> {
        self.method
    }

    /// Records the method of a query.
    pub fn look_at(&mut self, method: MethodIndex) {
        self.method = Some(method);
    }

    /// Records a refusal and returns it.
    pub fn refuse(&mut self, refused: RefusedRequest) -> RefusedRequest {
        self.refused = Some(refused.clone());
        refused
    }

    /// Refuses a request that violates the class or the rules and has no bci.
    pub fn refuse_unsuitable(&mut self, cause: &dyn std::fmt::Display) -> RefusedRequest {
        self.refuse(RefusedRequest::unsuitable(None, cause))
    }

    /// Unpacks insertion points of the interface.
    ///
    /// # Errors
    /// A number encodes no point.
    pub fn points(&mut self, numbers: &[u64]) -> Answer<Vec<InsertionPoint>> {
        numbers.iter().map(|number| self.point(*number)).collect()
    }

    fn point(&mut self, number: u64) -> Answer<InsertionPoint> {
        InsertionPoint::unpacked(number).ok_or_else(|| {
            let cause = format!("expected a packed insertion point, found {number:#x}");
            self.refuse_unsuitable(&cause)
        })
    }

    /// Returns the points before every return instruction and `athrow` of a method, in order.
    #[must_use]
    pub fn returns(&self, method: MethodIndex) -> Vec<InsertionPoint> {
        let leaves = self.class().method(method).map_or_else(Vec::new, exits_of);
        let point = |bci| InsertionPoint {
            method,
            location: Location::Before(bci),
        };
        leaves.into_iter().map(point).collect()
    }

    /// Requests hit probes at packed points and returns their numbers.
    ///
    /// # Errors
    /// A point does not exist, or a limit is reached.
    pub fn hit(&mut self, at: &[u64], tag: Tag) -> Answer<Range<u32>> {
        if let Tag::Row(row) = &tag {
            let row = row.clone();
            let row = Row::of(row).map_err(|refused| self.refuse(refused))?;
            let cause = format!(
                "expected a count or a span for the {row}, found a hit, which has no number"
            );
            return Err(self.refuse_unsuitable(&cause));
        }
        let tag = self.tag(tag)?;
        let tag_bytes = self.expect_room(at.len(), tag.len())?;
        for number in at {
            let point = self.point(*number)?;
            self.expect_point(point)?;
        }
        let first = self.request.hits;
        let points = at
            .iter()
            .filter_map(|number| InsertionPoint::unpacked(*number));
        self.request.plan.reserve(at.len());
        for (point, probe) in points.zip(first..) {
            let added = self.request.plan.hit(point, probe);
            added.map_err(|error| self.refuse_full(&error))?;
        }
        let probes = first..first + at.len() as u32;
        if let Some(point) = at
            .first()
            .and_then(|number| InsertionPoint::unpacked(*number))
        {
            self.request.tag(ProbeKind::Hit, point, &probes, &tag);
        }
        self.request.hits = probes.end;
        self.tag_bytes = tag_bytes;
        Ok(probes)
    }

    /// Returns the stored form of a tag.
    fn tag(&mut self, tag: Tag) -> Answer<Vec<u8>> {
        match tag {
            Tag::None => Ok(Vec::new()),
            Tag::Bytes(bytes) if Row::of_tag(&bytes).is_some() => {
                Err(self.refuse_unsuitable(&"expected the bytes of a tag, found the form of a row"))
            }
            Tag::Bytes(bytes) => Ok(bytes),
            Tag::Row(row) => {
                let row = Row::of(row).map_err(|refused| self.refuse(refused))?;
                Ok(row.to_tag())
            }
        }
    }

    /// Checks that a location can have a probe.
    fn expect_point(&mut self, point: InsertionPoint) -> Answer {
        let checked = match point.location {
            Location::At(_) => Err(PlanError::Misplaced { point }),
            _ => self.class.check(|checker| checker.check(point)),
        };
        checked.map_err(|error| {
            self.method = Some(point.method);
            self.refuse_at(point, &error)
        })
    }

    /// Requests counters at points and returns their numbers.
    ///
    /// # Errors
    /// As [`Transformation::hit`].
    pub fn count(&mut self, at: &[InsertionPoint], tag: Tag) -> Answer<Range<u32>> {
        let tag = self.tag(tag)?;
        let tag_bytes = self.expect_room(at.len(), tag.len())?;
        at.iter().try_for_each(|point| self.expect_point(*point))?;
        let first = self.request.counts;
        let probes = first..first + at.len() as u32;
        if let Some(point) = at.first() {
            self.request.tag(ProbeKind::Count, *point, &probes, &tag);
        }
        self.add(at.iter().zip(first..).map(|(point, probe)| Edit {
            point: *point,
            action: Action::Count(probe),
        }))?;
        self.request.counts = probes.end;
        self.tag_bytes = tag_bytes;
        Ok(probes)
    }

    /// Requests a span over a method and returns its number.
    ///
    /// # Errors
    /// The method cannot have a span, or a limit is reached.
    pub fn span(&mut self, method: MethodIndex, capture: &edits::Capture, tag: Tag) -> Answer<u32> {
        let tag = self.tag(tag)?;
        let tag_bytes = self.expect_room(1, tag.len())?;
        let capture = capture_of(capture);
        let spans = &mut self.request.spans;
        let added = spans.add(self.class.class(), method, capture);
        let number = added.map_err(|error| self.refuse_unsuitable(&error))?;
        let location = Location::Entry;
        let point = InsertionPoint { method, location };
        let probes = number..number + 1;
        self.request.tag(ProbeKind::Span, point, &probes, &tag);
        self.tag_bytes = tag_bytes;
        Ok(number)
    }

    /// Requests events at points. Returns their numbers and the checked values.
    ///
    /// # Errors
    /// A value is missing at a point, an instruction already has such an event or a change, or a limit is reached.
    pub fn event(
        &mut self,
        at: &[InsertionPoint],
        event: Event,
        tag: Tag,
    ) -> Answer<(Range<u32>, Arc<EventValues>)> {
        let values = EventValues::of(event).map_err(|refused| self.refuse(refused))?;
        let values = Arc::new(values);
        let tag = self.tag(tag)?;
        let tag_bytes = self.expect_room(at.len(), tag.len())?;
        let code_bytes = self.with_code(values.bytes().saturating_mul(at.len()))?;
        let points = at.to_vec();
        self.expect_values(&points, &values)?;
        let first = self.request.events.len() as u32;
        let probes = first..first + points.len() as u32;
        if let Some(point) = points.first() {
            self.request.tag(ProbeKind::Event, *point, &probes, &tag);
        }
        let request = |point| EventRequest {
            point,
            values: Arc::clone(&values),
        };
        self.request.events.extend(points.into_iter().map(request));
        (self.tag_bytes, self.code_bytes) = (tag_bytes, code_bytes);
        Ok((probes, values))
    }

    /// Checks that the code of an event fits each of these points.
    fn expect_values(&mut self, points: &[InsertionPoint], values: &EventValues) -> Answer {
        let mut shapes: Vec<(Step, Vec<InsertionPoint>)> = Vec::new();
        for point in points {
            let step = values.check_step(self.class(), *point).map_err(|cause| {
                self.refuse(RefusedRequest::unsuitable(
                    instruction_at(point.location),
                    &cause,
                ))
            })?;
            match shapes.iter_mut().find(|(known, _)| *known == step) {
                Some((_, points)) => points.push(*point),
                None => shapes.push((step, vec![*point])),
            }
        }
        for (step, points) in shapes {
            match step {
                Step::Insert(code) => {
                    let points: Vec<_> = points.into_iter().map(EventRequest::in_front).collect();
                    self.check(|checker| checker.check_snippets(&points, &code))?;
                }
                Step::Around(code) => {
                    let at: Vec<_> = points.iter().filter_map(instruction_of).collect();
                    self.expect_unchanged(&at)?;
                    self.check(|checker| checker.check_changes(&at, &Change::Around(code)))?;
                }
            }
        }
        Ok(())
    }

    /// Checks that no other request replaces these instructions, and that each is listed once.
    fn expect_unchanged(&mut self, at: &[(MethodIndex, Bci)]) -> Answer {
        let mut taken: HashSet<(MethodIndex, Bci)> = self.changed_instructions().collect();
        match at.iter().find(|one| !taken.insert(**one)) {
            None => Ok(()),
            Some((_, bci)) => {
                let cause =
                    "the instruction already has a change, or an event with its operands or result";
                let refused = RefusedRequest::unsuitable(Some(bci.0), &cause);
                Err(self.refuse(RefusedRequest {
                    help: Some("request one event with all values"),
                    ..refused
                }))
            }
        }
    }

    /// Returns the instructions that the plan replaces.
    fn changed_instructions(&self) -> impl Iterator<Item = (MethodIndex, Bci)> {
        let edits = self.request.plan.edits().iter().map(|edit| edit.point);
        let events = self.request.events.iter();
        let events = events.filter(|event| event.values.needs_instruction());
        let points = edits.chain(events.map(|event| event.point));
        points.filter_map(|point| instruction_of(&point))
    }

    /// Requests a change of the behaviour or the structure of the class.
    ///
    /// # Errors
    /// The edit does not fit a point or the class, the JVM does not allow it for a loaded class, or a limit is reached.
    pub fn edit(&mut self, edit: edits::Edit) -> Answer {
        use edits::Edit;
        match edit {
            Edit::Insert(at, code) => self.insert(at, &code),
            Edit::Wrap(at, before, after) => self.wrap(&at, &before, &after),
            Edit::Around(at, code) => {
                let code = self.inserted(&code)?;
                let bytes = OPERATION_BYTES + code.bytes;
                self.change(&at, &Change::Around(code.snippet), bytes)
            }
            Edit::Redirect(at, by) => {
                let bytes = OPERATION_BYTES + by.text();
                let change = self.redirection(by)?;
                self.change(&at, &change, bytes)
            }
            Edit::RedirectAllocation(at, method) => {
                let bytes = OPERATION_BYTES + method.text();
                self.change(&at, &Change::Factory(method), bytes)
            }
            Edit::Allocate(at, class, cast) => {
                let bytes = OPERATION_BYTES + class.len();
                self.change(&at, &Change::New { class, cast }, bytes)
            }
            Edit::Remove(at, value) => {
                let bytes = OPERATION_BYTES + value.as_ref().map_or(0, text_of_constant);
                self.change(&at, &Change::Remove(value), bytes)
            }
            Edit::ReplaceClass(bytes) => self.replace_class(bytes),
            Edit::ReplaceBody(method, body) => {
                let body = self.assemble(&body)?;
                let edit = ClassEdit::ReplaceBody {
                    method,
                    body: body.snippet,
                };
                self.edit_class(edit, body.bytes)
            }
            Edit::AddField(field) => self.add_field(field),
            Edit::AddMethod(flags, name, descriptor, body) => {
                self.add_method(flags, name, descriptor, body.as_deref())
            }
            Edit::AddInterface(name) => {
                let bytes = ELEMENT_BYTES + name.len();
                self.edit_class(ClassEdit::AddInterface(name), bytes)
            }
            Edit::Annotate(target, visibility, value) => {
                let value = CountedAnnotation::of(value);
                let value = value.map_err(|refused| self.refuse(refused))?;
                let edit = ClassEdit::AddAnnotation {
                    target: target_of(target),
                    visible: visibility == Visibility::Visible,
                    annotation: value.annotation,
                };
                self.edit_class(edit, ELEMENT_BYTES + value.bytes)
            }
            Edit::RenameMember(member, to) => {
                let bytes = ELEMENT_BYTES + member.text() + to.len();
                self.edit_class(ClassEdit::RenameMember { member, to }, bytes)
            }
            Edit::RenameType(from, to) => self.rename_type(from, to),
            Edit::AddAttribute(target, name, contents) => {
                self.add_attribute(target_of(target), name, contents)
            }
        }
    }

    fn assemble(&mut self, code: &[Instruction]) -> Answer<CountedSnippet> {
        CountedSnippet::of(code).map_err(|refused| self.refuse(refused))
    }

    fn inserted(&mut self, code: &[Instruction]) -> Answer<CountedSnippet> {
        CountedSnippet::inserted(code).map_err(|refused| self.refuse(refused))
    }

    /// Requests code at points.
    fn insert(&mut self, points: Vec<InsertionPoint>, code: &[Instruction]) -> Answer {
        self.expect_room(points.len(), 0)?;
        let code = self.inserted(code)?;
        let code_bytes = self.with_code(code.bytes)?;
        self.check(|checker| checker.check_snippets(&points, &code.snippet))?;
        self.add_code(points, &code.snippet)?;
        self.code_bytes = code_bytes;
        Ok(())
    }

    /// Requests code before and after each instruction.
    fn wrap(
        &mut self,
        at: &[InsertionPoint],
        before: &[Instruction],
        after: &[Instruction],
    ) -> Answer {
        let (before, after) = (self.inserted(before)?, self.inserted(after)?);
        let at = self.instructions(at)?;
        let points = |location: fn(Bci) -> Location| {
            let point = |(method, bci): &(MethodIndex, Bci)| InsertionPoint {
                method: *method,
                location: location(*bci),
            };
            at.iter().map(point).collect::<Vec<_>>()
        };
        let (fronts, backs) = (points(Location::Before), points(Location::FallThrough));
        self.expect_room(fronts.len() + backs.len(), 0)?;
        let code_bytes = self.with_code(before.bytes.saturating_add(after.bytes))?;
        for (points, code) in [(&fronts, &before), (&backs, &after)] {
            self.check(|checker| checker.check_snippets(points, &code.snippet))?;
        }
        self.add_code(fronts, &before.snippet)?;
        self.add_code(backs, &after.snippet)?;
        self.code_bytes = code_bytes;
        Ok(())
    }

    /// Returns the change that replaces an instruction by another call or field access.
    fn redirection(&mut self, by: Instruction) -> Answer<Change> {
        let opcode = u8::try_from(by.opcode).unwrap_or_default();
        match by.operand {
            Operand::Member(field) if matches!(opcode, opcode::GETSTATIC..=opcode::PUTFIELD) => {
                Ok(Change::Field { opcode, field })
            }
            Operand::Member(method) => Ok(Change::Call(CallTarget { opcode, method })),
            _ => Err(self.refuse_unsuitable(&"expected a call or a field access with a member")),
        }
    }

    /// Requests a change that counts as `bytes` at each instruction.
    fn change(&mut self, at: &[InsertionPoint], change: &Change, bytes: usize) -> Answer {
        self.expect_room(at.len(), 0)?;
        let code_bytes = self.with_code(bytes.saturating_mul(at.len()))?;
        let at = self.instructions(at)?;
        self.expect_without_events(&at)?;
        self.check(|checker| checker.check_changes(&at, change))?;
        let plan = &mut self.request.plan;
        let mut at = at.into_iter();
        let added = at.try_for_each(|(method, bci)| plan.change(method, bci, change.clone()));
        added.map_err(|error| self.refuse_full(&error))?;
        self.code_bytes = code_bytes;
        Ok(())
    }

    /// Checks that no event surrounds one of these instructions.
    fn expect_without_events(&mut self, at: &[(MethodIndex, Bci)]) -> Answer {
        if !self.request.events.is_empty() {
            let events = self.request.events.iter();
            let around = events.filter(|event| event.values.needs_instruction());
            let taken: HashSet<_> = around
                .filter_map(|event| instruction_of(&event.point))
                .collect();
            if let Some((_, bci)) = at.iter().find(|one| taken.contains(*one)) {
                let cause = "the instruction has an event with its operands or result";
                return Err(self.refuse(RefusedRequest::unsuitable(Some(bci.0), &cause)));
            }
        }
        Ok(())
    }

    fn add_field(&mut self, field: edits::Field) -> Answer {
        let text = field.value.as_ref().map_or(0, text_of_constant);
        let bytes = ELEMENT_BYTES + field.name.len() + field.descriptor.len() + text;
        let edit = ClassEdit::AddField(NewField {
            flags: field.access_flags,
            name: field.name,
            descriptor: field.descriptor,
            value: field.value,
        });
        self.edit_class(edit, bytes)
    }

    fn add_method(
        &mut self,
        flags: u16,
        name: String,
        descriptor: String,
        body: Option<&[Instruction]>,
    ) -> Answer {
        let body = body.map(|body| self.assemble(body)).transpose()?;
        let code = body.as_ref().map_or(0, |body| body.bytes);
        let bytes = ELEMENT_BYTES + name.len() + descriptor.len() + code;
        let edit = ClassEdit::AddMethod(NewMethod {
            flags,
            name,
            descriptor,
            body: body.map(|body| body.snippet),
        });
        self.edit_class(edit, bytes)
    }

    /// Requests a new name of a type. The class itself keeps its name.
    fn rename_type(&mut self, from: String, to: String) -> Answer {
        if self.class().this_class() == from.as_str() {
            let cause = format!("{from} keeps its name: the JVM loads the class by it");
            return Err(self.refuse_unsuitable(&cause));
        }
        let bytes = ELEMENT_BYTES + from.len() + to.len();
        self.edit_class(ClassEdit::RenameType { from, to }, bytes)
    }

    /// Requests an attribute that the JVM does not read.
    fn add_attribute(&mut self, target: Target, name: String, contents: Vec<u8>) -> Answer {
        if is_predefined(&name) {
            let cause =
                format!("expected an attribute that the JVM ignores (JVMS 4.7), found {name}");
            return Err(self.refuse_unsuitable(&cause));
        }
        let bytes = ELEMENT_BYTES + name.len() + contents.len();
        let edit = ClassEdit::AddAttribute {
            target,
            name,
            bytes: contents,
        };
        self.edit_class(edit, bytes)
    }

    /// Requests a class file that replaces the class.
    fn replace_class(&mut self, bytes: Vec<u8>) -> Answer {
        if bytes.len() > MAX_CLASS_BYTES {
            let message = format!(
                "expected a class file of at most {MAX_CLASS_BYTES} bytes, found {}",
                bytes.len()
            );
            return Err(self.refuse(RefusedRequest::limit(message, None)));
        }
        if self.request.replacement.is_some() {
            return Err(self.refuse_unsuitable(&"the class is replaced already"));
        }
        let mut edits = self.request.plan.class_edits().iter();
        if edits.any(|edit| !matches!(edit, ClassEdit::ReplaceBody { .. })) {
            return Err(self.refuse_unsuitable(&BOTH));
        }
        if self.class().bytes() == bytes {
            return Ok(());
        }
        if let Err(error) = rewriter::check_replacement(self.class(), &bytes) {
            let cause = format!("the class file cannot replace the class: {error}");
            return Err(self.refuse_unsuitable(&cause));
        }
        self.request.replacement = Some(bytes);
        Ok(())
    }

    /// Requests helper classes, which the edits of the class may name. Returns their internal names in the same order.
    ///
    /// # Errors
    /// A class file is invalid, has supertypes outside `java/` and these classes, or there are too many.
    pub fn define_helpers(&mut self, files: &[Vec<u8>]) -> Answer<Vec<String>> {
        expect_room_for_helpers(&self.request, files).map_err(|refused| self.refuse(refused))?;
        let user = self.class().this_class().to_str_lossless().into_owned();
        let placed = crate::place_helpers(&user, files);
        let placed = placed.map_err(|error| self.refuse_unsuitable(&error))?;
        let names = placed.iter().map(|helper| helper.name.clone()).collect();
        let helpers = &mut self.request.helpers;
        for helper in placed {
            if helpers.iter().all(|there| there.name != helper.name) {
                helpers.push(helper);
            }
        }
        Ok(names)
    }

    /// Keeps a note about an insertion point, up to a limit, and returns the kept part.
    pub fn note(&mut self, point: InsertionPoint, mut text: String) -> Option<&Note> {
        if self.request.notes.len() == MAX_NOTES {
            return None;
        }
        escape::cut(&mut text, MAX_NOTE_BYTES);
        self.request.notes.push(Note { point, text });
        self.request.notes.last()
    }

    fn edit_class(&mut self, edit: ClassEdit, bytes: usize) -> Answer {
        self.expect_room(1, 0)?;
        let in_code = matches!(edit, ClassEdit::ReplaceBody { .. });
        if self.request.replacement.is_some() && !in_code {
            return Err(self.refuse_unsuitable(&BOTH));
        }
        if self.request.plan.class_edits().len() == MAX_CLASS_EDITS {
            let message = format!("expected at most {MAX_CLASS_EDITS} edits of the class itself");
            let help = "add fewer, larger members";
            return Err(self.refuse(RefusedRequest::limit(message, Some(help))));
        }
        // Refused code counts, too: the checker keeps it.
        self.code_bytes = self.with_code(bytes)?;
        let loaded = self.class.is_retransforming();
        self.check(|checker| checker.check_class_edit(&edit, loaded))?;
        let added = self.request.plan.edit_class(edit);
        added.map_err(|error| self.refuse_full(&error))
    }

    fn add_code(&mut self, points: Vec<InsertionPoint>, code: &Snippet) -> Answer {
        let kept = self.request.plan.keep(code.clone());
        let action = Action::Insert(kept.map_err(|error| self.refuse_full(&error))?);
        self.add(points.into_iter().map(|point| Edit { point, action }))
    }

    fn add(&mut self, edits: impl IntoIterator<Item = Edit>) -> Answer {
        let plan = &mut self.request.plan;
        let added = edits.into_iter().try_for_each(|edit| plan.push(edit));
        added.map_err(|error| self.refuse_full(&error))
    }

    /// Returns the instructions at points, all of which must be points of instructions.
    fn instructions(&mut self, at: &[InsertionPoint]) -> Answer<Vec<(MethodIndex, Bci)>> {
        at.iter()
            .map(|point| {
                instruction_of(point).ok_or_else(|| {
                    let found = point.location;
                    let cause = format!("expected an instruction, found the location `{found}`");
                    let refused = RefusedRequest::unsuitable(instruction_at(found), &cause);
                    self.refuse(RefusedRequest {
                        help: Some("use the point of the instruction itself (kind 5)"),
                        ..refused
                    })
                })
            })
            .collect()
    }

    /// Calls the checker.
    fn check(&mut self, ask: impl FnOnce(&mut Checker<'_>) -> Result<(), PlanError>) -> Answer {
        let asked = self.class.check(ask);
        asked.map_err(|error| self.refuse(RefusedRequest::unsuitable(bci_of(&error), &error)))
    }

    /// Adds edits and tag bytes, checks both limits, and returns the new tag bytes.
    fn expect_room(&mut self, edits: usize, tag_bytes: usize) -> Answer<usize> {
        let edits = self.request.edits() + edits;
        let tag_bytes = self.tag_bytes + tag_bytes;
        let (message, help) = if edits > MAX_EDITS {
            (
                format!("expected at most {MAX_EDITS} edits to one class, found {edits}"),
                "instrument fewer locations of large classes",
            )
        } else if tag_bytes > MAX_TAG_BYTES {
            (
                format!(
                    "expected at most {MAX_TAG_BYTES} bytes of tags in one class, found {tag_bytes}"
                ),
                "keep tags short: they are meant for keys",
            )
        } else {
            return Ok(tag_bytes);
        };
        Err(self.refuse(RefusedRequest::limit(message, Some(help))))
    }

    /// Adds bytes of code and structure, and checks the limit.
    fn with_code(&mut self, bytes: usize) -> Answer<usize> {
        let bytes = self.code_bytes.saturating_add(bytes);
        if bytes <= MAX_CODE_BYTES {
            return Ok(bytes);
        }
        let message = format!(
            "expected at most {MAX_CODE_BYTES} bytes of added code and members in one class, found {bytes}"
        );
        let help = "insert one snippet at many sites, and calls instead of long code";
        Err(self.refuse(RefusedRequest::limit(message, Some(help))))
    }

    fn refuse_at(&mut self, point: InsertionPoint, error: &PlanError) -> RefusedRequest {
        self.refuse(RefusedRequest::unsuitable(
            instruction_at(point.location),
            error,
        ))
    }

    fn refuse_full(&mut self, error: &PlanError) -> RefusedRequest {
        self.refuse(RefusedRequest::limit(error.to_string(), None))
    }
}

/// Returns the instruction of a point.
fn instruction_of(point: &InsertionPoint) -> Option<(MethodIndex, Bci)> {
    match point.location {
        Location::At(bci) => Some((point.method, bci)),
        _ => None,
    }
}

/// Returns the refused instruction.
fn bci_of(error: &PlanError) -> Option<u16> {
    match error {
        PlanError::Snippet { point, .. }
        | PlanError::NotThere { point, .. }
        | PlanError::Misplaced { point } => instruction_at(point.location),
        PlanError::Change { bci, .. }
        | PlanError::NotAnInstruction { bci, .. }
        | PlanError::NoFallThrough { bci, .. }
        | PlanError::NoJump { bci, .. } => Some(bci.0),
        _ => None,
    }
}

/// Returns the `…return` and `athrow` instructions of a method, in order.
fn exits_of(method: Method<'_, '_>) -> Vec<Bci> {
    let code = method.code().ok().flatten();
    let all = code
        .into_iter()
        .flat_map(|code| code.instructions())
        .flatten();
    let leaves =
        all.filter(|found| opcode::is_return(found.opcode) || found.opcode == opcode::ATHROW);
    leaves.map(|found| found.bci).collect()
}

/// Returns the bci of an instruction location.
#[must_use]
pub fn instruction_at(place: Location) -> Option<u16> {
    match place {
        Location::Before(bci)
        | Location::At(bci)
        | Location::FallThrough(bci)
        | Location::Jump { source: bci, .. } => Some(bci.0),
        Location::Entry | Location::Unwind => None,
    }
}

/// Returns the rewriter's form of a target.
fn target_of(target: edits::Target) -> Target {
    match target {
        edits::Target::Class => Target::Class,
        edits::Target::Field(field) => Target::Field {
            name: field.name,
            descriptor: field.descriptor,
        },
        edits::Target::Method(index) => Target::Method(MethodIndex(index)),
    }
}

/// Returns the rewriter's form of the values of a span.
fn capture_of(capture: &edits::Capture) -> Capture {
    let mut result = Capture {
        returned: capture.returned,
        thrown: capture.thrown,
        sum_up: capture.summed_up,
        ..Capture::default()
    };
    if let Some(bytes) = capture.limit {
        result.limit = bytes.min(MAX_LIMIT);
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

/// Returns the bytes of text in a constant.
fn text_of_constant(value: &Constant) -> usize {
    match value {
        Constant::Text(text) => text.len(),
        _ => 0,
    }
}
