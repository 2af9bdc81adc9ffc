//! The value at the end of the steps of a path: fields, elements, lengths and classes.

use super::collections::Collection;
use super::reader::Reader;
use super::refs::{LocalRef, jni};
use super::values::{FieldValue, ValueKind, element, field_of, read_text};
use conditions::Step;
use probes::spans::JvmValue;

/// Largest number of steps in a walk to an element.
const MOST_STEPS: u32 = 10_000;
/// The pseudo field for the message of an exception, and the field that contains it.
const MESSAGE: (&str, &str) = ("message", "detailMessage");

/// The end of a path without a value.
pub(super) enum PathEnd {
    /// A step after `null`, or beyond the end of an array.
    Nowhere,
    /// The class with this number has no field of this name, or no elements.
    NoField(u32, String),
}

impl<'a> Reader<'a> {
    /// The value at the end of the path `steps` from an object. Returns `None` if a step is null or beyond an end.
    pub fn read_at<'t>(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<JvmValue<'t>> {
        let found = match self.reach(object, steps) {
            Err(PathEnd::Nowhere) => return None,
            Err(PathEnd::NoField(class, name)) => {
                return Some(self.no_field(object, steps, class, &name));
            }
            Ok(Some(FieldValue::Object(None))) => return Some(JvmValue::Null),
            Ok(Some(FieldValue::Value(value))) => return Some(value),
            Ok(Some(FieldValue::Object(found))) => found,
            Ok(None) => None,
        };
        let object = found.as_ref().unwrap_or(object);
        if self.values.is_text(self.local, object) {
            return read_text(self.local, object, text);
        }
        self.describe(object, text)
    }

    /// Describes a missing field, with the names of the existing ones.
    fn no_field(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
        class: u32,
        name: &str,
    ) -> JvmValue<'static> {
        // Finds the object that lacks the field: the end of the longest valid prefix of the path.
        let lengths = (0..steps.len()).rev();
        let mut reached =
            lengths.filter_map(|length| self.reach(object, steps.get(..length)?).ok());
        let fields = match reached.next() {
            Some(Some(FieldValue::Object(Some(found)))) => self.fields(&found),
            Some(None) => self.fields(object),
            _ => None,
        };
        let fields = fields.iter().flat_map(|fields| fields.iter());
        let names: Vec<_> = fields
            .map(|listed| self.runtime.name(listed.name).to_string())
            .collect();
        let number = |text: &str| self.runtime.class(text);
        JvmValue::NoField(class, number(name), number(&names.join(",")))
    }

    /// The value at the end of the path `steps`. Returns `Ok(None)` without steps: the value is the object itself.
    ///
    /// # Errors
    ///
    /// The end of a path without a value.
    pub(super) fn reach(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
    ) -> Result<Option<FieldValue<'a>>, PathEnd> {
        let mut reached = None;
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let from = reached.as_ref().unwrap_or(object);
            let is_last = steps.len() == 0;
            match self.step(from, step)? {
                FieldValue::Object(Some(next)) => reached = Some(next),
                other if is_last => return Ok(Some(other)),
                FieldValue::Object(None) => return Err(PathEnd::Nowhere),
                FieldValue::Value(_) => return Err(self.of_primitive(steps.next())),
            }
        }
        Ok(reached.map(|found| FieldValue::Object(Some(found))))
    }

    /// The error of a step from a primitive value, which has no fields or elements.
    fn of_primitive(self, next: Option<&Step>) -> PathEnd {
        let name = match next {
            Some(Step::Field(name)) => name.clone(),
            Some(Step::Element(index)) => format!("[{index}]"),
            _ => "length".to_owned(),
        };
        PathEnd::NoField(self.runtime.class("a primitive value"), name)
    }

    fn step(self, object: &LocalRef<'_>, step: &Step) -> Result<FieldValue<'a>, PathEnd> {
        let (number, kind) = self.class_of(object).ok_or(PathEnd::Nowhere)?;
        let lacks = |name: String| PathEnd::NoField(number, name);
        match (step, kind) {
            (Step::Element(index), ValueKind::Array | ValueKind::Collection(_)) => {
                let found = match kind {
                    ValueKind::Array => element(self.jvmti, self.local, object, *index),
                    _ => self.element_of(object, (*index).into()),
                };
                found.ok_or(PathEnd::Nowhere)
            }
            (Step::Element(index), _) => Err(lacks(format!("[{index}]"))),
            (Step::Length, ValueKind::Text | ValueKind::Array) => Ok(self.length(object, kind)),
            (Step::Length, _) => {
                let found = self.reached_in(object, "length");
                found.ok_or_else(|| lacks("length".to_owned()))
            }
            (Step::Field(name), _) => self.field(object, name).ok_or_else(|| lacks(name.clone())),
            (Step::Class, _) => Ok(FieldValue::Value(JvmValue::Class(number))),
            (Step::Written(_) | Step::Declarer(_), _) => {
                self.named(object, step).ok_or(PathEnd::Nowhere)
            }
        }
    }

    fn length(self, object: &LocalRef<'_>, kind: ValueKind) -> FieldValue<'a> {
        let local = self.local;
        FieldValue::int(match kind {
            ValueKind::Text => jni!(local, v1_1.GetStringLength, object.as_raw()),
            _ => local.array_length(object),
        })
    }

    /// The value of a field by its name; `message` of an exception is its message.
    fn field(self, object: &LocalRef<'_>, name: &str) -> Option<FieldValue<'a>> {
        let found = self.reached_in(object, name);
        let is_message = found.is_none() && name == MESSAGE.0;
        match is_message && self.values.is_throwable(self.local, object) {
            true => self.reached_in(object, MESSAGE.1),
            false => found,
        }
    }

    /// The value of a field that an instruction names, or the class that declares it.
    fn named(self, object: &LocalRef<'_>, step: &Step) -> Option<FieldValue<'a>> {
        let Self { jvmti, local, .. } = self;
        match step {
            Step::Written(field) => {
                let class = local.object_class(object)?;
                let found = self
                    .values
                    .named_field(jvmti, self.runtime, local, &class, field)?;
                Some(field_of(local, object, found.field))
            }
            Step::Declarer(field) => {
                let own = local.object_class(object)?;
                let class = match self.values.is_class(local, object) {
                    true => object,
                    false => &own,
                };
                let found = self
                    .values
                    .named_field(jvmti, self.runtime, local, class, field)?;
                Some(FieldValue::Value(JvmValue::Class(found.declarer)))
            }
            _ => None,
        }
    }

    /// An element of a collection of the JDK. Returns `None` beyond its end, and for a map.
    fn element_of(self, object: &LocalRef<'_>, index: u64) -> Option<FieldValue<'a>> {
        let collection = Collection::of(self, object)?;
        let mut found = None;
        let mut steps = MOST_STEPS;
        collection.visit(self, object, index, &mut steps, &mut |item| {
            if item.value.is_none() {
                found = Some(item.first);
            }
            false
        });
        found
    }
}
