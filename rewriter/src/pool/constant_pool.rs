//! The constant pool (JVMS 4.4): an offset table over the class's bytes.

use crate::cursor::{Cursor, u16_at, u32_at};
use crate::error::ReadError;
use crate::index::PoolIndex;
use jvms::constant_tag;

use jvms::modified_utf8::Utf8;

/// A field or method reference (JVMS 4.4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberRef<'a> {
    /// Internal name of the class, or descriptor of the array type.
    pub owner: Utf8<'a>,
    /// Name of the member.
    pub name: Utf8<'a>,
    /// Its descriptor.
    pub descriptor: Utf8<'a>,
    /// True for a method of an interface (`CONSTANT_InterfaceMethodref`).
    pub interface: bool,
}

/// A dynamically computed constant or call site (JVMS 4.4.10).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dynamic<'a> {
    /// Index into the class's bootstrap methods.
    pub bootstrap: u16,
    /// Name passed to the bootstrap method.
    pub name: Utf8<'a>,
    /// Field descriptor of the constant, or method descriptor of the call site.
    pub descriptor: Utf8<'a>,
}

/// A method handle (JVMS 4.4.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MethodHandle<'a> {
    /// Reference kind, 1 to 9 (JVMS table 5.4.3.5-A).
    pub kind: u8,
    /// The member.
    pub member: MemberRef<'a>,
}

