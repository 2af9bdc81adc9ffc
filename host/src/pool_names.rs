//! The names in the constant pool of a loaded class.

use jvms::constant_tag;
use jvms::modified_utf8::Utf8;
use rewriter::{ConstantPool, PoolIndex, ReadError};

use crate::class::name_of_type;
use crate::selector::SelectableClass;

/// The names in the constant pool of a loaded class, which JVM TI gives without the class file.
///
/// A class has the names of its annotations, supertypes, source file and fields there. So a pool
/// without a name rules the class out at little cost. Otherwise the class file decides.
#[derive(Debug)]
pub struct PoolNames<'a>(ConstantPool<'a>);

impl<'a> PoolNames<'a> {
    /// Reads the pool at the front of a class file.
    ///
    /// # Errors
    /// The entries are truncated, or one has an unknown kind.
    pub fn read(front: &'a [u8]) -> Result<Self, ReadError> {
        ConstantPool::of_front(front).map(Self)
    }

    /// Checks whether the name of any field that instructions access passes `test`.
    pub(crate) fn any_field(&self, test: &mut dyn FnMut(&str) -> bool) -> bool {
        let is_field = |index: &PoolIndex| self.0.tag(*index) == Some(constant_tag::FIELD_REF);
        let mut fields = self.indices().filter(is_field);
        fields.any(|index| {
            let field = self.0.member_ref(index);
            field.is_some_and(|field| test(&field.name.to_str_lossless()))
        })
    }

    fn indices(&self) -> impl Iterator<Item = PoolIndex> {
        (1..self.0.count()).map(PoolIndex)
    }

    fn texts(&self) -> impl Iterator<Item = Utf8<'a>> {
        self.indices().filter_map(|index| self.0.utf8(index))
    }
}

impl SelectableClass for PoolNames<'_> {
    fn any_annotation(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut types = self.texts().filter(|text| text.as_bytes().ends_with(b";"));
        types.any(|descriptor| test(name_of_type(descriptor)))
    }

    fn any_supertype(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let mut names = self.0.class_names();
        names.any(|name| test(name.as_bytes()))
    }

    fn source_file(&self, test: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        self.texts().any(|text| test(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rewriter::front_of_class_file;

    /// 1: Utf8 `status`, 2: Utf8 `La/Marked;`, 3: NameAndType, 4: Utf8 `a/Base`, 5: Class, 6: Fieldref, 7: Methodref.
    const ENTRIES: &[u8] = b"\x01\0\x06status\x01\0\x0ALa/Marked;\x0C\0\x01\0\x02\x01\0\x06a/Base\x07\0\x04\x09\0\x05\0\x03\x0A\0\x05\0\x03";

    #[test]
    fn pool_has_the_names_of_fields_types_classes_and_files() {
        let front = front_of_class_file(8, ENTRIES);
        let names = PoolNames::read(&front).expect("a pool");
        let mut fields = Vec::new();
        assert!(!names.any_field(&mut |name| {
            fields.push(name.to_owned());
            false
        }));
        assert_eq!(fields, ["status"]);
        assert!(names.any_annotation(&mut |name| name == b"a/Marked"));
        assert!(names.any_supertype(&mut |name| name == b"a/Base"));
        assert!(!names.any_supertype(&mut |name| name == b"a/Marked"));
        assert!(names.source_file(&mut |name| name == b"status"));
    }

    #[test]
    fn truncated_pool_is_no_pool() {
        for length in 0..ENTRIES.len() {
            let front = front_of_class_file(8, &ENTRIES[..length]);
            assert!(PoolNames::read(&front).is_err(), "{length}");
        }
    }
}
