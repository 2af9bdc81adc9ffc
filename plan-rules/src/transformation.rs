//! The work of one plugin on one class: insertion points and requests.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use crate::span::Capture;
use jvms::opcode;
use rewriter::{
    Action, Bci, Change, ClassEdit, ClassFile, Constant, Edit, InsertionPoint, Location, Member,
    Method, MethodIndex, NewField, NewMethod, PlanError, Snippet, Target,
};

use crate::annotation::AnnotationBuilder;
use crate::attributes::is_predefined;
use crate::class::{CheckedClass, Checker};
use crate::event::{EventRequest, EventValues, Step};
use crate::helpers::{expect_room_for_helpers, helper_bytes};
use crate::limits::{
    EDIT_BYTES, ELEMENT_BYTES, MAX_CLASS_BYTES, MAX_CLASS_EDITS, MAX_CODE_BYTES, MAX_EDITS,
    MAX_NOTE_BYTES, MAX_NOTES, MAX_TAG_BYTES, OPERATION_BYTES,
};
use crate::points::{InsertionPoints, instruction_at};
use crate::refusal::RefusedRequest;
use crate::request::{Note, PlanRequest, ProbeKind};
use crate::row::Row;
use crate::snippet::{SnippetBuilder, text_of};

/// Message for a class that is both edited and replaced.
const BOTH: &str = "a replaced class keeps its members and names: replace the class file or edit the class, not both";

/// The result of a request.
type Answer<T = ()> = Result<T, RefusedRequest>;

/// One call of a plugin's `transform`. Each request is checked when it is made, and accepted or refused as a whole.
#[derive(Debug)]
pub struct Transformation {
    class: CheckedClass,
    request: PlanRequest,
    points: InsertionPoints,
    /// The last refusal, for the message if the plugin then fails.
    refused: Option<RefusedRequest>,
    /// The method that the plugin queried last.
    method: Option<MethodIndex>,
    tag_bytes: usize,
    code_bytes: usize,
}

impl Transformation {
    /// Creates a transformation without requests. Its insertion points are valid only in the class of this number.
    #[must_use]
    pub fn new(class: CheckedClass, number: u32) -> Self {
        Self::with(class, number, PlanRequest::default())
    }