/// A constant for `ldc` or a bootstrap method (JVMS table 4.4-C).
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum LoadableConstant<'a> {
    /// An `int`.
    Integer(i32),
    /// A `float`; its bits are preserved.
    Float(f32),
    /// A `long`.
    Long(i64),
    /// A `double`; its bits are preserved.
    Double(f64),
    /// A string.
    String(Utf8<'a>),
    /// A class by internal name or array descriptor.
    Class(Utf8<'a>),
    /// A method handle.
    MethodHandle(MethodHandle<'a>),
    /// A method type by descriptor.
    MethodType(Utf8<'a>),
    /// A dynamically computed constant.
    Dynamic(Dynamic<'a>),
}

/// Offset of the first entry in a class file.
const ENTRIES: usize = 10;

/// Returns the front of a class file with a constant pool of `count` and these entries (JVMS 4.4), for
/// [`ConstantPool::of_front`]. JVM TI gives the pool of a loaded class without the class file.
#[must_use]
pub fn front_of_class_file(count: u16, entries: &[u8]) -> Vec<u8> {
    let mut file = vec![0; ENTRIES - 2]; // magic and version
    file.extend_from_slice(&count.to_be_bytes());
    file.extend_from_slice(entries);
    file
}

/// The constant pool of one class. Lookups return `None` for an index out of range, or an entry of another kind.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    bytes: &'a [u8],
    offsets: Vec<u32>,
    end: u32,
}

impl<'a> ConstantPool<'a> {
    /// Scans the pool of a class file, of which no more than the pool is read.
    ///
    /// # Errors
    /// The entries are truncated, or one has an unknown kind.
    pub fn of_front(bytes: &'a [u8]) -> Result<Self, ReadError> {
        Self::read(bytes, Vec::new())
    }

    /// Scans the pool whose count is at offset 8, reusing `offsets`.
    pub(crate) fn read(bytes: &'a [u8], mut offsets: Vec<u32>) -> Result<Self, ReadError> {
        // Index 0 has no entry.
        offsets.clear();
        offsets.push(0);
        Self::read_entries_from(bytes, offsets, ENTRIES)
    }

    /// Does the same for a pool that begins with all of `known`, and scans only the rest. If it begins differently,
    /// this scans all of it.
    pub(crate) fn read_beside(
        bytes: &'a [u8],
        mut offsets: Vec<u32>,
        known: &ConstantPool<'_>,
    ) -> Result<Self, ReadError> {
        let entries = ENTRIES..known.end();
        let same = match (bytes.get(entries.clone()), known.bytes.get(entries)) {
            (Some(new), Some(old)) => new == old && u16_at(bytes, 8) >= Some(known.count()),
            _ => false,
        };
        if !same {
            return Self::read(bytes, offsets);
        }
        offsets.clear();
        offsets.extend_from_slice(&known.offsets);
        Self::read_entries_from(bytes, offsets, known.end())
    }

    /// Scans the entries from `at` on; `offsets` holds those of the entries before.
    fn read_entries_from(
        bytes: &'a [u8],
        mut offsets: Vec<u32>,
        mut at: usize,
    ) -> Result<Self, ReadError> {
        let count = usize::from(Cursor::at(bytes, 8, 0).u2("constant_pool_count")?);
        let known = offsets.len();
        offsets.resize(count.max(1), 0);
        let mut rest = bytes.get(at..).unwrap_or_default();
        let mut slots = offsets.get_mut(known..).unwrap_or_default().iter_mut();
        while let Some(slot) = slots.next() {
            let index = || (count - slots.len() - 1) as u16;
            let Some([tag, high, low]) = rest.first_chunk::<3>() else {
                return Err(cut_off(at + 3, bytes.len()));
            };
            let length = usize::from(constant_tag::length(*tag));
            if length == 0 {
                return Err(unknown(index(), *tag, at));
            }
            if length == WIDE {
                let (index, offset) = (index(), at as u32);
                if slots.next().is_none() {
                    return Err(ReadError::WideConstantAtEnd { index, offset });
                }
            }
            // Texts alternate irregularly with other entries, so a branch would be mispredicted.
            let text = u16::from_be_bytes([*high, *low]);
            let is_text = u16::from(*tag == constant_tag::UTF8);
            let size = length + usize::from(text & is_text.wrapping_neg());
            *slot = at as u32;
            at += size;
            rest = rest.get(size..).unwrap_or_default();
        }
        if at > bytes.len() {
            return Err(cut_off(at, bytes.len()));
        }
        Ok(ConstantPool {
            bytes,
            offsets,
            end: at as u32,
        })
    }

    pub(crate) fn take_offsets(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.offsets)
    }

    /// Returns `constant_pool_count`: one more than the highest index.
    #[must_use]
    pub fn count(&self) -> u16 {
        self.offsets.len() as u16
    }

    /// Returns the offset in the class file of the first byte after the pool.
    #[must_use]
    pub fn end(&self) -> usize {
        self.end as usize
    }

    /// Returns the offset of an entry's tag.
    #[inline]
    pub(crate) fn offset(&self, index: PoolIndex) -> Option<usize> {
        self.offsets
            .get(usize::from(index.0))
            .filter(|at| **at != 0)
            .map(|at| *at as usize)
    }

    /// Returns the tag of an entry (JVMS table 4.4-A).
    #[must_use]
    #[inline]
    pub fn tag(&self, index: PoolIndex) -> Option<u8> {
        self.bytes.get(self.offset(index)?).copied()
    }

    /// Returns the offset of the body of an entry with this tag.
    #[inline]
    fn body(&self, index: PoolIndex, tag: u8) -> Option<usize> {
        let at = self.offset(index)?;
        (self.bytes.get(at) == Some(&tag)).then_some(at + 1)
    }

    #[inline]
    fn index_at(&self, at: usize) -> Option<PoolIndex> {
        u16_at(self.bytes, at).map(PoolIndex)
    }

    /// Returns a `CONSTANT_Utf8`.
    #[must_use]
    #[inline]
    pub fn utf8(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        let at = self.body(index, constant_tag::UTF8)?;
        let length = usize::from(u16_at(self.bytes, at)?);
        let start = at + 2;
        self.bytes.get(start..start + length).map(Utf8::new)
    }

    /// Returns the text of a `CONSTANT_Utf8`, or of the one in a `CONSTANT_Class` or `CONSTANT_String`.
    #[must_use]
    pub fn text(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        let found = self.utf8(index).or_else(|| self.class_name(index));
        found.or_else(|| self.string(index))
    }

    /// Checks whether any entry is a `CONSTANT_Utf8` with this text.
    #[must_use]
    pub fn holds(&self, text: &[u8]) -> bool {
        let Ok(length) = u16::try_from(text.len()) else {
            return false;
        };
        let [high, low] = length.to_be_bytes();
        let head = [constant_tag::UTF8, high, low];
        // Most entries differ in tag or length.
        self.offsets.iter().any(|offset| {
            let entry = self.bytes.get(*offset as usize..).unwrap_or_default();
            let found = entry.strip_prefix(&head);
            found.is_some_and(|found| found.starts_with(text))
        })
    }

    fn named(&self, index: PoolIndex, tag: u8) -> Option<Utf8<'a>> {
        self.utf8(self.index_at(self.body(index, tag)?)?)
    }

    /// Returns the internal name or array descriptor of a `CONSTANT_Class`.
    #[must_use]
    pub fn class_name(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        self.named(index, constant_tag::CLASS)
    }

    /// Returns the internal names and array descriptors of all `CONSTANT_Class`, in the order of the pool.
    pub fn class_names(&self) -> impl Iterator<Item = Utf8<'a>> {
        (1..self.count()).filter_map(|index| self.class_name(PoolIndex(index)))
    }

    /// Returns the text of a `CONSTANT_String`.
    #[must_use]
    pub fn string(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        self.named(index, constant_tag::STRING)
    }

    /// Returns the descriptor of a `CONSTANT_MethodType`.
    #[must_use]
    pub fn method_type(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        self.named(index, constant_tag::METHOD_TYPE)
    }

    /// Returns the name of a `CONSTANT_Module`.
    #[must_use]
    pub fn module(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        self.named(index, constant_tag::MODULE)
    }

    /// Returns the name of a `CONSTANT_Package`.
    #[must_use]
    pub fn package(&self, index: PoolIndex) -> Option<Utf8<'a>> {
        self.named(index, constant_tag::PACKAGE)
    }

    /// Returns a field, method or interface method.
    #[must_use]
    pub fn member_ref(&self, index: PoolIndex) -> Option<MemberRef<'a>> {
        let at = self.offset(index)?;
        let tag = *self.bytes.get(at)?;
        if !matches!(
            tag,
            constant_tag::FIELD_REF | constant_tag::METHOD_REF | constant_tag::INTERFACE_METHOD_REF
        ) {
            return None;
        }
        let owner = self.class_name(self.index_at(at + 1)?)?;
        let (name, descriptor) = self.name_and_type(self.index_at(at + 3)?)?;
        Some(MemberRef {
            owner,
            name,
            descriptor,
            interface: tag == constant_tag::INTERFACE_METHOD_REF,
        })
    }

    /// Returns name and descriptor of a `CONSTANT_NameAndType`.
    #[must_use]
    pub fn name_and_type(&self, index: PoolIndex) -> Option<(Utf8<'a>, Utf8<'a>)> {
        let at = self.body(index, constant_tag::NAME_AND_TYPE)?;
        Some((
            self.utf8(self.index_at(at)?)?,
            self.utf8(self.index_at(at + 2)?)?,
        ))
    }

    /// Returns a `CONSTANT_Dynamic` or `CONSTANT_InvokeDynamic`.
    #[must_use]
    pub fn dynamic(&self, index: PoolIndex) -> Option<Dynamic<'a>> {
        let at = self.offset(index)?;
        if !matches!(
            self.bytes.get(at)?,
            &(constant_tag::DYNAMIC | constant_tag::INVOKE_DYNAMIC)
        ) {
            return None;
        }
        let (name, descriptor) = self.name_and_type(self.index_at(at + 3)?)?;
        Some(Dynamic {
            bootstrap: u16_at(self.bytes, at + 1)?,
            name,
            descriptor,
        })
    }

    /// Returns a `CONSTANT_MethodHandle`.
    #[must_use]
    pub fn method_handle(&self, index: PoolIndex) -> Option<MethodHandle<'a>> {
        let at = self.body(index, constant_tag::METHOD_HANDLE)?;
        let member = self.member_ref(self.index_at(at + 1)?)?;
        Some(MethodHandle {
            kind: *self.bytes.get(at)?,
            member,
        })
    }

    /// Returns the value of a `CONSTANT_Integer`.
    #[must_use]
    pub fn integer(&self, index: PoolIndex) -> Option<i32> {
        u32_at(self.bytes, self.body(index, constant_tag::INTEGER)?).map(|bits| bits as i32)
    }

    /// Returns the value of a `CONSTANT_Float`.
    #[must_use]
    pub fn float(&self, index: PoolIndex) -> Option<f32> {
        u32_at(self.bytes, self.body(index, constant_tag::FLOAT)?).map(f32::from_bits)
    }

    fn bits64(&self, index: PoolIndex, tag: u8) -> Option<u64> {
        let at = self.body(index, tag)?;
        self.bytes
            .get(at..)?
            .first_chunk()
            .map(|bits| u64::from_be_bytes(*bits))
    }

    /// Returns the value of a `CONSTANT_Long`.
    #[must_use]
    pub fn long(&self, index: PoolIndex) -> Option<i64> {
        self.bits64(index, constant_tag::LONG)
            .map(|bits| bits as i64)
    }

    /// Returns the value of a `CONSTANT_Double`.
    #[must_use]
    pub fn double(&self, index: PoolIndex) -> Option<f64> {
        self.bits64(index, constant_tag::DOUBLE).map(f64::from_bits)
    }

    /// Returns a loadable constant of any kind.
    #[must_use]
    pub fn constant(&self, index: PoolIndex) -> Option<LoadableConstant<'a>> {
        match self.tag(index)? {
            constant_tag::INTEGER => self.integer(index).map(LoadableConstant::Integer),
            constant_tag::FLOAT => self.float(index).map(LoadableConstant::Float),
            constant_tag::LONG => self.long(index).map(LoadableConstant::Long),
            constant_tag::DOUBLE => self.double(index).map(LoadableConstant::Double),
            constant_tag::STRING => self.string(index).map(LoadableConstant::String),
            constant_tag::CLASS => self.class_name(index).map(LoadableConstant::Class),
            constant_tag::METHOD_HANDLE => self
                .method_handle(index)
                .map(LoadableConstant::MethodHandle),
            constant_tag::METHOD_TYPE => self.method_type(index).map(LoadableConstant::MethodType),
            constant_tag::DYNAMIC => self.dynamic(index).map(LoadableConstant::Dynamic),
            _ => None,
        }
    }
}

#[cold]
fn cut_off(end: usize, length: usize) -> ReadError {
    ReadError::Truncated {
        structure: "constant_pool",
        offset: length as u32,
        needed: end.saturating_sub(length) as u32,
    }
}

/// Bytes of a long or double, the only entries that take two indices.
const WIDE: usize = 9;

#[cold]
fn unknown(index: u16, tag: u8, offset: usize) -> ReadError {
    let offset = offset as u32;
    ReadError::UnknownConstant { index, tag, offset }
}
