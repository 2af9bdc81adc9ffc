//! Annotations with their element values (JVMS 4.7.16), as a flat list. A container precedes its contents.

use crate::class::annotation::skip_target;
use crate::class::attribute::{Attribute, Attributes};
use crate::class::method::Method;
use crate::cursor::Cursor;
use crate::index::PoolIndex;
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;

/// A value (JVMS 4.7.16.1). A container holds the number of values that follow it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DeclaredValue<'a> {
    /// A `boolean`.
    Boolean(bool),
    /// A `byte`.
    Byte(i8),
    /// A `char`.
    Char(u16),
    /// A `short`.
    Short(i16),
    /// An `int`.
    Integer(i32),
    /// A `long`.
    Long(i64),
    /// A `float`.
    Float(f32),
    /// A `double`.
    Double(f64),
    /// A string.
    Text(Utf8<'a>),
    /// A constant of an enum: the enum's field descriptor, and its name.
    Enum(Utf8<'a>, Utf8<'a>),
    /// A class, by its return descriptor.
    Class(Utf8<'a>),
    /// An annotation: the field descriptor of its interface, and the number of its elements.
    Annotation(Utf8<'a>, u16),
    /// An array, and the number of its values.
    Array(u16),
}

/// A value with the name of its element. Values of arrays and default values have no name.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeclaredElement<'a> {
    /// The name, possibly empty.
    pub name: Utf8<'a>,
    /// The value.
    pub value: DeclaredValue<'a>,
}

/// One annotation that is not part of another.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredAnnotation<'a> {
    /// The annotated parameter in the numbering of its attribute (JVMS 4.7.18); 0 for other annotations.
    pub parameter: u8,
    /// True if reflection sees the annotation.
    pub visible: bool,
    /// The annotation itself, followed by its contents.
    pub elements: Vec<DeclaredElement<'a>>,
}

/// Annotations up to the first malformed one of each attribute.
impl<'c, 'a> Attributes<'c, 'a> {
    /// Returns the annotations of `RuntimeVisibleAnnotations` and `RuntimeInvisibleAnnotations` (JVMS 4.7.16).
    #[must_use]
    pub fn annotations(self) -> Vec<DeclaredAnnotation<'a>> {
        let names = ["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];
        self.read_all(names, |reader| reader.list(0))
    }

    /// Returns the annotations of `RuntimeVisibleParameterAnnotations` and `RuntimeInvisibleParameterAnnotations` (JVMS
    /// 4.7.18).
    #[must_use]
    pub fn parameter_annotations(self) -> Vec<DeclaredAnnotation<'a>> {
        let names = [
            "RuntimeVisibleParameterAnnotations",
            "RuntimeInvisibleParameterAnnotations",
        ];
        self.read_all(names, |reader| {
            for parameter in 0..reader.u1()? {
                reader.list(parameter)?;
            }
            Some(())
        })
    }

    /// Returns the annotations of `RuntimeVisibleTypeAnnotations` (JVMS 4.7.20), each with the bytes of its target.
    #[must_use]
    pub fn type_annotations(self) -> Vec<(&'a [u8], Vec<DeclaredElement<'a>>)> {
        let pool = self.pool();
        let mut all = Vec::new();
        for attribute in self.filter(|found| found.name == "RuntimeVisibleTypeAnnotations") {
            let mut reader = Reader::new(pool, &attribute);
            // The annotations before the fault stay.
            let _ = reader.typed(attribute.bytes, &mut all);
        }
        all
    }

    fn read_all(
        self,
        names: [&str; 2],
        read: impl Fn(&mut Reader<'c, 'a>) -> Option<()>,
    ) -> Vec<DeclaredAnnotation<'a>> {
        let pool = self.pool();
        let mut all = Vec::new();
        for attribute in self {
            let Some(place) = names.iter().position(|name| attribute.name == *name) else {
                continue;
            };
            let mut reader = Reader::new(pool, &attribute);
            reader.visible = place == 0;
            // The annotations before the fault stay.
            let _ = read(&mut reader);
            all.append(&mut reader.all);
        }
        all
    }
}

impl<'a> Method<'_, 'a> {
    /// Returns the value of `AnnotationDefault` (JVMS 4.7.22), followed by its contents. Empty if it is absent or
    /// malformed.
    #[must_use]
    pub fn annotation_default(&self) -> Vec<DeclaredElement<'a>> {
        let found = self.attributes().named("AnnotationDefault");
        let read = |attribute: Attribute<'a>| {
            let mut reader = Reader::new(self.class().pool(), &attribute);
            reader.value(Utf8::default(), 0)?;
            Some(reader.elements)
        };
        found.and_then(read).unwrap_or_default()
    }
}

