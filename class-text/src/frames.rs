//! `StackMapTable` (JVMS 4.7.4), frame by frame at absolute bcis.

use std::fmt;

use crate::name::Name;
use crate::row::{Row, Rows, row};
use rewriter::{
    Attribute, ClassFile, FrameKind, PoolIndex, ReadError, StackMapReader, VerificationType, item,
};

/// Writes one line per frame; ends with the error at a malformed one.
pub(super) fn write(
    class: &ClassFile<'_>,
    attribute: &Attribute<'_>,
    rows: Rows<'_>,
) -> fmt::Result {
    let table = StackMapReader::new(attribute.bytes, attribute.offset);
    let count = table.as_ref().map_or(0, StackMapReader::left);
    rows(row!("      StackMapTable: {count} frames"))?;
    let Ok(table) = table else {
        return Ok(());
    };
    let mut reader = Reader { class, table };
    loop {
        match reader.frame() {
            Ok(Some(row)) => rows(row)?,
            Ok(None) => return Ok(()),
            Err(error) => return rows(row!("        ({error})")),
        }
    }
}

struct Reader<'c, 'a> {
    class: &'c ClassFile<'a>,
    table: StackMapReader<'a>,
}

impl Reader<'_, '_> {
    fn frame(&mut self) -> Result<Option<Row>, ReadError> {
        let Some((kind, bci)) = self.table.frame()? else {
            return Ok(None);
        };
        let mut row = row!("        ");
        row.place(bci);
        row.write(": ");
        if let Some(unset) = self.table.unset_fields().indices() {
            row.write("unset [");
            for (place, index) in unset.enumerate() {
                row.write(if place == 0 { " " } else { ", " });
                let field = self.class.pool().name_and_type(index);
                row.write(&match field {
                    Some((name, _)) => Name(name).to_string(),
                    None => format!("#{} (no such field)", index.0),
                });
            }
            row.write(" ] ");
        }
        match kind {
            FrameKind::Same => row.write("same"),
            FrameKind::SameLocals1StackItem => {
                row.write("same");
                self.types(&mut row, " stack", 1)?;
            }
            FrameKind::Chop(count) => row.write(&format!("chop {count}")),
            FrameKind::Append(count) => {
                row.write("append");
                self.types(&mut row, "", u16::from(count))?;
            }
            FrameKind::Full => {
                row.write("full");
                for label in [" locals", " stack"] {
                    let count = self.table.count()?;
                    self.types(&mut row, label, count)?;
                }
            }
        }
        Ok(Some(row))
    }

    fn types(&mut self, row: &mut Row, label: &str, count: u16) -> Result<(), ReadError> {
        row.write(label);
        row.write(" [");
        for index in 0..count {
            row.write(if index == 0 { " " } else { ", " });
            self.verification_type(row)?;
        }
        row.write(" ]");
        Ok(())
    }

    fn verification_type(&mut self, row: &mut Row) -> Result<(), ReadError> {
        let VerificationType { tag, value } = self.table.verification_type()?;
        row.write(match tag {
            item::TOP => "top",
            item::INTEGER => "int",
            item::FLOAT => "float",
            item::DOUBLE => "double",
            item::LONG => "long",
            item::NULL => "null",
            item::UNINITIALIZED_THIS => "this",
            item::OBJECT => {
                let name = self.class.pool().class_name(PoolIndex(value));
                row.write(&match name {
                    Some(name) => format!("class {}", Name(name)),
                    None => format!("class #{value} (no such class)"),
                });
                return Ok(());
            }
            _ => {
                row.write("uninitialized ");
                row.place(u32::from(value));
                return Ok(());
            }
        });
        Ok(())
    }
}
