//! Objects with their contents, to a depth: fields, elements and entries.
//!
//! No method of an object is called. The number of visited objects and of written bytes is limited; the rest is
//! counted.

use super::collections::Collection;
use super::reader::Reader;
use super::refs::LocalRef;
use super::values::{FieldValue, ValueKind, element, field_of};
use conditions::Step;
use probes::spans::{JvmValue, MAX_TEXT, OpenedWriter, Shape, UNKNOWN_LEFT};

/// Largest number of elements and entries of an object.
const MOST_ITEMS: u64 = 20;
/// Largest number of fields of an object.
const MOST_FIELDS: u64 = 40;
/// Largest number of objects and table slots that are visited for one value.
const MOST_STEPS: u32 = 4_096;

/// Writes one object.
struct Opener<'a, 'b> {
    reader: Reader<'a>,
    writer: OpenedWriter<'b>,
    /// Largest number of bytes of a string.
    limit: usize,
    text: [u16; MAX_TEXT],
    steps: u32,
}

/// The enclosing objects of the object that is being written.
struct Enclosing<'a> {
    object: &'a LocalRef<'a>,
    next: Option<&'a Enclosing<'a>>,
}

impl Enclosing<'_> {
    fn has(&self, reader: Reader<'_>, object: &LocalRef<'_>) -> bool {
        let is_here = reader.local.is_same_object(self.object, object);
        is_here || self.next.is_some_and(|next| next.has(reader, object))
    }
}

impl<'a> Reader<'a> {
    /// Writes the object at the end of the path `steps` with its contents, down to `levels` nested objects and as far
    /// as there is room. Returns `None` for a value without contents, and if there is no room at all.
    pub fn open<'b>(
        self,
        object: &LocalRef<'_>,
        steps: &[Step],
        levels: u8,
        limit: usize,
        bytes: &'b mut [u8],
    ) -> Option<&'b [u8]> {
        let found = match self.reach(object, steps).ok()? {
            Some(FieldValue::Object(Some(found))) => Some(found),
            Some(_) => return None,
            None => None,
        };
        let mut opener = Opener {
            reader: self,
            writer: OpenedWriter::new(bytes),
            limit: limit.min(MAX_TEXT),
            text: [0; MAX_TEXT],
            steps: MOST_STEPS,
        };
        let object = found.as_ref().unwrap_or(object);
        let written = opener.object(object, levels, None);
        written.then(|| opener.writer.finish())
    }
}

