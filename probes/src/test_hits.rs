//! What single tests executed: how it lies in a snapshot, and how it is read again.

use crate::format::write_varint;
use crate::log::write_text;

/// The number of tests that says that from here on nothing more of tests is recorded.
pub(crate) const CUT_OFF: u16 = u16::MAX;
/// So many bytes of a snapshot tell of tests at most.
pub(crate) const LIMIT: u64 = 256 << 20;

/// What was executed while certain tests, and no others, were under way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestHits {
    /// Their names; none for what was executed outside of tests.
    pub tests: Vec<String>,
    /// The probes that were hit, by the number of their class in the snapshot; both rise.
    pub classes: Vec<(usize, Vec<u32>)>,
}

impl TestHits {
    /// The same, where classes have other numbers; those without are left out.
    #[must_use]
    pub fn renumbered(self, numbers: &[Option<usize>]) -> Self {
        let classes = self.classes.into_iter();
        let classes = classes.filter_map(|(class, probes)| {
            let number = numbers.get(class).copied().flatten();
            number.map(|number| (number, probes))
        });
        Self {
            tests: self.tests,
            classes: classes.collect(),
        }
    }
}

/// Elements of arrays that were hit: of each array index and byte, the indices rising.
pub type Taken = Vec<(u16, Vec<(u16, i8)>)>;

/// The payload of a record of tests.
pub(crate) fn write(out: &mut Vec<u8>, tests: &[String], taken: &Taken) {
    let count = tests.len().min(usize::from(CUT_OFF) - 1);
    out.extend_from_slice(&(count as u16).to_le_bytes());
    tests
        .iter()
        .take(count)
        .for_each(|test| write_text(out, test));
    for (array, hits) in taken.iter().filter(|(_, hits)| !hits.is_empty()) {
        out.extend_from_slice(&array.to_le_bytes());
        write_varint(out, u32::try_from(hits.len()).unwrap_or(u32::MAX));
        let mut next = 0;
        for (index, _) in hits {
            let index = u32::from(*index);
            write_varint(out, index.saturating_sub(next));
            next = index + 1;
        }
    }
}
