//! Moves the bcis in a method's tables (JVMS 4.7.3, 4.7.12 to 4.7.14, 4.7.20).
//!
//! The size of these tables stays the same, so they are copied and then patched in place.

use crate::arithmetic::u2;
use crate::bytes::write_at;
use crate::class::{Attribute, CodeTable, contains, contains_jointly, skip_after_target};
use crate::cursor::{Cursor, u16_at};
use crate::error::ReadError;
use crate::index::Bci;
use crate::limits::MAX_EXTENDED_RANGES;
use crate::plan::SkipReason;
use crate::splice::layout::Layout;
use crate::splice::positions::Positions;
use jvms::opcode;

/// Start and end of a range, and the position of its handler.
pub(crate) type UnwindRow = (u32, u32, u32);

pub(crate) fn bad_bci(bci: u32) -> SkipReason {
    ReadError::BadInstruction { bci, offset: 0 }.into()
}

/// Appends the exception table with its count: the method's own rows, rows for trampolines, then those for `Unwind`.
pub(crate) fn exception_table(
    (handlers, code): (&[[u8; 8]], &[u8]),
    unwinding: &[UnwindRow],
    layout: &Layout,
    edges: &mut Vec<EdgeCode>,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    let count_at = out.len();
    out.extend_from_slice(&[0; 2]);
    exceptions(handlers, code, layout, out)?;
    around_edges(handlers, layout, edges, out);
    for (start, end, handler) in unwinding {
        for item in [*start, *end, *handler, 0] {
            out.extend_from_slice(&u2(item).to_be_bytes());
        }
    }
    let count = (out.len() - count_at) >> 3;
    let count = u16::try_from(count).map_err(|_| SkipReason::TooManyHandlers)?;
    write_at(out, count_at, &count.to_be_bytes());
    Ok(())
}

/// A trampoline's range, and its jump.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeCode {
    from: u32,
    to: u32,
    source: u32,
    target: u32,
}

/// Appends a row for each run of trampolines that a handler must cover: those whose jumps begin and end in its range.
///
/// Otherwise an exception there would bypass the handler. A JVM's compilers would also find an unreleased monitor and
/// not compile the method (HotSpot: "unbalanced monitors").
fn around_edges(
    handlers: &[[u8; 8]],
    layout: &Layout,
    edges: &mut Vec<EdgeCode>,
    out: &mut Vec<u8>,
) {
    if layout.trampolines.is_empty() || handlers.len() > MAX_EXTENDED_RANGES {
        return;
    }
    edges.clear();
    edges.extend(layout.trampolines.iter().map(|trampoline| EdgeCode {
        from: trampoline.position,
        to: trampoline.position + trampoline.size(layout.length),
        source: trampoline.source,
        target: trampoline.target,
    }));
    edges.sort_unstable_by_key(|edge| edge.from);
    for row in handlers {
        let mut covered = edges.iter().filter(|edge| {
            contains(row, edge.target) && contains_jointly(handlers, row, edge.source)
        });
        let Some(first) = covered.next() else {
            continue;
        };
        let (mut from, mut to) = (first.from, first.to);
        for edge in covered {
            if edge.from != to {
                write_row((from, to), row, layout, out);
                from = edge.from;
            }
            to = edge.to;
        }
        write_row((from, to), row, layout, out);
    }
}

/// Appends a row of this range with the handler and type of `row`.
fn write_row((from, to): (u32, u32), row: &[u8; 8], layout: &Layout, out: &mut Vec<u8>) {
    let [.., h0, h1, t0, t1] = *row;
    let handler = u32::from(u16::from_be_bytes([h0, h1]));
    for item in [from, to, layout.label(handler).unwrap_or_default()] {
        out.extend_from_slice(&u2(item).to_be_bytes());
    }
    out.extend_from_slice(&[t0, t1]);
}

