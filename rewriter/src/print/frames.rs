//! `StackMapTable` (JVMS 4.7.4), frame by frame at absolute bcis.

use std::fmt;

use crate::class::{Attribute, ClassFile};
use crate::cursor::Cursor;
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::print::names::Name;
use crate::print::row::{Row, Rows, row};

/// Writes one line per frame; what cannot be read ends them with the reason.
pub(super) fn write(
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    rows: Rows<'_>,
) -> fmt::Result {
    let mut reader = Reader {
        class,
        cursor: Cursor::new(attribute.bytes, attribute.offset),
        next: 0,
    };
    let count = reader.cursor.u2("StackMapTable").unwrap_or(0);
    rows(row!("      StackMapTable: {count} frames"))?;
    for _ in 0..count {
        match reader.frame() {
            Ok(row) => rows(row)?,
            Err(error) => return rows(row!("        ({error})")),
        }
    }
    Ok(())
}

struct Reader<'c, 'a> {
    class: &'c ClassFile<'a>,
    cursor: Cursor<'a>,
    /// The bci of the next frame if its delta is 0.
    next: u32,
}

const FRAME: &str = "stack_map_frame";

impl Reader<'_, '_> {
    fn frame(&mut self) -> Result<Row, ReadError> {
        let mut row = row!("        ");
        let tag = self.cursor.u1(FRAME)?;
        match tag {
            0..=63 => self.head(&mut row, u16::from(tag), "same"),
            64..=127 => {
                self.head(&mut row, u16::from(tag).wrapping_sub(64), "same");
                self.types(&mut row, " stack", 1)?;
            }
            247 => {
                let delta = self.cursor.u2(FRAME)?;
                self.head(&mut row, delta, "same");
                self.types(&mut row, " stack", 1)?;
            }
            248..=250 => {
                let delta = self.cursor.u2(FRAME)?;
                let chopped = 251_u8.wrapping_sub(tag);
                self.head(&mut row, delta, &format!("chop {chopped}"));
            }
            251 => {
                let delta = self.cursor.u2(FRAME)?;
                self.head(&mut row, delta, "same");
            }
            252..=254 => {
                let delta = self.cursor.u2(FRAME)?;
                self.head(&mut row, delta, "append");
                self.types(&mut row, "", u16::from(tag).wrapping_sub(251))?;
            }
            255 => {
                let delta = self.cursor.u2(FRAME)?;
                self.head(&mut row, delta, "full");
                let locals = self.cursor.u2(FRAME)?;
                self.types(&mut row, " locals", locals)?;
                let stack = self.cursor.u2(FRAME)?;
                self.types(&mut row, " stack", stack)?;
            }
            _ => {
                let offset = self.cursor.offset().wrapping_sub(1);
                return Err(ReadError::UnknownFrame { offset, tag });
            }
        }
        Ok(row)
    }

    fn head(&mut self, row: &mut Row, delta: u16, kind: &str) {
        let bci = self.next.wrapping_add(u32::from(delta));
        self.next = bci.wrapping_add(1);
        row.place(bci);
        row.say(": ");
        row.say(kind);
    }

    fn types(&mut self, row: &mut Row, label: &str, count: u16) -> Result<(), ReadError> {
        row.say(label);
        row.say(" [");
        for index in 0..count {
            row.say(if index == 0 { " " } else { ", " });
            self.verification_type(row)?;
        }
        row.say(" ]");
        Ok(())
    }

    fn verification_type(&mut self, row: &mut Row) -> Result<(), ReadError> {
        const TYPE: &str = "verification_type_info";
        let tag = self.cursor.u1(TYPE)?;
        let name = match tag {
            0 => "top",
            1 => "int",
            2 => "float",
            3 => "double",
            4 => "long",
            5 => "null",
            6 => "this",
            7 => {
                let index = PoolIndex(self.cursor.u2(TYPE)?);
                let name = self.class.pool().class_name(index);
                row.say(&match name {
                    Some(name) => format!("class {}", Name(name)),
                    None => format!("class #{index} (no such class)"),
                });
                return Ok(());
            }
            8 => {
                let bci = self.cursor.u2(TYPE)?;
                row.say("uninitialized ");
                row.place(u32::from(bci));
                return Ok(());
            }
            _ => {
                let offset = self.cursor.offset().wrapping_sub(1);
                return Err(ReadError::UnknownFrame { offset, tag });
            }
        };
        row.say(name);
        Ok(())
    }
}
