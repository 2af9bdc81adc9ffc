//! Methods (JVMS 4.6).

use crate::arithmetic::{Exact, Known};
use crate::class::annotation;
use crate::class::attribute::{Attribute, Attributes};
use crate::class::code::Code;
use crate::class::file::ClassFile;
use crate::class::marks::exits;
use crate::class::record::MethodRecord;
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex, PoolIndex};
use jvms::access_flags::ACC_STATIC;
use jvms::modified_utf8::Utf8;

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
        u16_at(self.class.bytes(), (self.record.start as usize).plus(at)).known()
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
        self.access_flags() & ACC_STATIC != 0
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
        let at = (self.record.start as usize).plus(6);
        Attributes::new(self.class.pool(), self.class.bytes(), at)
    }

    /// Descriptors of its annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), self.class.pool())
    }

    /// Descriptors of its annotations that are invisible at run time (JVMS 4.7.17).
    pub fn invisible_annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::invisible(self.attributes(), self.class.pool())
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
        self.class.code(self.index, &self.record).map(Some)
    }

    /// Where the instructions of its code begin that leave it, in order: `ireturn` …
    /// `return`, and `athrow`. The class finds them for all its methods at once.
    ///
    /// # Errors
    /// As [`Code::visit_instructions`].
    pub fn exits(&self) -> Result<impl Iterator<Item = Bci> + 'c, ReadError> {
        let marks = self.class.decoded_marks(self.index);
        if marks.is_none()
            && let Some(code) = self.code()?
        {
            code.visit_opcodes(|_, _| {})?;
        }
        Ok(exits(marks.unwrap_or_default()))
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

impl<'a> ClassFile<'a> {
    /// The methods in the order of the class file.
    pub fn methods(&self) -> impl ExactSizeIterator<Item = Method<'_, 'a>> + '_ {
        self.records()
            .iter()
            .enumerate()
            .map(|(index, record)| Method::new(self, MethodIndex(index as u16), *record))
    }

    /// The code of the method with this record.
    pub(crate) fn code(
        &self,
        method: MethodIndex,
        record: &MethodRecord,
    ) -> Result<Code<'_, 'a>, ReadError> {
        let layout = self.code_layout(method);
        match layout.code.1 {
            0 => Code::read(self.pool(), self.bytes(), record),
            _ => Ok(Code::with(self.pool(), self.bytes(), layout)),
        }
    }

    /// One method.
    #[must_use]
    pub fn method(&self, index: MethodIndex) -> Option<Method<'_, 'a>> {
        let record = self.records().get(usize::from(index.0))?;
        Some(Method::new(self, index, *record))
    }
}