    /// Does the same as [`Transformation::new`] with the memory of an earlier request.
    #[must_use]
    pub fn with(mut class: CheckedClass, number: u32, mut memory: PlanRequest) -> Self {
        class.begin();
        memory.clear();
        Self {
            class,
            request: memory,
            points: InsertionPoints::of_class(number),
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

    /// Returns the bytes of all requests, insertion points included.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let PlanRequest { tags, notes, .. } = &self.request;
        let notes: usize =
            notes.iter().map(|note| note.text.len()).sum::<usize>() + notes.len() * EDIT_BYTES;
        let edits = (self.request.edits() + tags.len()) * EDIT_BYTES;
        let class = self.request.replacement.as_ref().map_or(0, Vec::len);
        let helpers = helper_bytes(&self.request);
        self.points.bytes() + self.tag_bytes + self.code_bytes + edits + notes + class + helpers
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

    /// Creates insertion points for locations, if all exist. Returns the range of their tokens.
    ///
    /// # Errors
    /// A location does not exist, or there are too many.
    pub fn make_points(
        &mut self,
        points: impl ExactSizeIterator<Item = InsertionPoint>,
    ) -> Answer<Range<u64>> {
        self.points
            .make(&mut self.class, points)
            .map_err(|(point, refused)| {
                if let Some(point) = point {
                    self.method = Some(point.method);
                }
                self.refused = Some(refused.clone());
                refused
            })
    }

    /// Does the same as [`Transformation::make_points`] for packed locations of the interface.
    ///
    /// # Errors
    /// As [`Transformation::make_points`], and for a number that encodes no location.
    pub fn make_points_of(&mut self, places: &[u64]) -> Answer<Range<u64>> {
        let mut points = Vec::with_capacity(places.len());
        for place in places {
            points.push(self.place(*place)?);
        }
        self.make_points(points.into_iter())
    }

    /// Unpacks a location of the interface.
    fn place(&mut self, place: u64) -> Answer<InsertionPoint> {
        InsertionPoint::unpacked(place).ok_or_else(|| {
            let cause = format!("expected a packed location, found {place:#x}");
            self.refuse_unsuitable(&cause)
        })
    }

    /// Creates the insertion point of a location that every method with code has. Its use checks that the method has
    /// code.
    ///
    /// # Errors
    /// There are too many insertion points, which ends the plugin's work on the class.
    pub fn make_known_point(&mut self, point: InsertionPoint) -> Answer<u64> {
        self.make_known_points(std::iter::once(point))
            .map(|tokens| tokens.start)
    }

    /// Creates the insertion points before every return instruction and `athrow` of a method.
    ///
    /// # Errors
    /// As [`Transformation::make_known_point`].
    pub fn make_return_points(&mut self, method: MethodIndex) -> Answer<Range<u64>> {
        let leaves = self.class().method(method).map_or_else(Vec::new, exits_of);
        let point = |bci| InsertionPoint {
            method,
            location: Location::Before(bci),
        };
        self.make_known_points(leaves.into_iter().map(point))
    }

    fn make_known_points(
        &mut self,
        points: impl Iterator<Item = InsertionPoint>,
    ) -> Answer<Range<u64>> {
        let made = self.points.make_known(points);
        made.map_err(|refused| self.refuse(refused))
    }

    /// Returns the location for a token.
    #[must_use]
    pub fn point(&self, token: u64) -> Option<InsertionPoint> {
        self.points.find(token)
    }

    /// Requests hit probes at insertion points and returns their numbers.
    ///
    /// # Errors
    /// A point is unknown, its method has no code, or a limit is reached.
    pub fn hit(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Answer<Range<u32>> {
        self.expect_no_row(tag)?;
        let first = self.request.hits;
        let probes = self.probes(ProbeKind::Hit, first, Action::Hit, tokens, tag)?;
        self.request.hits = probes.end;
        Ok(probes)
    }

    /// Requests hit probes at packed locations and returns their numbers.
    ///
    /// # Errors
    /// A location does not exist, or a limit is reached.
    pub fn hit_places(&mut self, places: &[u64], tag: &[u8]) -> Answer<Range<u32>> {
        self.expect_no_row(tag)?;
        let tag_bytes = self.expect_room(places.len(), tag.len())?;
        for place in places {
            let point = self.place(*place)?;
            self.expect_point(point)?;
        }
        let first = self.request.hits;
        let points = places
            .iter()
            .filter_map(|place| InsertionPoint::unpacked(*place));
        self.request.plan.reserve(places.len());
        for (point, probe) in points.zip(first..) {
            let added = self.request.plan.hit(point, probe);
            added.map_err(|error| self.refuse_full(&error))?;
        }
        let probes = first..first + places.len() as u32;
        if let Some(point) = places
            .first()
            .and_then(|place| InsertionPoint::unpacked(*place))
        {
            self.request.tag(ProbeKind::Hit, point, &probes, tag);
        }
        self.request.hits = probes.end;
        self.tag_bytes = tag_bytes;
        Ok(probes)
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

    /// Checks that a tag is no table row.
    fn expect_no_row(&mut self, tag: &[u8]) -> Answer {
        let Some(row) = Row::of_tag(tag) else {
            return Ok(());
        };
        let cause =
            format!("expected a count or a span for the {row}, found a hit, which has no number");
        Err(self.refuse_unsuitable(&cause))
    }

    /// Requests counters at insertion points and returns their numbers.
    ///
    /// # Errors
    /// As [`Transformation::hit`].
    pub fn count(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Answer<Range<u32>> {
        let first = self.request.counts;
        let probes = self.probes(ProbeKind::Count, first, Action::Count, tokens, tag)?;
        self.request.counts = probes.end;
        Ok(probes)
    }

    fn probes(
        &mut self,
        kind: ProbeKind,
        first: u32,
        action: fn(u32) -> Action,
        tokens: impl ExactSizeIterator<Item = u64>,
        tag: &[u8],
    ) -> Answer<Range<u32>> {
        let tag_bytes = self.expect_room(tokens.len(), tag.len())?;
        let mut edits = Vec::with_capacity(tokens.len());
        for (token, probe) in tokens.zip(first..) {
            let point = self.known_point(token)?;
            let suits = self.expect_code(point);
            suits.map_err(|error| self.refuse_at(point, &error))?;
            let action = action(probe);
            edits.push(Edit { point, action });
        }
        let probes = first..first + edits.len() as u32;
        if let Some(edit) = edits.first() {
            self.request.tag(kind, edit.point, &probes, tag);
        }
        self.add(edits)?;
        self.tag_bytes = tag_bytes;
        Ok(probes)
    }

    /// Requests a span over a method and returns its number.
    ///
    /// # Errors
    /// The method cannot have a span, or a limit is reached.
    pub fn span(&mut self, method: MethodIndex, capture: Capture, tag: &[u8]) -> Answer<u32> {
        let tag_bytes = self.expect_room(1, tag.len())?;
        let spans = &mut self.request.spans;
        let added = spans.add(self.class.class(), method, capture);
        let number = added.map_err(|error| self.refuse_unsuitable(&error))?;
        let location = Location::Entry;
        let point = InsertionPoint { method, location };
        let probes = number..number + 1;
        self.request.tag(ProbeKind::Span, point, &probes, tag);
        self.tag_bytes = tag_bytes;
        Ok(number)
    }

    /// Requests events at insertion points and returns their numbers.
    ///
    /// # Errors
    /// A value is missing at a point, an instruction already has such an event or a change, or a limit is reached.
    pub fn event(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        values: &Arc<EventValues>,
        tag: &[u8],
    ) -> Answer<Range<u32>> {
        let tag_bytes = self.expect_room(tokens.len(), tag.len())?;
        let code_bytes = self.with_code(values.bytes().saturating_mul(tokens.len()))?;
        let mut points = Vec::with_capacity(tokens.len());
        for token in tokens {
            points.push(self.known_point(token)?);
        }
        self.expect_values(&points, values)?;
        let first = self.request.events.len() as u32;
        let probes = first..first + points.len() as u32;
        if let Some(point) = points.first() {
            self.request.tag(ProbeKind::Event, *point, &probes, tag);
        }
        let request = |point| EventRequest {
            point,
            values: Arc::clone(values),
        };
        self.request.events.extend(points.into_iter().map(request));
        (self.tag_bytes, self.code_bytes) = (tag_bytes, code_bytes);
        Ok(probes)
    }

    /// Checks that the code of an event fits each of these points.
    fn expect_values(&mut self, points: &[InsertionPoint], values: &EventValues) -> Answer {
        if let Some(refused) = values.refused() {
            return Err(self.refuse(refused.clone()));
        }
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

    /// Requests code at insertion points.
    ///
    /// # Errors
    /// The code does not fit a point, or a limit is reached.
    pub fn insert(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        code: &SnippetBuilder,
    ) -> Answer {
        self.expect_room(tokens.len(), 0)?;
        let code_bytes = self.with_code(code.bytes())?;
        let mut points = Vec::with_capacity(tokens.len());
        for token in tokens {
            points.push(self.known_point(token)?);
        }
        self.check(|checker| checker.check_snippets(&points, code.snippet()))?;
        self.add_code(points, code.snippet())?;
        self.code_bytes = code_bytes;
        Ok(())
    }

    /// Requests code before and after each instruction.
    ///
    /// # Errors
    /// The code does not fit a point, or a limit is reached.
    pub fn wrap(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        before: &SnippetBuilder,
        after: &SnippetBuilder,
    ) -> Answer {
        let at = self.instructions(tokens)?;
        let points = |location: fn(Bci) -> Location| {
            let point = |(method, bci): &(MethodIndex, Bci)| InsertionPoint {
                method: *method,
                location: location(*bci),
            };
            at.iter().map(point).collect::<Vec<_>>()
        };
        let (fronts, backs) = (points(Location::Before), points(Location::FallThrough));
        self.expect_room(fronts.len() + backs.len(), 0)?;
        let code_bytes = self.with_code(before.bytes().saturating_add(after.bytes()))?;
        for (points, code) in [(&fronts, before), (&backs, after)] {
            self.check(|checker| checker.check_snippets(points, code.snippet()))?;
        }
        self.add_code(fronts, before.snippet())?;
        self.add_code(backs, after.snippet())?;
        self.code_bytes = code_bytes;
        Ok(())
    }

    /// Requests a change of each of these instructions.
    ///
    /// # Errors
    /// The change does not suit an instruction, or a limit is reached.
    pub fn change(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        change: &Change,
    ) -> Answer {
        let bytes = OPERATION_BYTES + text_of_change(change);
        self.change_of(tokens, change, bytes)
    }

    /// Requests code around each of these instructions.
    ///
    /// # Errors
    /// As [`Transformation::change`].
    pub fn around(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        code: &SnippetBuilder,
    ) -> Answer {
        let change = Change::Around(code.snippet().clone());
        self.change_of(tokens, &change, OPERATION_BYTES + code.bytes())
    }

    /// Requests a change that counts as `bytes` at each instruction.
    fn change_of(
        &mut self,
        tokens: impl ExactSizeIterator<Item = u64>,
        change: &Change,
        bytes: usize,
    ) -> Answer {
        self.expect_room(tokens.len(), 0)?;
        let code_bytes = self.with_code(bytes.saturating_mul(tokens.len()))?;
        let at = self.instructions(tokens)?;
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

    /// Requests a new body of a method.
    ///
    /// # Errors
    /// The body does not fit the method, or a limit is reached.
    pub fn replace_body(&mut self, method: MethodIndex, body: &SnippetBuilder) -> Answer {
        let edit = ClassEdit::ReplaceBody {
            method,
            body: body.snippet().clone(),
        };
        self.edit_class(edit, body.bytes())
    }

    /// Requests a field.
    ///
    /// # Errors
    /// The class or the JVM (for a loaded class) does not allow the field, or a limit is reached.
    pub fn add_field(&mut self, field: NewField) -> Answer {
        let text = field.value.as_ref().map_or(0, text_of_constant);
        let bytes = ELEMENT_BYTES + field.name.len() + field.descriptor.len() + text;
        self.edit_class(ClassEdit::AddField(field), bytes)
    }

    /// Requests a method; without a body it is abstract or native.
    ///
    /// # Errors
    /// As [`Transformation::add_field`].
    pub fn add_method(
        &mut self,
        flags: u16,
        name: String,
        descriptor: String,
        body: Option<&SnippetBuilder>,
    ) -> Answer {
        let code = body.map_or(0, SnippetBuilder::bytes);
        let bytes = ELEMENT_BYTES + name.len() + descriptor.len() + code;
        let edit = ClassEdit::AddMethod(NewMethod {
            flags,
            name,
            descriptor,
            body: body.map(|body| body.snippet().clone()),
        });
        self.edit_class(edit, bytes)
    }

    /// Requests a direct superinterface.
    ///
    /// # Errors
    /// As [`Transformation::add_field`].
    pub fn add_interface(&mut self, name: String) -> Answer {
        let bytes = ELEMENT_BYTES + name.len();
        self.edit_class(ClassEdit::AddInterface(name), bytes)
    }

    /// Requests an annotation.
    ///
    /// # Errors
    /// As [`Transformation::add_field`].
    pub fn annotate(&mut self, target: Target, visible: bool, value: &AnnotationBuilder) -> Answer {
        let bytes = ELEMENT_BYTES + value.bytes();
        let edit = ClassEdit::AddAnnotation {
            target,
            visible,
            annotation: value.annotation().clone(),
        };
        self.edit_class(edit, bytes)
    }

    /// Requests a new name of a member, wherever the class declares or names it.
    ///
    /// # Errors
    /// As [`Transformation::add_field`].
    pub fn rename_member(&mut self, member: Member, to: String) -> Answer {
        let bytes = ELEMENT_BYTES + text_of(&member) + to.len();
        self.edit_class(ClassEdit::RenameMember { member, to }, bytes)
    }

    /// Requests a new name of a type, wherever the class names it.
    ///
    /// # Errors
    /// As [`Transformation::add_field`], and for the class itself, which the JVM loads by its name.
    pub fn rename_type(&mut self, from: String, to: String) -> Answer {
        if self.class().this_class() == from.as_str() {
            let cause = format!("{from} keeps its name: the JVM loads the class by it");
            return Err(self.refuse_unsuitable(&cause));
        }
        let bytes = ELEMENT_BYTES + from.len() + to.len();
        self.edit_class(ClassEdit::RenameType { from, to }, bytes)
    }

    /// Requests an attribute.
    ///
    /// # Errors
    /// As [`Transformation::add_field`], and for the name of an attribute that the JVM reads.
    pub fn add_attribute(&mut self, target: Target, name: String, contents: Vec<u8>) -> Answer {
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
    ///
    /// # Errors
    /// The class file is invalid, is another class, has another shape, or is too long.
    /// The class may also have a replacement already.
    pub fn replace_class(&mut self, bytes: Vec<u8>) -> Answer {
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
    pub fn note(&mut self, token: u64, mut text: String) -> Option<&Note> {
        let point = self.point(token)?;
        if self.request.notes.len() == MAX_NOTES {
            return None;
        }
        text.truncate(text.floor_char_boundary(MAX_NOTE_BYTES));
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

    /// Returns the instructions at insertion points, all of which must be instruction locations.
    fn instructions(
        &mut self,
        tokens: impl Iterator<Item = u64>,
    ) -> Answer<Vec<(MethodIndex, Bci)>> {
        tokens
            .map(|token| match self.known_point(token)? {
                InsertionPoint {
                    method,
                    location: Location::At(bci),
                } => Ok((method, bci)),
                point => {
                    let found = point.location;
                    let cause = format!("expected an instruction, found the location `{found}`");
                    let refused = RefusedRequest::unsuitable(instruction_at(found), &cause);
                    Err(self.refuse(RefusedRequest {
                        help: Some("get the sites of instructions from `method-view.at`"),
                        ..refused
                    }))
                }
            })
            .collect()
    }

    /// Calls the checker.
    fn check(&mut self, ask: impl FnOnce(&mut Checker<'_>) -> Result<(), PlanError>) -> Answer {
        let asked = self.class.check(ask);
        asked.map_err(|error| self.refuse(RefusedRequest::unsuitable(bci_of(&error), &error)))
    }

    /// Checks that code can be inserted. The points of `entry` and `unwind` are created without this check.
    fn expect_code(&self, point: InsertionPoint) -> Result<(), PlanError> {
        let method = point.method;
        let found = self.class().method(method);
        if !found.is_some_and(|found| found.has_code()) {
            return Err(PlanError::NoCode { method });
        }
        match point.location {
            Location::At(_) => Err(PlanError::Misplaced { point }),
            _ => Ok(()),
        }
    }

    /// Returns the location for a token, or the refusal for an unknown one.
    fn known_point(&mut self, token: u64) -> Answer<InsertionPoint> {
        self.point(token).ok_or_else(|| {
            let cause = format!("site {token:#x} was not made by a view of this class");
            self.refuse_unsuitable(&cause)
        })
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

/// Returns the bytes of text in an instruction change.
fn text_of_change(change: &Change) -> usize {
    match change {
        Change::Call(target) => text_of(&target.method),
        Change::Field { field, .. } => text_of(field),
        Change::Factory(method) => text_of(method),
        Change::New { class, .. } => class.len(),
        Change::Remove(value) => value.as_ref().map_or(0, text_of_constant),
        _ => 0,
    }
}

/// Returns the bytes of text in a constant.
fn text_of_constant(value: &Constant) -> usize {
    match value {
        Constant::Text(text) => text.len(),
        _ => 0,
    }
}
