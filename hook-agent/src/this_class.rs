//! The name in a class file, for classes that are defined without one.

/// The internal name that `this_class` refers to (JVMS 4.1), or `None` if the bytes are no class
/// file as far as that.
pub(crate) fn internal_name(class: &[u8]) -> Option<&[u8]> {
    let pool_count = u16_at(class, 8)?;
    let mut offsets = vec![0_usize; usize::from(pool_count)];
    let mut at = 10_usize;
    let mut index = 1_u16;
    while index < pool_count {
        *offsets.get_mut(usize::from(index))? = at;
        let tag = *class.get(at)?;
        let (length, slots) = match tag {
            1 => (3 + usize::from(u16_at(class, at + 1)?), 1),
            7 | 8 | 16 | 19 | 20 => (3, 1),
            15 => (4, 1),
            3 | 4 | 9..=12 | 17 | 18 => (5, 1),
            5 | 6 => (9, 2),
            _ => return None,
        };
        at += length;
        index = index.checked_add(slots)?;
    }
    let this_class = *offsets.get(usize::from(u16_at(class, at + 2)?))?;
    let name = *offsets.get(usize::from(u16_at(class, this_class + 1)?))?;
    let length = usize::from(u16_at(class, name + 1)?);
    class.get(name + 3..name + 3 + length)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_be_bytes([*pair.first()?, *pair.last()?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncated_class_files_have_no_name() {
        let class = crate::probe_class::ProbeClass::new(7)
            .expect("a class")
            .bytes;
        assert_eq!(internal_name(&class), Some(&b"java/lang/$Classhook7"[..]));
        for length in 0..80 {
            assert_eq!(internal_name(&class[..length]), None, "{length} bytes");
        }
    }
}
