//! Names of the fields in a constant pool.

use jvms::constant_tag;

use super::ConstantPool;
use crate::error::ReadError;
use crate::index::PoolIndex;

/// Bytes of a class file before the pool's count: magic and version.
const FRONT: usize = 8;

/// Returns the names of all fields in a constant pool of `count` and these entries (JVMS 4.4.2), in no order.
///
/// # Errors
/// The entries are truncated, or one has an unknown kind.
pub fn named_fields(count: u16, entries: &[u8]) -> Result<Vec<String>, ReadError> {
    let mut file = vec![0; FRONT];
    file.extend_from_slice(&count.to_be_bytes());
    file.extend_from_slice(entries);
    let pool = ConstantPool::read(&file, Vec::new())?;
    let is_field = |index: &PoolIndex| pool.tag(*index) == Some(constant_tag::FIELD_REF);
    let fields = (1..count).map(PoolIndex).filter(is_field);
    let names = fields.filter_map(|index| pool.member_ref(index));
    Ok(names
        .map(|field| field.name.to_str_lossless().into_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1: Utf8 `status`, 2: Utf8 `I`, 3: NameAndType, 4: Utf8 `A`, 5: Class, 6: Fieldref, 7: Methodref.
    const ENTRIES: &[u8] = b"\x01\0\x06status\x01\0\x01I\x0C\0\x01\0\x02\x01\0\x01A\x07\0\x04\x09\0\x05\0\x03\x0A\0\x05\0\x03";

    #[test]
    fn fields_are_named_and_methods_are_not() {
        assert_eq!(named_fields(8, ENTRIES).expect("a pool"), ["status"]);
        assert_eq!(named_fields(1, &[]).expect("a pool"), Vec::<String>::new());
        for length in 0..ENTRIES.len() {
            assert!(named_fields(8, &ENTRIES[..length]).is_err(), "{length}");
        }
    }
}
