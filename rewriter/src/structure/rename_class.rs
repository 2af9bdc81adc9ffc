//! Replaces names in place: every index of a text that names a type or member is changed to a new entry after the pool.
//! Only the size of the pool changes, so code, frames and tables stay in place. Texts that strings share keep their
//! contents.

use std::collections::HashMap;

use crate::bytes::write_at;
use crate::class::{Attribute, Attributes, ClassFile, skip_attributes, skip_target};
use crate::cursor::{Cursor, u16_at};
use crate::edits::{ClassEdit, StructureError};
use crate::error::ReadError;
use crate::index::PoolIndex;
use crate::limits::MAX_ELEMENT_DEPTH;
use crate::pool::PoolWriter;
use crate::structure::names::{Names, Role};
use jvms::constant_tag;
use jvms::descriptor::{FieldType, return_type};

/// Returns the class file with new names from the edits that rename; it ignores other edits.
///
/// # Errors
/// A part of the class with names is malformed, or the constant pool has no room.
pub fn rename_class(class: &ClassFile<'_>, edits: &[ClassEdit]) -> Result<Vec<u8>, StructureError> {
    Ok(rename(class, &Names::of(edits))?.0)
}

/// Returns the class file with new names, and the offsets of changed indices in the old one.
pub(crate) fn rename(
    class: &ClassFile<'_>,
    names: &Names,
) -> Result<(Vec<u8>, Vec<usize>), StructureError> {
    let mut pool = PoolWriter::default();
    pool.begin(class.pool().count());
    let mut renamer = Renamer {
        class,
        names,
        pool,
        texts: HashMap::new(),
        pairs: HashMap::new(),
        out: class.bytes().to_vec(),
        places: Vec::new(),
    };
    renamer.pool_entries()?;
    renamer.members()?;
    let attributes = class.attributes();
    renamer.attributes(attributes)?;
    let Renamer {
        pool,
        mut out,
        places,
        ..
    } = renamer;
    let end = class.pool().end();
    out.splice(end..end, pool.bytes().iter().copied());
    write_at(&mut out, 8, &pool.count().to_be_bytes());
    Ok((out, places))
}

struct Renamer<'r, 'a> {
    class: &'r ClassFile<'a>,
    names: &'r Names,
    pool: PoolWriter,
    /// New texts by content.
    texts: HashMap<Vec<u8>, u16>,
    /// New `CONSTANT_NameAndType`s by their items.
    pairs: HashMap<(u16, u16), u16>,
    /// The class file with changed indices.
    out: Vec<u8>,
    /// The offsets of changed indices.
    places: Vec<usize>,
}

