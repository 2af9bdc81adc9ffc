//! The class file (JVMS 4.1) as a lazy view.

use crate::class::annotation;
use crate::class::attribute::bootstrap_methods;
use crate::class::attribute::{Attribute, Attributes, BootstrapMethod, skip_attributes};
use crate::class::code::CodeLayout;
use crate::class::code_index::{CodeIndex, CodeMemory, LazyCode};
use crate::class::header::ClassHeader;
use crate::class::instruction_map::InstructionMap;
use crate::class::record::{MethodRecord, read_records};
use crate::cursor::{Cursor, u16_at, u16s};
use crate::error::ReadError;
use crate::index::{MethodIndex, PoolIndex};
use crate::pool::ConstantPool;
use jvms::access_flags::ACC_INTERFACE;
use jvms::modified_utf8::Utf8;

/// Index tables of a [`ClassFile`]. The next one reuses their memory, so that reading class after class allocates
/// nothing.
#[derive(Debug, Default)]
pub struct Tables {
    offsets: Vec<u32>,
    methods: Vec<MethodRecord>,
    code: CodeMemory,
}

/// A class file of any version from 45 up. Newer versions than the known ones are accepted while the structure stays
/// the same.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    bytes: &'a [u8],
    pool: ConstantPool<'a>,
    access_flags: u16,
    this_class: Utf8<'a>,
    this_index: PoolIndex,
    super_class: PoolIndex,
    interfaces: &'a [u8],
    methods: Vec<MethodRecord>,
    code: LazyCode,
    attributes: u32,
}

impl<'a> ClassFile<'a> {
    /// Reads the structure of a class file. This walks pool entries, fields, methods and attributes, but decodes no
    /// code and no attribute contents.
    ///
    /// # Errors
    /// The bytes are not a class file, are truncated, or continue after its end.
    pub fn read(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read_with(bytes, Tables::default())
    }

    /// Does the same as [`ClassFile::read`] with the tables of an earlier class, see [`ClassFile::into_tables`].
    ///
    /// # Errors
    /// As [`ClassFile::read`]; the tables are then lost.
    pub fn read_with(bytes: &'a [u8], tables: Tables) -> Result<Self, ReadError> {
        let Tables {
            offsets,
            methods,
            code,
        } = tables;
        let header = ClassHeader::read_with(bytes, offsets)?;
        Self::read_members(bytes, header, methods, code)
    }

    /// Does the same in less time if the pool begins with that of `known`.
    pub(crate) fn read_beside(
        bytes: &'a [u8],
        tables: Tables,
        known: &ClassFile<'_>,
    ) -> Result<Self, ReadError> {
        let Tables {
            offsets,
            methods,
            code,
        } = tables;
        let header = ClassHeader::read_beside(bytes, offsets, &known.pool)?;
        Self::read_members(bytes, header, methods, code)
    }

    /// Reads fields, methods and attributes.
    fn read_members(
        bytes: &'a [u8],
        header: ClassHeader<'a>,
        methods: Vec<MethodRecord>,
        code: CodeMemory,
    ) -> Result<Self, ReadError> {
        let ClassHeader {
            pool,
            access_flags,
            this_class,
            this_index,
        } = header;
        let mut cursor = Cursor::at(bytes, pool.end() + 4, 0);
        let offset = cursor.offset();
        let super_class = PoolIndex(cursor.u2("super_class")?);
        if super_class != PoolIndex(0) {
            expect_classes(&pool, "super_class", &super_class.0.to_be_bytes(), offset)?;
        }
        let interfaces = usize::from(cursor.u2("interfaces_count")?) * 2;
        let offset = cursor.offset();
        let interfaces = cursor.take(interfaces, "interfaces")?;
        expect_classes(&pool, "interfaces", interfaces, offset)?;
        for _ in 0..cursor.u2("fields_count")? {
            cursor.take(6, "field_info")?;
            skip_attributes(&mut cursor, "field_info attributes")?;
        }
        let methods = read_records(&mut cursor, &pool, methods)?;
        let attributes = cursor.offset();
        skip_attributes(&mut cursor, "ClassFile attributes")?;
        cursor.finish("ClassFile")?;
        Ok(ClassFile {
            bytes,
            pool,
            access_flags,
            this_class,
            this_index,
            super_class,
            interfaces,
            methods,
            code: LazyCode::with(code),
            attributes,
        })
    }

    /// Returns the index tables for the next class.
    #[must_use]
    pub fn into_tables(mut self) -> Tables {
        self.take_tables()
    }

    /// Takes the tables of a class that cannot be consumed; it then has no methods and no constants.
    #[must_use]
    pub fn take_tables(&mut self) -> Tables {
        Tables {
            offsets: self.pool.take_offsets(),
            methods: std::mem::take(&mut self.methods),
            code: self.code.take_memory(),
        }
    }

    /// Returns the whole class file.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns `minor_version`; 65,535 marks preview features.
    #[must_use]
    pub fn minor_version(&self) -> u16 {
        u16_at(self.bytes, 4).unwrap_or_default()
    }

    /// Returns `major_version`: 45 and up, 44 more than the Java release since 1.2.
    #[must_use]
    pub fn major_version(&self) -> u16 {
        u16_at(self.bytes, 6).unwrap_or_default()
    }

