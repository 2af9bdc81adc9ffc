//! Checks that every index of a class is within its constant pool. Otherwise an index after the end could refer to an
//! appended entry later.

use crate::class::{Attributes, ClassFile};
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::PoolIndex;
use jvms::constant_tag;

/// Checks pool entries, interfaces, members, and the names of attributes outside code.
pub(super) fn check_index_bounds(class: &ClassFile<'_>) -> Result<(), ReadError> {
    let check = IndexCheck {
        bytes: class.bytes(),
        count: class.pool().count(),
    };
    check.pool(class)?;
    let header = class.pool().end();
    check.at(header + 4, "super_class")?;
    let interfaces = usize::from(u16_at(check.bytes, header + 6).unwrap_or_default());
    for number in 0..interfaces {
        check.at(header + 8 + number * 2, "interfaces")?;
    }
    for field in class.fields() {
        check.member(field.start(), "field_info")?;
        check.attributes(field.attributes())?;
    }
    for method in class.methods() {
        check.member(method.start(), "method_info")?;
        check.attributes(method.attributes())?;
    }
    check.attributes(class.attributes())
}

struct IndexCheck<'a> {
    bytes: &'a [u8],
    /// `constant_pool_count`.
    count: u16,
}

impl IndexCheck<'_> {
    fn at(&self, offset: usize, structure: &'static str) -> Result<(), ReadError> {
        let index = u16_at(self.bytes, offset).unwrap_or_default();
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
                constant_tag::CLASS
                | constant_tag::STRING
                | constant_tag::METHOD_TYPE
                | constant_tag::MODULE
                | constant_tag::PACKAGE => {
                    self.at(at + 1, structure)?;
                }
                constant_tag::FIELD_REF
                | constant_tag::METHOD_REF
                | constant_tag::INTERFACE_METHOD_REF
                | constant_tag::NAME_AND_TYPE => {
                    self.at(at + 1, structure)?;
                    self.at(at + 3, structure)?;
                }
                constant_tag::METHOD_HANDLE => self.at(at + 2, structure)?,
                constant_tag::DYNAMIC | constant_tag::INVOKE_DYNAMIC => {
                    self.at(at + 3, structure)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Checks name and descriptor of a member at `start`.
    fn member(&self, start: usize, structure: &'static str) -> Result<(), ReadError> {
        self.at(start + 2, structure)?;
        self.at(start + 4, structure)
    }

    fn attributes(&self, attributes: Attributes<'_, '_>) -> Result<(), ReadError> {
        for attribute in attributes {
            let head = attribute.offset as usize - 6;
            self.at(head, "attribute_info")?;
        }
        Ok(())
    }
}