impl<'a> Renamer<'_, 'a> {
    fn item(&self, at: usize) -> Result<u16, ReadError> {
        u16_at(self.class.bytes(), at).ok_or(ReadError::Truncated {
            structure: "constant pool index",
            offset: u32::try_from(at).unwrap_or(u32::MAX),
            needed: 2,
        })
    }

    fn text(&self, index: u16) -> &'a [u8] {
        let text = self.class.pool().utf8(PoolIndex(index));
        text.unwrap_or_default().as_bytes()
    }

    fn overwrite(&mut self, at: usize, index: u16) {
        write_at(&mut self.out, at, &index.to_be_bytes());
        self.places.push(at);
    }

    /// Returns the index of a new text.
    fn added(&mut self, text: &[u8]) -> Result<u16, StructureError> {
        if let Some(index) = self.texts.get(text) {
            return Ok(*index);
        }
        if text.len() > usize::from(u16::MAX) {
            return Err(StructureError::NameTooLong {
                length: text.len() as u64,
            });
        }
        let index = self.pool.utf8(text).ok_or(StructureError::PoolFull)?;
        self.texts.insert(text.to_vec(), index);
        Ok(index)
    }

    /// Changes the index at `at` to the new form of its text, if there is one.
    fn point(&mut self, at: usize, role: Role) -> Result<(), StructureError> {
        let old = self.text(self.item(at)?);
        if let Some(new) = self.names.text(role, old) {
            let index = self.added(&new)?;
            self.overwrite(at, index);
        }
        Ok(())
    }

    /// Changes the index at `at` to this text, if there is one.
    fn point_to(&mut self, at: usize, new: Option<&[u8]>) -> Result<(), StructureError> {
        if let Some(new) = new {
            let index = self.added(new)?;
            self.overwrite(at, index);
        }
        Ok(())
    }

    fn pool_entries(&mut self) -> Result<(), StructureError> {
        let pool = self.class.pool();
        for index in (1..pool.count()).map(PoolIndex) {
            let (Some(at), Some(tag)) = (pool.offset(index), pool.tag(index)) else {
                continue;
            };
            let first = at + 1;
            match tag {
                constant_tag::CLASS => self.point(first, Role::Class)?,
                constant_tag::METHOD_TYPE => self.point(first, Role::Signature)?,
                constant_tag::NAME_AND_TYPE => self.point(at + 3, Role::Signature)?,
                constant_tag::FIELD_REF
                | constant_tag::METHOD_REF
                | constant_tag::INTERFACE_METHOD_REF => {
                    let owner = pool.class_name(PoolIndex(self.item(first)?));
                    let owner = owner.unwrap_or_default().as_bytes();
                    self.name_and_type(at + 3, owner)?;
                }
                constant_tag::INVOKE_DYNAMIC => self.lambda(at)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Changes the index at `at` to a name and type with the new name of a member of `owner`. Other owners may share
    /// the old entry.
    fn name_and_type(&mut self, at: usize, owner: &[u8]) -> Result<(), StructureError> {
        if !self.names.renames_members() {
            return Ok(());
        }
        let pair = self.class.pool().name_and_type(PoolIndex(self.item(at)?));
        let Some((name, descriptor)) = pair else {
            return Ok(());
        };
        let descriptor = descriptor.as_bytes();
        let names = self.names;
        match names.member(owner, name.as_bytes(), descriptor) {
            Some(new) => self.renamed_pair(at, new, descriptor),
            None => Ok(()),
        }
    }

    fn renamed_pair(
        &mut self,
        at: usize,
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<(), StructureError> {
        let new = self.names.text(Role::Signature, descriptor);
        let name = self.added(name)?;
        let descriptor = self.added(new.as_deref().unwrap_or(descriptor))?;
        let index = match self.pairs.get(&(name, descriptor)) {
            Some(index) => *index,
            None => {
                let pair = self.pool.name_and_type(name, descriptor);
                let index = pair.ok_or(StructureError::PoolFull)?;
                self.pairs.insert((name, descriptor), index);
                index
            }
        };
        self.overwrite(at, index);
        Ok(())
    }

    /// Renames a call site of `LambdaMetafactory`. Its name is that of the method of the functional interface. The
    /// first static argument is that method's type, and the return type is the interface.
    fn lambda(&mut self, at: usize) -> Result<(), StructureError> {
        if !self.names.renames_members() {
            return Ok(());
        }
        let found = self
            .class
            .pool()
            .name_and_type(PoolIndex(self.item(at + 3)?));
        let Some((name, descriptor)) = found else {
            return Ok(());
        };
        let bootstrap = usize::from(self.item(at + 1)?);
        let Some((interface, method)) = self.functional(bootstrap, descriptor.as_bytes()) else {
            return Ok(());
        };
        let names = self.names;
        match names.member(interface, name.as_bytes(), method) {
            Some(new) => self.renamed_pair(at + 3, new, descriptor.as_bytes()),
            None => Ok(()),
        }
    }

    /// Returns interface and method descriptor of a lambda's call site.
    fn functional<'d>(
        &self,
        bootstrap: usize,
        descriptor: &'d [u8],
    ) -> Option<(&'d [u8], &'a [u8])> {
        let pool = self.class.pool();
        let found = self.class.bootstrap_methods().nth(bootstrap)?;
        let factory = pool.method_handle(found.method_handle)?;
        if factory.member.owner != "java/lang/invoke/LambdaMetafactory" {
            return None;
        }
        let method = pool.method_type(found.arguments().next()?)?;
        match return_type(descriptor)? {
            FieldType::Class(interface) => Some((interface, method.as_bytes())),
            _ => None,
        }
    }

    fn members(&mut self) -> Result<(), StructureError> {
        let class = self.class;
        let fields = class
            .fields()
            .map(|field| (field.start(), field.attributes()));
        let methods = class
            .methods()
            .map(|method| (method.start(), method.attributes()));
        for (start, attributes) in fields.chain(methods) {
            let owner = class.this_class().as_bytes();
            let name = start + 2;
            let descriptor = start + 4;
            let texts = (
                self.text(self.item(name)?),
                self.text(self.item(descriptor)?),
            );
            let names = self.names;
            self.point_to(name, names.member(owner, texts.0, texts.1))?;
            self.point(descriptor, Role::Signature)?;
            self.attributes(attributes)?;
        }
        Ok(())
    }

    fn attributes(&mut self, attributes: Attributes<'_, 'a>) -> Result<(), StructureError> {
        for attribute in attributes {
            self.attribute(&attribute)?;
        }
        Ok(())
    }

    fn attribute(&mut self, attribute: &Attribute<'a>) -> Result<(), StructureError> {
        let start = attribute.offset as usize;
        let mut cursor = Cursor::new(attribute.bytes, attribute.offset);
        match attribute.name.as_bytes() {
            b"Signature" => {
                cursor.u2("Signature")?;
                self.point(start, Role::Signature)
            }
            b"Code" => self.code(&mut cursor),
            b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                for _ in 0..cursor.u2("LocalVariableTable")? {
                    let row = cursor.offset() as usize;
                    cursor.take(10, "LocalVariableTable")?;
                    self.point(row + 6, Role::Signature)?;
                }
                Ok(())
            }
            b"InnerClasses" => self.inner_classes(&mut cursor),
            b"EnclosingMethod" => {
                cursor.take(4, "EnclosingMethod")?;
                let owner = self.class.pool().class_name(PoolIndex(self.item(start)?));
                let owner = owner.unwrap_or_default().as_bytes();
                self.name_and_type(start + 2, owner)
            }
            b"Record" => self.components(&mut cursor),
            b"RuntimeVisibleAnnotations" | b"RuntimeInvisibleAnnotations" => {
                self.annotations(&mut cursor)
            }
            b"RuntimeVisibleParameterAnnotations" | b"RuntimeInvisibleParameterAnnotations" => {
                for _ in 0..cursor.u1("parameter_annotations")? {
                    self.annotations(&mut cursor)?;
                }
                Ok(())
            }
            b"RuntimeVisibleTypeAnnotations" | b"RuntimeInvisibleTypeAnnotations" => {
                for _ in 0..cursor.u2("type annotations")? {
                    skip_target(&mut cursor)?;
                    self.annotation(&mut cursor, 0)?;
                }
                Ok(())
            }
            b"AnnotationDefault" => self.element(&mut cursor, 0),
            _ => Ok(()),
        }
    }

    /// Renames in the attributes of `Code`; the pool holds the class names of frames and handlers.
    fn code(&mut self, cursor: &mut Cursor<'a>) -> Result<(), StructureError> {
        cursor.take(4, "Code")?;
        let length = cursor.u4("Code.code_length")?;
        cursor.take(length as usize, "Code.code")?;
        let handlers = usize::from(cursor.u2("Code.exception_table_length")?);
        cursor.take(handlers * 8, "Code.exception_table")?;
        let at = cursor.offset() as usize;
        skip_attributes(cursor, "Code attributes")?;
        let class = self.class;
        self.attributes(Attributes::new(class.pool(), class.bytes(), at))
    }

    fn inner_classes(&mut self, cursor: &mut Cursor<'a>) -> Result<(), StructureError> {
        for _ in 0..cursor.u2("InnerClasses")? {
            let row = cursor.offset() as usize;
            cursor.take(8, "InnerClasses")?;
            let name = row + 4;
            let inner = self.class.pool().class_name(PoolIndex(self.item(row)?));
            let inner = inner.unwrap_or_default().as_bytes();
            let old = self.text(self.item(name)?);
            // A missing simple name, or one that is no part of the class name, stays.
            if !old.is_empty() && inner.ends_with(old) {
                let new = self.names.simple(inner);
                self.point_to(name, new.filter(|new| *new != old))?;
            }
        }
        Ok(())
    }

    fn components(&mut self, cursor: &mut Cursor<'a>) -> Result<(), StructureError> {
        for _ in 0..cursor.u2("Record")? {
            let start = cursor.offset() as usize;
            cursor.take(4, "record_component_info")?;
            self.point(start + 2, Role::Signature)?;
            let at = cursor.offset() as usize;
            skip_attributes(cursor, "record_component_info")?;
            let class = self.class;
            self.attributes(Attributes::new(class.pool(), class.bytes(), at))?;
        }
        Ok(())
    }

    fn annotations(&mut self, cursor: &mut Cursor<'a>) -> Result<(), StructureError> {
        for _ in 0..cursor.u2("num_annotations")? {
            self.annotation(cursor, 0)?;
        }
        Ok(())
    }

    /// Renames a type, and pairs of element name (a method of the type) and value.
    fn annotation(&mut self, cursor: &mut Cursor<'a>, depth: u32) -> Result<(), StructureError> {
        let at = cursor.offset() as usize;
        let kind = self.text(cursor.u2("annotation")?);
        self.point(at, Role::Signature)?;
        let owner = class_of(kind);
        for _ in 0..cursor.u2("annotation")? {
            let at = cursor.offset() as usize;
            let name = self.text(cursor.u2("element_value_pairs")?);
            let names = self.names;
            self.point_to(at, names.member_by_name(owner, name))?;
            self.element(cursor, depth)?;
        }
        Ok(())
    }

    fn element(&mut self, cursor: &mut Cursor<'a>, depth: u32) -> Result<(), StructureError> {
        if depth >= MAX_ELEMENT_DEPTH {
            let offset = cursor.offset();
            return Err(ReadError::TooDeep { offset }.into());
        }
        let deeper = depth + 1;
        let kind = cursor.u1("element_value")?;
        let at = cursor.offset() as usize;
        match kind {
            b'e' => {
                let owner = self.text(cursor.u2("element_value")?);
                let constant = self.text(cursor.u2("element_value")?);
                let names = self.names;
                let new = names.member(class_of(owner), constant, owner);
                self.point_to(at + 2, new)?;
                self.point(at, Role::Signature)
            }
            b'c' => {
                cursor.u2("element_value")?;
                self.point(at, Role::Signature)
            }
            b'@' => self.annotation(cursor, deeper),
            b'[' => {
                for _ in 0..cursor.u2("element_value")? {
                    self.element(cursor, deeper)?;
                }
                Ok(())
            }
            _ => Ok(cursor.u2("element_value").map(drop)?),
        }
    }
}

/// Returns the internal name in the descriptor of a class.
fn class_of(descriptor: &[u8]) -> &[u8] {
    let name = descriptor.strip_prefix(b"L");
    name.and_then(|name| name.strip_suffix(b";"))
        .unwrap_or_default()
}
