//! Declarations of a class in attributes other than code. Malformed parts are left out.

use crate::class::attribute::{Attribute, Attributes, skip_attributes};
use crate::class::file::ClassFile;
use crate::class::method::Method;
use crate::cursor::{Cursor, u16_at, u16s};
use crate::index::PoolIndex;
use crate::limits::{PREVIEW, STRICT_FIELDS_SINCE};
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;

/// An entry of `InnerClasses` (JVMS 4.7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerClass<'a> {
    /// Internal name of the class.
    pub name: Utf8<'a>,
    /// Internal name of the class that it is a member of; absent for a local or anonymous class.
    pub outer: Option<Utf8<'a>>,
    /// Its name in the source; absent for an anonymous class.
    pub simple_name: Option<Utf8<'a>>,
    /// Its flags in the source (JVMS table 4.7.6-A).
    pub access_flags: u16,
}

/// Contents of `EnclosingMethod` (JVMS 4.7.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enclosing<'a> {
    /// Internal name of the innermost enclosing class.
    pub class: Utf8<'a>,
    /// Name and descriptor of the enclosing method, if there is one.
    pub method: Option<(Utf8<'a>, Utf8<'a>)>,
}

/// A component of a record (JVMS 4.7.30).
#[derive(Debug, Clone)]
pub struct RecordComponent<'c, 'a> {
    /// Its name.
    pub name: Utf8<'a>,
    /// Its field descriptor.
    pub descriptor: Utf8<'a>,
    /// Its attributes.
    pub attributes: Attributes<'c, 'a>,
}

impl<'a> RecordComponent<'_, 'a> {
    /// Returns the text of `Signature` (JVMS 4.7.9).
    #[must_use]
    pub fn signature(&self) -> Option<Utf8<'a>> {
        let found = self.attributes.clone().named("Signature")?;
        found.utf8(self.attributes.pool())
    }
}

/// An entry of `MethodParameters` (JVMS 4.7.24).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter<'a> {
    /// Its name, if it has one.
    pub name: Option<Utf8<'a>>,
    /// `ACC_FINAL`, `ACC_SYNTHETIC`, `ACC_MANDATED`.
    pub access_flags: u16,
}

/// Returns the classes in an attribute that lists them after their count.
fn classes<'a>(
    attribute: Option<Attribute<'a>>,
    pool: &ConstantPool<'a>,
) -> impl Iterator<Item = Utf8<'a>> {
    let listed = attribute.and_then(|found| found.bytes.get(2..));
    let indices = u16s(listed.unwrap_or_default());
    indices.filter_map(|index| pool.class_name(PoolIndex(index)))
}

impl<'a> ClassFile<'a> {
    /// Returns the entries of `InnerClasses` (JVMS 4.7.6).
    pub fn inner_classes(&self) -> impl Iterator<Item = InnerClass<'a>> + '_ {
        let listed = self.attribute("InnerClasses");
        let rows = listed.and_then(|found| found.bytes.get(2..));
        let pool = self.pool();
        rows.unwrap_or_default().chunks_exact(8).filter_map(|row| {
            let index = |at| u16_at(row, at).map(PoolIndex);
            Some(InnerClass {
                name: pool.class_name(index(0)?)?,
                outer: pool.class_name(index(2)?),
                simple_name: pool.utf8(index(4)?),
                access_flags: u16_at(row, 6)?,
            })
        })
    }

