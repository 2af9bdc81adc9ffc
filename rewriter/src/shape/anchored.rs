//! Whether every index of a class leads into its constant pool. One that leads
//! behind the end would get a meaning when the pool grows.

use crate::class::{Attributes, ClassFile};
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::pool::tag;

/// Expects it of pool entries, interfaces, members, and the names of attributes
/// outside of code.
pub(super) fn anchored(class: &ClassFile<'_>) -> Result<(), ReadError> {
    let look = Look {
        bytes: class.bytes(),
        count: class.pool().count(),
    };
    look.pool(class)?;
    let header = class.pool().end();
    look.at(header.wrapping_add(4), "super_class")?;
    let interfaces = usize::from(u16_at(look.bytes, header.wrapping_add(6)).unwrap_or(0));
    for number in 0..interfaces {
        look.at(
            header.wrapping_add(8).wrapping_add(number.wrapping_mul(2)),
            "interfaces",
        )?;
    }
    for field in class.fields() {
        look.member(field.start(), "field_info")?;
        look.attributes(field.attributes())?;
    }
    for method in class.methods() {
        look.member(method.start(), "method_info")?;
        look.attributes(method.attributes())?;
    }
    look.attributes(class.attributes())
}

struct Look<'a> {
    bytes: &'a [u8],
    /// `constant_pool_count`.
    count: u16,
}

impl Look<'_> {
    fn at(&self, offset: usize, structure: &'static str) -> Result<(), ReadError> {
        let index = u16_at(self.bytes, offset).unwrap_or(0);
        if index < self.count {
            return Ok(());
        }
        Err(ReadError::BadPoolIndex {
            structure,
            offset: offset as u32,
            expected: "constant",
            index,
        })
    }

    fn pool(&self, class: &ClassFile<'_>) -> Result<(), ReadError> {
        let pool = class.pool();
        for index in (1..self.count).map(PoolIndex) {
            let (Some(at), Some(tag)) = (pool.offset(index), pool.tag(index)) else {
                continue;
            };
            let structure = "constant pool entry";
            match tag {
                tag::CLASS | tag::STRING | tag::METHOD_TYPE | tag::MODULE | tag::PACKAGE => {
                    self.at(at.wrapping_add(1), structure)?;
                }
                tag::FIELD | tag::METHOD | tag::INTERFACE_METHOD | tag::NAME_AND_TYPE => {
                    self.at(at.wrapping_add(1), structure)?;
                    self.at(at.wrapping_add(3), structure)?;
                }
                tag::METHOD_HANDLE => self.at(at.wrapping_add(2), structure)?,
                tag::DYNAMIC | tag::INVOKE_DYNAMIC => self.at(at.wrapping_add(3), structure)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Name and descriptor of a member that begins at `start`.
    fn member(&self, start: usize, structure: &'static str) -> Result<(), ReadError> {
        self.at(start.wrapping_add(2), structure)?;
        self.at(start.wrapping_add(4), structure)
    }

    fn attributes(&self, attributes: Attributes<'_, '_>) -> Result<(), ReadError> {
        for attribute in attributes {
            let head = (attribute.offset as usize).wrapping_sub(6);
            self.at(head, "attribute_info")?;
        }
        Ok(())
    }
}
