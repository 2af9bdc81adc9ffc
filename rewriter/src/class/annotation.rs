//! Annotations (JVMS 4.7.16): types and lengths.

use crate::class::attribute::{Attribute, Attributes};
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::pool::ConstantPool;
use jvms::modified_utf8::Utf8;

/// The descriptors of the annotations in one attribute.
#[derive(Debug, Clone)]
pub struct Annotations<'c, 'a> {
    pool: &'c ConstantPool<'a>,
    cursor: Cursor<'a>,
    left: u16,
}

impl<'c, 'a> Annotations<'c, 'a> {
    fn new(pool: &'c ConstantPool<'a>, attribute: &Attribute<'a>) -> Self {
        let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
        let left = cursor.u2("num_annotations").unwrap_or(0);
        Annotations { pool, cursor, left }
    }
}

impl<'a> Iterator for Annotations<'_, 'a> {
    type Item = Utf8<'a>;

    fn next(&mut self) -> Option<Utf8<'a>> {
        self.left = self.left.checked_sub(1)?;
        let start = self.cursor;
        let descriptor = start.clone().u2("annotation").ok();
        if skip_annotation(&mut self.cursor, 0).is_err() {
            self.left = 0;
        }
        self.pool.utf8(PoolIndex(descriptor?))
    }
}

/// The attributes with annotations: those that reflection does not see, and all.
pub(crate) const INVISIBLE: &[&str] = &["RuntimeInvisibleAnnotations"];
pub(crate) const ALL: &[&str] = &["RuntimeVisibleAnnotations", "RuntimeInvisibleAnnotations"];

/// Returns the descriptors of the annotations in the named attributes.
pub(crate) fn descriptors<'c, 'a>(
    attributes: Attributes<'c, 'a>,
    names: &'static [&'static str],
) -> impl Iterator<Item = Utf8<'a>> + 'c
where
    'a: 'c,
{
    let pool = attributes.pool();
    attributes
        .filter(|attribute| names.iter().any(|name| attribute.name == *name))
        .flat_map(move |attribute| Annotations::new(pool, &attribute))
}

/// Skips an `annotation`.
fn skip_annotation(cursor: &mut Cursor<'_>, depth: u32) -> Result<(), ReadError> {
    cursor.u2("annotation")?;
    skip_pairs(cursor, depth)
}

/// Skips `num_element_value_pairs` and the pairs.
fn skip_pairs(cursor: &mut Cursor<'_>, depth: u32) -> Result<(), ReadError> {
    for _ in 0..cursor.u2("annotation")? {
        cursor.u2("element_value_pairs")?;
        skip_element_value(cursor, depth)?;
    }
    Ok(())
}

/// Skips an `element_value`.
fn skip_element_value(cursor: &mut Cursor<'_>, depth: u32) -> Result<(), ReadError> {
    if depth >= MAX_ELEMENT_DEPTH {
        return Err(ReadError::TooDeep {
            offset: cursor.offset(),
        });
    }
    let deeper = depth + 1;
    match cursor.u1("element_value")? {
        b'e' => cursor.u4("element_value").map(drop),
        b'@' => skip_annotation(cursor, deeper),
        b'[' => {
            for _ in 0..cursor.u2("element_value")? {
                skip_element_value(cursor, deeper)?;
            }
            Ok(())
        }
        _ => cursor.u2("element_value").map(drop),
    }
}

/// Skips a `type_annotation` after its target (JVMS 4.7.20).
pub(crate) fn skip_after_target(cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
    skip_path(cursor)?;
    skip_annotation(cursor, 0)
}

fn skip_path(cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
    let steps = usize::from(cursor.u1("type_path")?);
    cursor.take(steps * 2, "type_path").map(drop)
}

/// Skips `target_info` and `type_path` (JVMS 4.7.20).
pub(crate) fn skip_target(cursor: &mut Cursor<'_>) -> Result<(), ReadError> {
    let structure = "type_annotation.target_info";
    let length = match cursor.u1(structure)? {
        0x00 | 0x01 | 0x16 => 1,
        0x10..=0x12 | 0x17 | 0x42..=0x46 => 2,
        0x13..=0x15 => 0,
        0x40 | 0x41 => usize::from(cursor.u2(structure)?) * 6,
        0x47..=0x4B => 3,
        tag => {
            let offset = cursor.offset() - 1;
            return Err(ReadError::UnknownFrame { offset, tag });
        }
    };
    cursor.take(length, structure)?;
    skip_path(cursor)
}