    /// Returns `EnclosingMethod` of a local or anonymous class.
    #[must_use]
    pub fn enclosing(&self) -> Option<Enclosing<'a>> {
        let found = self.attribute("EnclosingMethod")?;
        let index = |at| u16_at(found.bytes, at).map(PoolIndex);
        Some(Enclosing {
            class: self.pool().class_name(index(0)?)?,
            method: self.pool().name_and_type(index(2)?),
        })
    }

    /// Checks whether any field needs a value before the constructor calls `super()`.
    pub(crate) fn has_strict_fields(&self) -> bool {
        let is_known = match self.major_version() {
            STRICT_FIELDS_SINCE => self.minor_version() == PREVIEW,
            major => major > STRICT_FIELDS_SINCE,
        };
        is_known && self.fields().any(|field| field.is_strict())
    }

    /// Returns the components, if the class is a record.
    #[must_use]
    pub fn record_components(&self) -> Option<Vec<RecordComponent<'_, 'a>>> {
        let found = self.attribute("Record")?;
        let mut cursor = Cursor::at(self.bytes(), found.offset as usize, 0);
        let mut components = Vec::new();
        for _ in 0..cursor.u2("Record").ok()? {
            let name = PoolIndex(cursor.u2("Record").ok()?);
            let descriptor = PoolIndex(cursor.u2("Record").ok()?);
            let at = cursor.position();
            skip_attributes(&mut cursor, "Record").ok()?;
            let end = found.offset as usize + found.bytes.len();
            let whole = cursor.position() <= end;
            components.push(RecordComponent {
                name: self.pool().utf8(name).filter(|_| whole)?,
                descriptor: self.pool().utf8(descriptor)?,
                attributes: Attributes::new(self.pool(), self.bytes(), at),
            });
        }
        Some(components)
    }

    /// Returns the classes of `PermittedSubclasses` (JVMS 4.7.31).
    pub fn permitted_subclasses(&self) -> impl Iterator<Item = Utf8<'a>> + '_ {
        classes(self.attribute("PermittedSubclasses"), self.pool())
    }

    /// Returns the class of `NestHost` (JVMS 4.7.28).
    #[must_use]
    pub fn nest_host(&self) -> Option<Utf8<'a>> {
        let host = u16_at(self.attribute("NestHost")?.bytes, 0)?;
        self.pool().class_name(PoolIndex(host))
    }

    /// Returns the classes of `NestMembers` (JVMS 4.7.29).
    pub fn nest_members(&self) -> impl Iterator<Item = Utf8<'a>> + '_ {
        classes(self.attribute("NestMembers"), self.pool())
    }
}

impl<'c, 'a> Method<'c, 'a> {
    /// Returns the classes of `Exceptions` (JVMS 4.7.5).
    pub fn exceptions(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        classes(self.attributes().named("Exceptions"), self.class().pool())
    }

    /// Returns the entries of `MethodParameters` (JVMS 4.7.24).
    pub fn parameters(&self) -> impl Iterator<Item = Parameter<'a>> + 'c {
        let found = self.attributes().named("MethodParameters");
        let rows = found.and_then(|found| found.bytes.get(1..));
        let pool = self.class().pool();
        rows.unwrap_or_default().chunks_exact(4).filter_map(|row| {
            Some(Parameter {
                name: pool.utf8(PoolIndex(u16_at(row, 0)?)),
                access_flags: u16_at(row, 2)?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::element::{DeclaredElement, DeclaredValue};

    const DECLARED: &[u8] = include_bytes!("../../tests/fixtures/release25/Declared.class");

    #[test]
    fn truncated_attributes_are_read_up_to_the_fault() {
        let class = ClassFile::read(DECLARED).expect("a class");
        assert!(class.attributes().annotations().len() > 1);
        let ask = |bytes: &[u8]| {
            let Ok(class) = ClassFile::read(bytes) else {
                return;
            };
            let _ = class.attributes().annotations();
            let _ = class.record_components().map(|found| found.len());
            let _ = class.inner_classes().count() + class.nest_members().count();
            let _ = (class.enclosing(), class.nest_host());
            let _ = class.permitted_subclasses().count();
            for method in class.methods() {
                let _ = method.attributes().annotations();
                let _ = method.attributes().parameter_annotations();
                let _ = method.exceptions().count() + method.parameters().count();
            }
        };
        for at in 0..DECLARED.len() {
            for byte in [0, 1, 0x40, 0x5b, 0xff] {
                let mut damaged = DECLARED.to_vec();
                damaged[at] = byte;
                ask(&damaged);
            }
        }
    }

    #[test]
    fn endless_nesting_is_left_out() {
        // An array of an array of an array …
        let mut bytes = b"\0\x01\0\x01\0\x01\0\x01".to_vec();
        for _ in 0..10_000 {
            bytes.extend(b"[\0\x01");
        }
        let class = ClassFile::read(DECLARED).expect("a class");
        let name = Utf8::new(b"RuntimeVisibleAnnotations");
        let mut file = vec![0, 1];
        let index = (1..class.pool().count())
            .find(|index| class.pool().utf8(PoolIndex(*index)) == Some(name))
            .expect("the attribute's name");
        file.extend(index.to_be_bytes());
        file.extend((bytes.len() as u32).to_be_bytes());
        file.extend(&bytes);
        let found = Attributes::new(class.pool(), &file, 0).annotations();
        assert_eq!(found, []);
        let element = DeclaredElement {
            name: Utf8::default(),
            value: DeclaredValue::Array(0),
        };
        assert_eq!(size_of_val(&element), 56);
    }
}
