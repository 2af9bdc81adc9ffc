//! Methods (JVMS 4.6).

use crate::class::attribute::{Attribute, Attributes};
use crate::class::{ClassFile, Code, MethodRecord, annotation};
use crate::cursor::{Cursor, u16_at};
use crate::error::ReadError;
use crate::index::{MethodIndex, PoolIndex};
use crate::pool::ConstantPool;
use crate::utf8::Utf8;

/// One method of a [`ClassFile`].
#[derive(Debug, Clone, Copy)]
pub struct Method<'c, 'a> {
    class: &'c ClassFile<'a>,
    index: MethodIndex,
    record: MethodRecord,
}

impl<'c, 'a> Method<'c, 'a> {
    pub(crate) fn new(class: &'c ClassFile<'a>, index: MethodIndex, record: MethodRecord) -> Self {
        Method {
            class,
            index,
            record,
        }
    }

    fn field(&self, at: usize) -> u16 {
        u16_at(
            self.class.bytes(),
            (self.record.start as usize).wrapping_add(at),
        )
        .unwrap_or(0)
    }

    /// Its position among the class's methods.
    #[must_use]
    pub fn index(&self) -> MethodIndex {
        self.index
    }

    /// Its name; empty where the index names no text.
    #[must_use]
    pub fn name(&self) -> Utf8<'a> {
        self.class
            .pool()
            .utf8(PoolIndex(self.field(2)))
            .unwrap_or_default()
    }

    /// Its descriptor (JVMS 4.3.3); empty where the index names no text.
    #[must_use]
    pub fn descriptor(&self) -> Utf8<'a> {
        self.class
            .pool()
            .utf8(PoolIndex(self.field(4)))
            .unwrap_or_default()
    }

    /// Its `access_flags` (JVMS table 4.6-A).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.field(0)
    }

    /// True with `ACC_STATIC`.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.access_flags() & 0x0008 != 0
    }

    /// The text of `Signature` (JVMS 4.7.9).
    #[must_use]
    pub fn signature(&self) -> Option<Utf8<'a>> {
        self.attributes()
            .find(|found| found.name == "Signature")?
            .utf8(self.class.pool())
    }

    /// Its attributes, `Code` included.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        let at = (self.record.start as usize).wrapping_add(6);
        Attributes::new(self.class.pool(), self.class.bytes(), at)
    }

    /// Descriptors of its annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), self.class.pool())
    }

    /// Offset of the `method_info` in the class file.
    pub(crate) fn start(&self) -> usize {
        self.record.start as usize
    }

    /// The whole `method_info`.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        let range = self.record.start as usize..self.record.end as usize;
        self.class.bytes().get(range).unwrap_or_default()
    }

    /// True when it has a `Code` attribute.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.record.code != 0
    }

    /// Its code; none for an abstract or native method.
    ///
    /// # Errors
    /// When the `Code` attribute does not hold what JVMS 4.7.3 says.
    pub fn code(&self) -> Result<Option<Code<'c, 'a>>, ReadError> {
        if !self.has_code() {
            return Ok(None);
        }
        Code::read(self.class.pool(), self.class.bytes(), &self.record).map(Some)
    }

    /// The class it belongs to.
    #[must_use]
    pub fn class(&self) -> &'c ClassFile<'a> {
        self.class
    }

    /// The contents of its `Code` attribute, unread.
    #[must_use]
    pub fn code_attribute(&self) -> Option<Attribute<'a>> {
        self.attributes().find(|found| found.name == "Code")
    }
}

/// Walks `methods_count` and the methods.
pub(crate) fn read_records(
    cursor: &mut Cursor<'_>,
    pool: &ConstantPool<'_>,
    mut records: Vec<MethodRecord>,
) -> Result<Vec<MethodRecord>, ReadError> {
    records.clear();
    for _ in 0..cursor.u2("methods_count")? {
        let mut record = MethodRecord {
            start: cursor.offset(),
            ..MethodRecord::default()
        };
        cursor.take(6, "method_info")?;
        for _ in 0..cursor.u2("method_info attributes")? {
            let name = PoolIndex(cursor.u2("method_info attributes")?);
            let length = cursor.u4("method_info attributes")?;
            let offset = cursor.offset();
            cursor.take(length as usize, "method_info attributes")?;
            if pool.utf8(name).is_some_and(|name| name == "Code") {
                if record.code != 0 {
                    return Err(ReadError::DuplicateAttribute {
                        attribute: "Code",
                        offset,
                    });
                }
                record.code = offset;
                record.code_length = length;
            }
        }
        record.end = cursor.offset();
        records.push(record);
    }
    Ok(records)
}
