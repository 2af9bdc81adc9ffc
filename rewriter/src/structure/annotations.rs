//! Writes annotations (JVMS 4.7.16).

use crate::edits::{Annotation, ElementValue, StructureError};
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::pool::PoolWriter;
use jvms::modified_utf8;

/// Appends an `annotation`.
pub(crate) fn annotation(
    annotation: &Annotation,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), StructureError> {
    nested(annotation, 0, pool, out)
}

fn push(out: &mut Vec<u8>, item: u16) {
    out.extend_from_slice(&item.to_be_bytes());
}

fn count(length: usize, what: &'static str) -> Result<u16, StructureError> {
    u16::try_from(length).map_err(|_| StructureError::TooMany { what })
}

fn nested(
    annotation: &Annotation,
    depth: u32,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), StructureError> {
    push(out, pool_text(pool, &annotation.descriptor)?);
    push(out, count(annotation.elements.len(), "elements")?);
    for (name, value) in &annotation.elements {
        push(out, pool_text(pool, name)?);
        element(value, depth, pool, out)?;
    }
    Ok(())
}

fn element(
    value: &ElementValue,
    depth: u32,
    pool: &mut PoolWriter,
    out: &mut Vec<u8>,
) -> Result<(), StructureError> {
    if depth >= MAX_ELEMENT_DEPTH {
        return Err(StructureError::TooDeep);
    }
    let deeper = depth + 1;
    let full = || StructureError::PoolFull;
    let mut int = |tag: u8, value: i32, out: &mut Vec<u8>| {
        let index = pool.integer(value as u32).ok_or_else(full)?;
        out.push(tag);
        push(out, index);
        Ok(())
    };
    match value {
        ElementValue::Boolean(value) => return int(b'Z', i32::from(*value), out),
        ElementValue::Byte(value) => return int(b'B', i32::from(*value), out),
        ElementValue::Char(value) => return int(b'C', i32::from(*value), out),
        ElementValue::Short(value) => return int(b'S', i32::from(*value), out),
        ElementValue::Int(value) => return int(b'I', *value, out),
        _ => {}
    }
    match value {
        ElementValue::Long(value) => {
            let index = pool.long(*value as u64).ok_or_else(full)?;
            out.push(b'J');
            push(out, index);
        }
        ElementValue::Float(bits) => {
            let index = pool.float(*bits).ok_or_else(full)?;
            out.push(b'F');
            push(out, index);
        }
        ElementValue::Double(bits) => {
            let index = pool.double(*bits).ok_or_else(full)?;
            out.push(b'D');
            push(out, index);
        }
        ElementValue::String(text) => {
            out.push(b's');
            push(out, pool_text(pool, text)?);
        }
        ElementValue::Enum {
            descriptor,
            constant,
        } => {
            out.push(b'e');
            push(out, pool_text(pool, descriptor)?);
            push(out, pool_text(pool, constant)?);
        }
        ElementValue::Class(descriptor) => {
            out.push(b'c');
            push(out, pool_text(pool, descriptor)?);
        }
        ElementValue::Annotation(annotation) => {
            out.push(b'@');
            nested(annotation, deeper, pool, out)?;
        }
        ElementValue::Array(values) => {
            out.push(b'[');
            push(out, count(values.len(), "elements")?);
            for value in values {
                element(value, deeper, pool, out)?;
            }
        }
        // Written above.
        _ => {}
    }
    Ok(())
}

/// Returns the pool index of a text.
pub(super) fn pool_text(pool: &mut PoolWriter, text: &str) -> Result<u16, StructureError> {
    let bytes = modified_utf8::encode(text);
    if bytes.len() > usize::from(u16::MAX) {
        let length = bytes.len() as u64;
        return Err(StructureError::NameTooLong { length });
    }
    pool.text(&bytes).ok_or(StructureError::PoolFull)
}