    /// Returns `access_flags` of the class (JVMS table 4.1-B).
    #[must_use]
    pub fn access_flags(&self) -> u16 {
        self.access_flags
    }

    /// Checks for `ACC_INTERFACE`.
    #[must_use]
    pub fn is_interface(&self) -> bool {
        self.access_flags & ACC_INTERFACE != 0
    }

    /// Returns the internal name of the class (JVMS 4.2.1).
    #[must_use]
    pub fn this_class(&self) -> Utf8<'a> {
        self.this_class
    }

    /// Returns the internal name of the superclass. `None` for `java/lang/Object`, a module, or an index that refers to
    /// no class.
    #[must_use]
    pub fn super_class(&self) -> Option<Utf8<'a>> {
        self.pool.class_name(self.super_class)
    }

    /// Returns the internal names of the direct superinterfaces. Indices that refer to no class are left out.
    pub fn interfaces(&self) -> impl Iterator<Item = Utf8<'a>> + '_ {
        u16s(self.interfaces).filter_map(|index| self.pool.class_name(PoolIndex(index)))
    }

    /// Returns the constant pool.
    #[must_use]
    pub fn pool(&self) -> &ConstantPool<'a> {
        &self.pool
    }

    pub(crate) fn this_class_index(&self) -> PoolIndex {
        self.this_index
    }

    /// Returns the offset of the class's `fields_count`.
    pub(crate) fn fields_start(&self) -> usize {
        // access_flags, this_class, super_class, interfaces_count
        let header = self.pool.end() + 8;
        header + self.interfaces.len()
    }

    /// Returns the offset of the first method, after `methods_count`.
    #[must_use]
    pub fn methods_start(&self) -> usize {
        let first = self.methods.first();
        first.map_or(self.attributes_start(), |record| record.start as usize)
    }

    /// Returns the attribute `BootstrapMethods`.
    pub(crate) fn bootstrap_table(&self) -> Option<Attribute<'a>> {
        self.attribute("BootstrapMethods")
    }

    /// Returns the offset of the class's `attributes_count`.
    #[must_use]
    pub fn attributes_start(&self) -> usize {
        self.attributes as usize
    }

    pub(crate) fn records(&self) -> &[MethodRecord] {
        &self.methods
    }

    fn code_index(&self) -> &CodeIndex {
        self.code.index(self.bytes, &self.methods)
    }

    /// Returns the layout of a method's code; empty without readable code. The first call computes it for all methods.
    #[inline]
    pub(super) fn code_layout(&self, method: MethodIndex) -> CodeLayout {
        let layouts = self.code.layouts(self.bytes, &self.methods);
        layouts
            .get(usize::from(method))
            .copied()
            .unwrap_or_default()
    }

    /// Returns instruction starts and jumps of a method, all jumps into the code. The first call computes them for all
    /// methods.
    pub(crate) fn instruction_map(
        &self,
        method: MethodIndex,
    ) -> Result<InstructionMap<'_>, ReadError> {
        self.code_index().method(method, self.bytes)
    }

    /// Returns the instruction starts of a method, if all instructions can be decoded.
    pub(crate) fn decoded_map(&self, method: MethodIndex) -> Option<&[u8]> {
        self.code_index().decoded(method)
    }

    /// Returns the attributes of the class (JVMS 4.7), nested ones not included.
    pub fn attributes(&self) -> Attributes<'_, 'a> {
        Attributes::new(&self.pool, self.bytes, self.attributes as usize)
    }

    /// Returns the first attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<Attribute<'a>> {
        self.attributes().named(name)
    }

    /// Returns the text of `SourceFile` (JVMS 4.7.10).
    #[must_use]
    pub fn source_file(&self) -> Option<Utf8<'a>> {
        self.attribute("SourceFile")?.utf8(&self.pool)
    }

    /// Returns the text of `Signature` (JVMS 4.7.9).
    #[must_use]
    pub fn signature(&self) -> Option<Utf8<'a>> {
        self.attribute("Signature")?.utf8(&self.pool)
    }

    /// Returns the text of `SourceDebugExtension` (JVMS 4.7.11).
    #[must_use]
    pub fn source_debug_extension(&self) -> Option<Utf8<'a>> {
        self.attribute("SourceDebugExtension")
            .map(|attribute| Utf8::new(attribute.bytes))
    }

    /// Returns the descriptors of the class's annotations, visible and invisible at run time.
    pub fn annotations(&self) -> impl Iterator<Item = Utf8<'a>> + '_ {
        annotation::descriptors(self.attributes(), annotation::ALL)
    }

    /// Returns the table of `BootstrapMethods` (JVMS 4.7.23), in order.
    pub fn bootstrap_methods(&self) -> impl Iterator<Item = BootstrapMethod<'a>> + '_ {
        bootstrap_methods(self.bootstrap_table())
    }
}

/// Checks that these indices refer to classes. Otherwise an index after the pool's end could refer to an appended entry
/// later.
fn expect_classes(
    pool: &ConstantPool<'_>,
    structure: &'static str,
    indices: &[u8],
    offset: u32,
) -> Result<(), ReadError> {
    for (place, index) in u16s(indices).enumerate() {
        if pool.class_name(PoolIndex(index)).is_none() {
            return Err(ReadError::BadPoolIndex {
                structure,
                offset: offset + (place * 2) as u32,
                expected: "class",
                index,
            });
        }
    }
    Ok(())
}
