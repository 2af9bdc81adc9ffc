//! Fields (JVMS 4.5).

use crate::class::annotation;
use crate::class::attribute::{Attributes, skip_attributes};
use crate::class::file::ClassFile;
use crate::cursor::{Cursor, u16_at};
use crate::index::PoolIndex;
use jvms::access_flags::{ACC_STATIC, ACC_STRICT_INIT};
use jvms::modified_utf8::Utf8;

/// One field of a [`ClassFile`].
#[derive(Debug, Clone, Copy)]
pub struct Field<'c, 'a> {
    class: &'c ClassFile<'a>,
    start: u32,
    end: u32,
}

impl<'c, 'a> Field<'c, 'a> {
    fn item(&self, at: usize) -> u16 {
        u16_at(self.bytes(), at).unwrap_or_default()
    }

    fn text(&self, at: usize) -> Utf8<'a> {
        let index = PoolIndex(self.item(at));
        self.class.pool().utf8(index).unwrap_or_default()
    }

    /// Checks for an instance field with `ACC_STRICT_INIT` (preview in JDK 28).
    pub(crate) fn is_strict(&self) -> bool {
        self.access_flags() & (ACC_STRICT_INIT | ACC_STATIC) == ACC_STRICT_INIT
    }

    /// Returns its `access_flags` (JVMS table 4.5-A).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.item(0)
    }

    /// Returns its name; empty if the index refers to no text.
    #[must_use]
    pub fn name(&self) -> Utf8<'a> {
        self.text(2)
    }

    /// Returns its descriptor (JVMS 4.3.2); empty if the index refers to no text.
    #[must_use]
    pub fn descriptor(&self) -> Utf8<'a> {
        self.text(4)
    }

    /// Returns its attributes.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        let at = self.start as usize + 6;
        Attributes::new(self.class.pool(), self.class.bytes(), at)
    }

    /// Returns the descriptors of its annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), annotation::ALL)
    }

    /// Offset of the `field_info` in the class file.
    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    /// Returns the whole `field_info`.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        let range = self.start as usize..self.end as usize;
        self.class.bytes().get(range).unwrap_or_default()
    }
}

/// Returns the fields of a parsed class, in order.
pub(super) fn fields<'c, 'a>(
    class: &'c ClassFile<'a>,
    count_at: usize,
) -> impl Iterator<Item = Field<'c, 'a>> {
    let mut cursor = Cursor::at(class.bytes(), count_at, 0);
    let mut left = cursor.u2("fields_count").ok().unwrap_or_default();
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let start = cursor.offset();
        cursor.take(6, "field_info").ok()?;
        skip_attributes(&mut cursor, "field_info attributes").ok()?;
        let end = cursor.offset();
        Some(Field { class, start, end })
    })
}

impl<'a> ClassFile<'a> {
    /// Returns the fields in the order of the class file.
    pub fn fields(&self) -> impl Iterator<Item = Field<'_, 'a>> {
        fields(self, self.fields_start())
    }
}
