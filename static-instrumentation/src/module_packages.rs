//! The packages that a `module-info` lists.
//!
//! `jar` and `jmod` list all packages of a module there (`ModulePackages`, JVMS 4.7.26). A class loader finds no class of
//! another package in such a module, so the runtime's package has to be added.

/// Name of the attribute.
const ATTRIBUTE: &[u8] = b"ModulePackages";
/// Tags of constants (JVMS table 4.4-A).
const UTF8: u8 = 1;
const PACKAGE: u8 = 20;

/// Adds a package, by its internal name, to the list of a `module-info`.
///
/// Returns nothing if the class file has no such list, lists the package, or cannot be read.
#[must_use]
pub(super) fn with_package(class: &[u8], package: &str) -> Option<Vec<u8>> {
    let mut reader = Reader { class, at: 8 };
    let pool = Pool::read(&mut reader)?;
    let pool_end = reader.at;
    reader.skip(6)?; // flags, this class, super class
    let interfaces = usize::from(reader.u2()?);
    reader.skip(interfaces * 2)?;
    let no_members = reader.u2()? == 0 && reader.u2()? == 0; // JVMS 4.1: a module has none
    let attributes = reader.u2().filter(|_| no_members)?;
    for _ in 0..attributes {
        let name = pool.text(reader.u2()?);
        let at = reader.at;
        let length = reader.u4()?;
        if name == Some(ATTRIBUTE) {
            return added(class, package, &pool, pool_end, at);
        }
        reader.skip(usize::try_from(length).ok()?)?;
    }
    None
}

/// Returns the class file with two more constants, and one more package in the attribute whose
/// length is at `at`.
fn added(
    class: &[u8],
    package: &str,
    pool: &Pool<'_>,
    pool_end: usize,
    at: usize,
) -> Option<Vec<u8>> {
    let mut reader = Reader { class, at };
    let length = reader.u4()?;
    let packages = reader.u2()?;
    for _ in 0..packages {
        if pool.package(reader.u2()?) == Some(package.as_bytes()) {
            return None;
        }
    }
    let text = pool.count;
    let constant = text.checked_add(1)?;
    let mut out = class.get(..8)?.to_vec();
    out.extend(constant.checked_add(1)?.to_be_bytes());
    out.extend(class.get(10..pool_end)?);
    out.push(UTF8);
    out.extend(u16::try_from(package.len()).ok()?.to_be_bytes());
    out.extend(package.as_bytes());
    out.push(PACKAGE);
    out.extend(text.to_be_bytes());
    out.extend(class.get(pool_end..at)?);
    out.extend(length.checked_add(2)?.to_be_bytes());
    out.extend(packages.checked_add(1)?.to_be_bytes());
    out.extend(class.get(at + 6..reader.at)?);
    out.extend(constant.to_be_bytes());
    out.extend(class.get(reader.at..)?);
    Some(out)
}

/// The constant pool (JVMS 4.4): the offset of each constant's tag.
struct Pool<'c> {
    class: &'c [u8],
    places: Vec<usize>,
    /// `constant_pool_count`.
    count: u16,
}

impl<'c> Pool<'c> {
    fn read(reader: &mut Reader<'c>) -> Option<Self> {
        let count = reader.u2()?;
        let mut places = vec![0];
        while places.len() < usize::from(count) {
            places.push(reader.at);
            let tag = reader.u1()?;
            match tag {
                UTF8 => {
                    let length = usize::from(reader.u2()?);
                    reader.skip(length)?;
                }
                3 | 4 | 9..=12 | 17 | 18 => reader.skip(4)?,
                5 | 6 => {
                    reader.skip(8)?;
                    places.push(0); // JVMS 4.4.5: takes two entries
                }
                7 | 8 | 16 | 19 | PACKAGE => reader.skip(2)?,
                15 => reader.skip(3)?,
                _ => return None,
            }
        }
        Some(Self {
            class: reader.class,
            places,
            count,
        })
    }

    /// Returns a reader behind the tag of a constant, if that tag is `tag`.
    fn constant(&self, index: u16, tag: u8) -> Option<Reader<'c>> {
        let at = *self.places.get(usize::from(index)).filter(|at| **at > 0)?;
        let mut reader = Reader {
            class: self.class,
            at,
        };
        (reader.u1()? == tag).then_some(reader)
    }

    fn text(&self, index: u16) -> Option<&'c [u8]> {
        let mut reader = self.constant(index, UTF8)?;
        let length = usize::from(reader.u2()?);
        self.class.get(reader.at..reader.at + length)
    }

    fn package(&self, index: u16) -> Option<&'c [u8]> {
        self.text(self.constant(index, PACKAGE)?.u2()?)
    }
}

/// Reads numbers, big-endian.
struct Reader<'c> {
    class: &'c [u8],
    at: usize,
}

impl Reader<'_> {
    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let bytes = self.class.get(self.at..)?.first_chunk()?;
        self.at += N;
        Some(*bytes)
    }

    fn u1(&mut self) -> Option<u8> {
        self.bytes().map(u8::from_be_bytes)
    }

    fn u2(&mut self) -> Option<u16> {
        self.bytes().map(u16::from_be_bytes)
    }

    fn u4(&mut self) -> Option<u32> {
        self.bytes().map(u32::from_be_bytes)
    }

    fn skip(&mut self, count: usize) -> Option<()> {
        self.at = self.at.checked_add(count)?;
        (self.at <= self.class.len()).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `module-info` whose only attribute lists the package `p`.
    fn module() -> Vec<u8> {
        let mut class = b"\xCA\xFE\xBA\xBE\0\0\0\x41".to_vec();
        class.extend(b"\0\x04\x01\0\x0EModulePackages\x01\0\x01p\x14\0\x02");
        class.extend(b"\x80\0\0\0\0\0\0\0\0\0\0\0"); // flags, names, no interfaces and members
        class.extend(b"\0\x01\0\x01\0\0\0\x04\0\x01\0\x03");
        class
    }

    #[test]
    fn package_is_added_once() {
        let more = with_package(&module(), "a/b").unwrap();
        assert!(
            more.ends_with(b"\0\x01\0\x01\0\0\0\x06\0\x02\0\x03\0\x05"),
            "{more:x?}"
        );
        assert_eq!(&more[8..10], b"\0\x06");
        assert_eq!(with_package(&more, "a/b"), None);
        assert_eq!(with_package(&module(), "p"), None);
        let third = with_package(&more, "c").unwrap();
        assert_eq!(with_package(&third, "a/b"), None);
    }

    #[test]
    fn truncated_and_foreign_files_stay_unchanged() {
        let module = module();
        for end in 0..module.len() {
            assert_eq!(with_package(&module[..end], "a/b"), None, "{end}");
        }
    }
}
