//! The value to which the steps of a path lead: fields, elements, lengths and classes.

use super::collections::Collection;
use super::reader::Reader;
use super::refs::{LocalRef, jni};
use super::values::{Kind, Reached, element, field_of, read_text};
use conditions::Step;
use probes::spans::Seen;

/// Most steps of a walk to an element.
const MOST_STEPS: u32 = 10_000;

impl<'a> Reader<'a> {
    /// The value to which these steps lead from an object; none if they lead nowhere.
    pub fn read_at<'t>(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
        text: &'t mut [u16],
    ) -> Option<Seen<'t>> {
        let found = match self.reach(object, steps)? {
            Some(Reached::Object(None)) => return Some(Seen::Null),
            Some(Reached::Value(value)) => return Some(value),
            Some(Reached::Object(found)) => found,
            None => None,
        };
        let object = found.as_ref().unwrap_or(object);
        if self.values.is_text(self.local, object) {
            return read_text(self.local, object, text);
        }
        self.describe(object, text)
    }

    /// The value to which these steps lead, or nothing if there are none and it is the object itself; none if they lead
    /// nowhere.
    #[expect(clippy::option_option, reason = "there may be no steps")]
    pub(super) fn reach(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
    ) -> Option<Option<Reached<'a>>> {
        let mut reached = None;
        let mut steps = steps.iter();
        while let Some(step) = steps.next() {
            let from = reached.as_ref().unwrap_or(object);
            let is_last = steps.len() == 0;
            match self.step(from, step)? {
                Reached::Object(Some(next)) => reached = Some(next),
                other => return is_last.then_some(Some(other)),
            }
        }
        Some(reached.map(|found| Reached::Object(Some(found))))
    }

    fn step(self, object: &LocalRef<'_>, step: &Step) -> Option<Reached<'a>> {
        let Self { jvmti, local, .. } = self;
        let (number, kind) = self.class_of(object)?;
        let name = match (step, kind) {
            (Step::Class, _) => return Some(Reached::Value(Seen::Class(number))),
            (Step::Written(field), _) => {
                let class = local.object_class(object)?;
                let found = self
                    .values
                    .named_field(jvmti, self.runtime, local, &class, field)?;
                return Some(field_of(local, object, found.field));
            }
            (Step::Declarer(field), _) => {
                let own = local.object_class(object)?;
                let class = match self.values.is_class(local, object) {
                    true => object,
                    false => &own,
                };
                let found = self
                    .values
                    .named_field(jvmti, self.runtime, local, class, field)?;
                return Some(Reached::Value(Seen::Class(found.declarer)));
            }
            (Step::Length, Kind::Text) => {
                let length = jni!(local, v1_1.GetStringLength, object.as_raw());
                return Some(Reached::int(length));
            }
            (Step::Length, Kind::Array) => return Some(Reached::int(local.array_length(object))),
            (Step::Element(index), Kind::Array) => {
                return element(jvmti, local, object, *index);
            }
            (Step::Element(index), Kind::Collection(_)) => {
                return self.element_of(object, (*index).into());
            }
            (Step::Element(_), _) => return None,
            (Step::Length, _) => "length",
            (Step::Field(name), _) => name,
        };
        self.reached_in(object, name)
    }

    /// An element of a collection of the JDK; none beyond its end, and of a map.
    fn element_of(self, object: &LocalRef<'_>, index: u64) -> Option<Reached<'a>> {
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