const STRUCTURE: &str = "annotations";

/// Reads one attribute; returns `None` at the first fault.
struct Reader<'c, 'a> {
    pool: &'c ConstantPool<'a>,
    cursor: Cursor<'a>,
    visible: bool,
    /// The elements of the current annotation.
    elements: Vec<DeclaredElement<'a>>,
    all: Vec<DeclaredAnnotation<'a>>,
}

impl<'c, 'a> Reader<'c, 'a> {
    fn new(pool: &'c ConstantPool<'a>, attribute: &Attribute<'a>) -> Self {
        Self {
            pool,
            cursor: Cursor::new(attribute.bytes, attribute.offset),
            visible: false,
            elements: Vec::new(),
            all: Vec::new(),
        }
    }

    /// Reads `num_annotations`, and the annotations.
    fn list(&mut self, parameter: u8) -> Option<()> {
        for _ in 0..self.u2()? {
            self.annotation(Utf8::default(), 0)?;
            self.all.push(DeclaredAnnotation {
                parameter,
                visible: self.visible,
                elements: std::mem::take(&mut self.elements),
            });
        }
        Some(())
    }

    /// Reads `num_annotations`, and annotations after their targets.
    fn typed(
        &mut self,
        bytes: &'a [u8],
        all: &mut Vec<(&'a [u8], Vec<DeclaredElement<'a>>)>,
    ) -> Option<()> {
        for _ in 0..self.u2()? {
            let start = self.cursor.position();
            skip_target(&mut self.cursor).ok()?;
            let target = bytes.get(start..self.cursor.position())?;
            self.annotation(Utf8::default(), 0)?;
            all.push((target, std::mem::take(&mut self.elements)));
        }
        Some(())
    }

    fn annotation(&mut self, name: Utf8<'a>, depth: u32) -> Option<()> {
        let kind = self.text()?;
        let count = self.u2()?;
        let value = DeclaredValue::Annotation(kind, count);
        self.elements.push(DeclaredElement { name, value });
        for _ in 0..count {
            let name = self.text()?;
            self.value(name, depth)?;
        }
        Some(())
    }

    /// Reads an `element_value`.
    fn value(&mut self, name: Utf8<'a>, depth: u32) -> Option<()> {
        if depth >= MAX_ELEMENT_DEPTH {
            return None;
        }
        let deeper = depth + 1;
        let value = match self.u1()? {
            b'@' => return self.annotation(name, deeper),
            b'[' => {
                let count = self.u2()?;
                let value = DeclaredValue::Array(count);
                self.elements.push(DeclaredElement { name, value });
                for _ in 0..count {
                    self.value(Utf8::default(), deeper)?;
                }
                return Some(());
            }
            b'e' => DeclaredValue::Enum(self.text()?, self.text()?),
            b's' => DeclaredValue::Text(self.text()?),
            b'c' => DeclaredValue::Class(self.text()?),
            tag => self.constant(tag)?,
        };
        self.elements.push(DeclaredElement { name, value });
        Some(())
    }

    fn constant(&mut self, tag: u8) -> Option<DeclaredValue<'a>> {
        let index = PoolIndex(self.u2()?);
        let int = || self.pool.integer(index);
        match tag {
            b'Z' => int().map(|value| DeclaredValue::Boolean(value != 0)),
            b'B' => int().map(|value| DeclaredValue::Byte(value as i8)),
            b'C' => int().map(|value| DeclaredValue::Char(value as u16)),
            b'S' => int().map(|value| DeclaredValue::Short(value as i16)),
            b'I' => int().map(DeclaredValue::Integer),
            b'J' => self.pool.long(index).map(DeclaredValue::Long),
            b'F' => self.pool.float(index).map(DeclaredValue::Float),
            b'D' => self.pool.double(index).map(DeclaredValue::Double),
            _ => None,
        }
    }

    fn text(&mut self) -> Option<Utf8<'a>> {
        let index = PoolIndex(self.u2()?);
        self.pool.utf8(index)
    }

    fn u1(&mut self) -> Option<u8> {
        self.cursor.u1(STRUCTURE).ok()
    }

    fn u2(&mut self) -> Option<u16> {
        self.cursor.u2(STRUCTURE).ok()
    }
}