/// Appends the exception table's rows.
fn exceptions(
    handlers: &[[u8; 8]],
    code: &[u8],
    layout: &Layout,
    out: &mut Vec<u8>,
) -> Result<(), SkipReason> {
    for row in handlers {
        let item = |at| u32::from(u16_at(row, at).unwrap_or_default());
        let (start, end, handler) = (item(0), item(2), item(4));
        let positions = (
            range_start(handlers, row, (start, code), layout),
            layout.end(end),
            layout.label(handler),
        );
        let (Some(new_start), Some(new_end), Some(_)) = positions else {
            return Err(bad_bci(start.max(end).max(handler)));
        };
        write_row((new_start, new_end), row, layout, out);
    }
    Ok(())
}

/// Returns the new start of this row's range. Code before its first label is on the path from the preceding
/// instruction. It is covered if that instruction is, or if that instruction enters the monitor that the handler
/// releases.
fn range_start(
    handlers: &[[u8; 8]],
    row: &[u8; 8],
    (bci, code): (u32, &[u8]),
    layout: &Layout,
) -> Option<u32> {
    let (start, label) = (layout.start(bci)?, layout.label(bci)?);
    let Some(before) = bci.checked_sub(1).filter(|_| start != label) else {
        return Some(label);
    };
    let covered = || {
        layout.begins(Bci(before as u16))
            && code.get(before as usize) == Some(&opcode::MONITORENTER)
            || handlers.len() <= MAX_EXTENDED_RANGES && contains_jointly(handlers, row, before)
    };
    Some(if covered() { start } else { label })
}

/// Moves the bcis in `table`, a copy of an attribute of `Code` other than `StackMapTable`. Returns false if its format
/// is unknown.
pub(crate) fn relocate(
    kind: CodeTable,
    attribute: &Attribute<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<bool, SkipReason> {
    match kind {
        CodeTable::Lines => lines(attribute, table, layout)?,
        CodeTable::Variables => variables(attribute, table, layout)?,
        CodeTable::TypeAnnotations => type_annotations(attribute, table, layout)?,
        CodeTable::CldcFrames => cldc_frames(attribute, table, layout)?,
        CodeTable::CharacterRanges => character_ranges(attribute, table, layout)?,
        CodeTable::Frames | CodeTable::Unknown => return Ok(false),
    }
    Ok(true)
}

/// Returns the rows of a table after its count; bytes after them stay unchanged.
fn rows<'t, const N: usize>(
    attribute: &Attribute<'_>,
    table: &'t mut [u8],
) -> Result<impl Iterator<Item = &'t mut [u8; N]>, ReadError> {
    let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
    let count = usize::from(cursor.u2("table_length")?);
    let rows = table.get_mut(2..).unwrap_or_default();
    Ok(rows.as_chunks_mut::<N>().0.iter_mut().take(count))
}

/// Returns the new start of a range or line at `bci`. At bci 0 it includes the code inserted at entry.
#[inline]
fn begin(bci: u16, layout: &Layout) -> Option<u16> {
    if bci == 0 {
        Some(0)
    } else {
        layout.label(u32::from(bci)).map(u2)
    }
}

fn lines(attribute: &Attribute<'_>, table: &mut [u8], layout: &Layout) -> Result<(), ReadError> {
    let rows = rows::<4>(attribute, table)?;
    for row in rows {
        let line = u32::from_be_bytes(*row);
        if let Some(label) = begin((line >> 16) as u16, layout) {
            *row = (u32::from(label) << 16 | line & 0xFFFF).to_be_bytes();
        }
    }
    Ok(())
}

/// Moves a start and length; values outside the code stay unchanged.
#[inline]
fn range(row: &mut [u8], layout: &Layout) {
    let Some(row) = row.first_chunk_mut::<4>() else {
        return;
    };
    let [s0, s1, l0, l1] = *row;
    let start = u16::from_be_bytes([s0, s1]);
    let end = u32::from(start) + u32::from(u16::from_be_bytes([l0, l1]));
    if let Some((start, end)) = begin(start, layout).zip(layout.end(end)) {
        let length = u2(end).saturating_sub(start);
        *row = (u32::from(start) << 16 | u32::from(length)).to_be_bytes();
    }
}

