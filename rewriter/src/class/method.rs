//! Methods (JVMS 4.6).

use crate::class::annotation;
use crate::class::attribute::{Attribute, Attributes};
use crate::class::code::Code;
use crate::class::file::ClassFile;
use crate::class::instruction_map::exits;
use crate::class::record::MethodRecord;
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex, PoolIndex};
use jvms::access_flags::ACC_STATIC;
use jvms::modified_utf8::Utf8;
use jvms::names::INIT;

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
        u16_at(self.class.bytes(), self.record.start as usize + at).unwrap_or_default()
    }

    /// Returns its index among the class's methods.
    #[must_use]
    pub fn index(&self) -> MethodIndex {
        self.index
    }

    /// Returns its name; empty if the index refers to no text.
    #[must_use]
    pub fn name(&self) -> Utf8<'a> {
        self.class
            .pool()
            .utf8(PoolIndex(self.field(2)))
            .unwrap_or_default()
    }

    /// Returns its descriptor (JVMS 4.3.3); empty if the index refers to no text.
    #[must_use]
    pub fn descriptor(&self) -> Utf8<'a> {
        self.class
            .pool()
            .utf8(PoolIndex(self.field(4)))
            .unwrap_or_default()
    }

    /// Returns its `access_flags` (JVMS table 4.6-A).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.field(0)
    }

    /// Checks for `ACC_STATIC`.
    #[must_use]
    pub fn is_static(&self) -> bool {
        self.access_flags() & ACC_STATIC != 0
    }

    /// Checks for a constructor that calls another one first: not that of `java/lang/Object` (JVMS 4.10.1.9).
    pub(crate) fn is_constructor(&self) -> bool {
        self.name() == INIT && self.class.this_class() != "java/lang/Object"
    }

    /// Returns the text of `Signature` (JVMS 4.7.9).
    #[must_use]
    pub fn signature(&self) -> Option<Utf8<'a>> {
        let found = self.attributes().named("Signature")?;
        found.utf8(self.class.pool())
    }

    /// Returns its attributes, `Code` included.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        let at = self.record.start as usize + 6;
        Attributes::new(self.class.pool(), self.class.bytes(), at)
    }

    /// Returns the descriptors of its annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), annotation::ALL)
    }

    /// Returns the descriptors of its annotations that are invisible at run time (JVMS 4.7.17).
    pub fn invisible_annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), annotation::INVISIBLE)
    }

    /// Returns the offset of the `method_info` in the class file.
    #[must_use]
    pub fn start(&self) -> usize {
        self.record.start as usize
    }

    /// Returns the whole `method_info`.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        let range = self.record.start as usize..self.record.end as usize;
        self.class.bytes().get(range).unwrap_or_default()
    }

    /// Checks for a `Code` attribute.
    #[must_use]
    pub fn has_code(&self) -> bool {
        self.record.code != 0
    }

    /// Returns its code; `None` for an abstract or native method.
    ///
    /// # Errors
    /// The `Code` attribute violates JVMS 4.7.3.
    pub fn code(&self) -> Result<Option<Code<'c, 'a>>, ReadError> {
        if !self.has_code() {
            return Ok(None);
        }
        self.class.code(self.index, &self.record).map(Some)
    }

    /// Returns the instructions that leave the method, in order: `ireturn` … `return`, and `athrow`. The first call
    /// computes them for all methods of the class.
    ///
    /// # Errors
    /// As [`Code::visit_instructions`].
    pub fn exits(&self) -> Result<impl Iterator<Item = Bci> + 'c, ReadError> {
        let marks = self.class.decoded_map(self.index);
        if marks.is_none()
            && let Some(code) = self.code()?
        {
            code.visit_opcodes(|_, _| {})?;
        }
        Ok(exits(marks.unwrap_or_default()))
    }

    /// Returns its class.
    #[must_use]
    pub fn class(&self) -> &'c ClassFile<'a> {
        self.class
    }

    /// Returns the undecoded contents of its `Code` attribute.
    #[must_use]
    pub fn code_attribute(&self) -> Option<Attribute<'a>> {
        self.attributes().named("Code")
    }
}

impl<'a> ClassFile<'a> {
    /// Returns the methods in the order of the class file.
    pub fn methods(&self) -> impl ExactSizeIterator<Item = Method<'_, 'a>> + '_ {
        self.records()
            .iter()
            .enumerate()
            .map(|(index, record)| Method::new(self, MethodIndex(index as u16), *record))
    }

    /// Returns the code of the method with this record.
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

    /// Returns one method.
    #[must_use]
    pub fn method(&self, index: MethodIndex) -> Option<Method<'_, 'a>> {
        let record = self.records().get(usize::from(index.0))?;
        Some(Method::new(self, index, *record))
    }
}
