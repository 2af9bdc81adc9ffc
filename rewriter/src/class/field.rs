//! Fields (JVMS 4.5).

use crate::class::attribute::{self, Attributes};
use crate::class::{ClassFile, annotation};
use crate::cursor::{Cursor, u16_at};
use crate::index::PoolIndex;
use crate::utf8::Utf8;

/// One field of a [`ClassFile`].
#[derive(Debug, Clone, Copy)]
pub struct Field<'c, 'a> {
    class: &'c ClassFile<'a>,
    start: u32,
    end: u32,
}

impl<'c, 'a> Field<'c, 'a> {
    fn item(&self, at: usize) -> u16 {
        u16_at(self.bytes(), at).unwrap_or(0)
    }

    fn text(&self, at: usize) -> Utf8<'a> {
        let index = PoolIndex(self.item(at));
        self.class.pool().utf8(index).unwrap_or_default()
    }

    /// Its `access_flags` (JVMS table 4.5-A).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.item(0)
    }

    /// Its name; empty where the index names no text.
    #[must_use]
    pub fn name(&self) -> Utf8<'a> {
        self.text(2)
    }

    /// Its descriptor (JVMS 4.3.2); empty where the index names no text.
    #[must_use]
    pub fn descriptor(&self) -> Utf8<'a> {
        self.text(4)
    }

    /// Its attributes.
    #[must_use]
    pub fn attributes(&self) -> Attributes<'c, 'a> {
        let at = (self.start as usize).wrapping_add(6);
        Attributes::new(self.class.pool(), self.class.bytes(), at)
    }

    /// Descriptors of its annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + 'c {
        annotation::descriptors(self.attributes(), self.class.pool())
    }

    /// Offset of the `field_info` in the class file.
    pub(crate) fn start(&self) -> usize {
        self.start as usize
    }

    /// The whole `field_info`.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        let range = self.start as usize..self.end as usize;
        self.class.bytes().get(range).unwrap_or_default()
    }
}

/// The fields of a class that has been read, in order.
pub(super) fn fields<'c, 'a>(
    class: &'c ClassFile<'a>,
    count_at: usize,
) -> impl Iterator<Item = Field<'c, 'a>> {
    let mut cursor = Cursor::at(class.bytes(), count_at, 0);
    let mut left = cursor.u2("fields_count").unwrap_or(0);
    std::iter::from_fn(move || {
        left = left.checked_sub(1)?;
        let start = cursor.offset();
        cursor.take(6, "field_info").ok()?;
        attribute::skip(&mut cursor, "field_info attributes").ok()?;
        let end = cursor.offset();
        Some(Field { class, start, end })
    })
}