fn variables(
    attribute: &Attribute<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<(), ReadError> {
    let rows = rows::<10>(attribute, table)?;
    rows.for_each(|row| range(row, layout));
    Ok(())
}

/// Moves `StackMap` of CLDC (its specification, appendix 1): full frames, each with its bci. Only CLDC's verifier reads
/// it, so trampolines get no frames in it.
fn cldc_frames(
    attribute: &Attribute<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<(), SkipReason> {
    let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
    for _ in 0..cursor.u2("StackMap")? {
        let at = cursor.position();
        let bci = u32::from(cursor.u2("StackMap")?);
        let label = layout.label(bci).ok_or_else(|| bad_bci(bci))?;
        write_at(table, at, &u2(label).to_be_bytes());
        for _ in 0..2 {
            for _ in 0..cursor.u2("StackMap")? {
                cldc_type(&mut cursor, table, layout)?;
            }
        }
    }
    Ok(cursor.finish("StackMap")?)
}

fn cldc_type(cursor: &mut Cursor<'_>, table: &mut [u8], layout: &Layout) -> Result<(), SkipReason> {
    match cursor.u1("StackMap")? {
        0..=6 => {}
        7 => drop(cursor.u2("StackMap")?),
        8 => {
            let at = cursor.position();
            let bci = u32::from(cursor.u2("StackMap")?);
            let moved = layout.instruction(bci).ok_or_else(|| bad_bci(bci))?;
            write_at(table, at, &u2(moved).to_be_bytes());
        }
        tag => {
            let offset = cursor.offset() - 1;
            return Err(ReadError::UnknownFrame { offset, tag }.into());
        }
    }
    Ok(())
}

/// Moves `CharacterRangeTable` of `javac -Xjcov`: first bci, last bci, and the source range.
fn character_ranges(
    attribute: &Attribute<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<(), ReadError> {
    let rows = rows::<14>(attribute, table)?;
    for row in rows {
        let (Some(first), Some(last)) = (u16_at(row, 0), u16_at(row, 2)) else {
            continue;
        };
        let end = layout.end(u32::from(last) + 1);
        if let Some((first, end)) = begin(first, layout).zip(end) {
            write_at(row, 0, &first.to_be_bytes());
            write_at(row, 2, &(u2(end) - 1).to_be_bytes());
        }
    }
    Ok(())
}

/// Walks the annotations in the attribute and patches their targets in `table`.
fn type_annotations(
    attribute: &Attribute<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<(), SkipReason> {
    let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
    for _ in 0..cursor.u2("type annotations")? {
        let kind = cursor.u1("type_annotation.target_type")?;
        type_target(kind, &mut cursor, table, layout)?;
        skip_after_target(&mut cursor)?;
    }
    Ok(())
}

/// Moves one `target_info` (JVMS tables 4.7.20-A and B).
fn type_target(
    kind: u8,
    cursor: &mut Cursor<'_>,
    table: &mut [u8],
    layout: &Layout,
) -> Result<(), SkipReason> {
    let structure = "type_annotation.target_info";
    match kind {
        0x00 | 0x01 | 0x16 => drop(cursor.u1(structure)?),
        0x10 | 0x17 | 0x42 => drop(cursor.u2(structure)?),
        0x11 | 0x12 => drop(cursor.u2(structure)?),
        0x13..=0x15 => {}
        0x40 | 0x41 => {
            for _ in 0..cursor.u2(structure)? {
                let at = cursor.position();
                cursor.take(6, structure)?;
                range(table.get_mut(at..).unwrap_or_default(), layout);
            }
        }
        0x43..=0x4B => {
            let at = cursor.position();
            let bci = u32::from(cursor.u2(structure)?);
            if let Some(position) = layout.instruction(bci) {
                write_at(table, at, &u2(position).to_be_bytes());
            }
            if kind >= 0x47 {
                cursor.u1(structure)?;
            }
        }
        tag => {
            let offset = cursor.offset() - 1;
            return Err(ReadError::UnknownFrame { offset, tag }.into());
        }
    }
    Ok(())
}
