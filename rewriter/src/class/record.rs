//! Offsets of the methods in a class file.

use crate::class::attribute::head;
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::pool::ConstantPool;

/// Offsets of one method in the class file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct MethodRecord {
    /// Offset of its `access_flags`.
    pub(crate) start: u32,
    /// Offset of the first byte after it.
    pub(crate) end: u32,
    /// Offset of the contents of its `Code` attribute, or 0.
    pub(crate) code: u32,
    /// Length of those contents.
    pub(crate) code_length: u32,
}

/// Reads `methods_count` and the methods.
pub(crate) fn read_records(
    cursor: &mut Cursor<'_>,
    pool: &ConstantPool<'_>,
    mut records: Vec<MethodRecord>,
) -> Result<Vec<MethodRecord>, ReadError> {
    records.clear();
    // Most attributes of methods are `Code`, and all use the same pool entry.
    let mut code_name = None;
    for _ in 0..cursor.u2("methods_count")? {
        let mut record = MethodRecord {
            start: cursor.offset(),
            ..MethodRecord::default()
        };
        cursor.take(6, "method_info")?;
        for _ in 0..cursor.u2("method_info attributes")? {
            let (name, length) = head(cursor, "method_info attributes")?;
            let offset = cursor.offset();
            cursor.take(length, "method_info attributes")?;
            if code_name == Some(name) || pool.utf8(name).is_some_and(|name| name == "Code") {
                code_name = Some(name);
                if record.code != 0 {
                    return Err(ReadError::DuplicateAttribute {
                        attribute: "Code",
                        offset,
                    });
                }
                record.code = offset;
                record.code_length = length as u32;
            }
        }
        record.end = cursor.offset();
        records.push(record);
    }
    Ok(records)
}
