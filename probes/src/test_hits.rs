//! Probes executed by single tests: their records in a snapshot, and their decoded form.

use crate::format::write_varint;
use crate::log::write_text;

/// The number of tests in a record after which tests are no longer recorded.
pub(crate) const CUT_OFF: u16 = u16::MAX;
/// Maximum number of bytes of test records in a snapshot.
pub(crate) const LIMIT: u64 = 256 << 20;

/// The probes executed while exactly these tests ran.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TestHits {
    /// Names of the tests; empty for probes executed outside tests.
    pub tests: Vec<String>,
    /// The hit probes by the number of their class in the snapshot; both ascend.
    pub classes: Vec<(usize, Vec<u32>)>,
}

impl TestHits {
    /// Maps the class numbers to others. Classes without a new number are omitted.
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

/// Hits taken out of arrays: array number, then pairs of element index and byte, in ascending order of the index.
pub type TakenHits = Vec<(u16, Vec<(u16, i8)>)>;

/// Writes the payload of a test record.
pub(crate) fn write(out: &mut Vec<u8>, tests: &[String], taken: &TakenHits) {
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
