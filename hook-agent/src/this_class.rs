//! What stands right behind the constant pool of a class file: its flags and its name.

/// The internal name that `this_class` refers to (JVMS 4.1), or `None` if the bytes are no class
/// file as far as that.
pub(crate) fn internal_name(class: &[u8]) -> Option<&[u8]> {
    let (offsets, end) = pool(class)?;
    let this_class = *offsets.get(usize::from(u16_at(class, end + 2)?))?;
    let name = *offsets.get(usize::from(u16_at(class, this_class + 1)?))?;
    let length = usize::from(u16_at(class, name + 1)?);
    class.get(name + 3..name + 3 + length)
}

/// Where `access_flags` are (JVMS 4.1), or `None` if the bytes are no class file as far as that.
pub(crate) fn access_flags_at(class: &[u8]) -> Option<usize> {
    let (_, end) = pool(class)?;
    u16_at(class, end).map(|_| end)
}

/// Where each entry of the constant pool begins, and where the pool ends.
fn pool(class: &[u8]) -> Option<(Vec<usize>, usize)> {
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
    Some((offsets, at))
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
        let class = crate::probe_class::ProbeClass::new(7, false)
            .expect("a class")
            .bytes;
        assert_eq!(internal_name(&class), Some(&b"java/lang/$Classhook7"[..]));
        for length in 0..80 {
            assert_eq!(internal_name(&class[..length]), None, "{length} bytes");
        }
    }

    #[test]
    fn access_flags_stand_behind_the_pool() {
        let class = crate::probe_class::ProbeClass::new(7, false)
            .expect("a class")
            .bytes;
        let at = access_flags_at(&class).expect("flags");
        let read = rewriter::ClassFile::read(&class).expect("a class");
        assert_eq!(u16_at(&class, at), Some(read.access_flags()));
        assert_eq!(access_flags_at(&class[..at]), None);
        assert_eq!(access_flags_at(b""), None);
    }
}