impl<'a> Opener<'a, '_> {
    /// Writes a value. Returns false if there is no room.
    fn reached(&mut self, value: FieldValue<'a>, levels: u8, enclosing: &Enclosing<'_>) -> bool {
        match value {
            FieldValue::Object(None) => self.writer.value(JvmValue::Null, self.limit),
            FieldValue::Object(Some(object)) => self.object(&object, levels, Some(enclosing)),
            FieldValue::Value(value) => self.writer.value(value, self.limit),
        }
    }

    fn object(
        &mut self,
        object: &LocalRef<'_>,
        levels: u8,
        enclosing: Option<&Enclosing<'_>>,
    ) -> bool {
        let reader = self.reader;
        let Some((class, kind)) = reader.class_of(object) else {
            return self.writer.value(JvmValue::Unreadable, self.limit);
        };
        if !matches!(
            kind,
            ValueKind::Object | ValueKind::Array | ValueKind::Collection(_)
        ) {
            return self.plain(object);
        }
        let identity = reader.identity(object).unwrap_or(0);
        if enclosing.is_some_and(|enclosing| enclosing.has(reader, object)) {
            return self.writer.cycle(class, identity);
        }
        let collection = match kind {
            ValueKind::Collection(_) => Collection::of(reader, object),
            _ => None,
        };
        let shape = match (&collection, kind) {
            (Some(collection), _) => collection.shape(),
            (None, ValueKind::Array) => Shape::Elements,
            (None, _) => Shape::Fields,
        };
        // Without a level left, an array or object is written without contents, and a collection with its number of
        // elements.
        if levels == 0 && collection.is_none() {
            return self.plain(object);
        }
        if !self.writer.begin(shape, class, identity) {
            return false;
        }
        let enclosing = Enclosing {
            object,
            next: enclosing,
        };
        let left = match collection {
            Some(collection) => self.items(&collection, levels, &enclosing),
            None if kind == ValueKind::Array => self.elements(levels, &enclosing),
            None => self.fields(levels, &enclosing),
        };
        self.writer.end(left);
        true
    }

    /// Writes a value without its contents.
    fn plain(&mut self, object: &LocalRef<'_>) -> bool {
        let room = self.text.get_mut(..self.limit).unwrap_or_default();
        let value = self.reader.describe(object, room);
        self.writer
            .value(value.unwrap_or(JvmValue::Unreadable), self.limit)
    }

    /// Writes a part, or nothing if there is no room for the whole part.
    fn part(&mut self, write: impl FnOnce(&mut Self) -> bool) -> bool {
        let mark = self.writer.mark();
        let is_written = self.writer.part() && write(self);
        if !is_written {
            self.writer.undo(mark);
        }
        is_written
    }

    /// Writes the fields of an object, and returns the number of fields left out.
    fn fields(&mut self, levels: u8, enclosing: &Enclosing<'_>) -> u64 {
        let reader = self.reader;
        let Some(fields) = reader.fields(enclosing.object) else {
            return UNKNOWN_LEFT;
        };
        let mut written = 0;
        for listed in fields.iter() {
            let Some(steps) = self.steps.checked_sub(1) else {
                break;
            };
            self.steps = steps;
            let value = field_of(reader.local, enclosing.object, listed.field);
            let is_written = written < MOST_FIELDS
                && self.part(|it| {
                    it.writer.name(listed.name) && it.reached(value, levels - 1, enclosing)
                });
            if !is_written {
                break;
            }
            written += 1;
        }
        fields.len() as u64 - written
    }

    /// Writes the elements of an array.
    fn elements(&mut self, levels: u8, enclosing: &Enclosing<'_>) -> u64 {
        let reader = self.reader;
        let length = u64::try_from(reader.local.array_length(enclosing.object)).unwrap_or(0);
        let mut written = 0;
        while written < length.min(MOST_ITEMS) {
            let (Some(steps), Ok(index)) = (self.steps.checked_sub(1), u32::try_from(written))
            else {
                break;
            };
            self.steps = steps;
            let value = element(reader.jvmti, reader.local, enclosing.object, index);
            let is_written =
                value.is_some_and(|value| self.part(|it| it.reached(value, levels - 1, enclosing)));
            if !is_written {
                break;
            }
            written += 1;
        }
        length - written
    }

    /// Writes the elements or entries of a collection.
    fn items(&mut self, collection: &Collection<'a>, levels: u8, enclosing: &Enclosing<'_>) -> u64 {
        let reader = self.reader;
        let size = collection.size(reader, enclosing.object);
        let (mut written, mut seen) = (0, 0);
        let mut has_room = levels > 0;
        let mut steps = self.steps;
        if let (false, Some(size)) = (has_room, size) {
            return size;
        }
        let is_whole = collection.visit(reader, enclosing.object, 0, &mut steps, &mut |item| {
            seen += 1;
            has_room = has_room
                && written < MOST_ITEMS
                && self.part(|it| {
                    it.reached(item.first, levels - 1, enclosing)
                        && item
                            .value
                            .is_none_or(|value| it.reached(value, levels - 1, enclosing))
                });
            written += u64::from(has_room);
            // Without a size field, the rest of the items is counted.
            has_room || size.is_none()
        });
        self.steps = self.steps.min(steps);
        match size {
            _ if is_whole => seen - written,
            Some(size) if size > written => size - written,
            _ => UNKNOWN_LEFT,
        }
    }
}
