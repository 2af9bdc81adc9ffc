//! The code of a probe.

use crate::arithmetic::Exact;
use crate::class::ClassFile;
use crate::limits::MAX_PROBE_INDEX;
use crate::plan::{Action, EditPlan};
use crate::pool::PoolWriter;
use crate::splice::class_array::prepare;
use crate::splice::class_array::{Added, Fetch};
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit, but for what pushes the array.
const HIT: u32 = 5;
/// Bytes of a count, likewise.
const COUNT: u32 = 8;

/// Probes of one class, with the pool entries they use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// What pushes the array, and the index of probe 0.
    hits: (Fetch, u16),
    counts: (Fetch, u16),
    added: Option<Added>,
}

impl ProbeWriter {
    /// Adds what `plan` needs to refer to; none when the pool is full.
    pub(crate) fn new(
        class: &ClassFile<'_>,
        plan: &EditPlan,
        storage: &ProbeStorage<'_>,
        pool: &mut PoolWriter,
    ) -> Option<Self> {
        let mut writer = ProbeWriter {
            hits: (Fetch::Field(0), storage.hit_base()),
            counts: (Fetch::Field(0), 0),
            added: None,
        };
        let any =
            |wanted: fn(&Action) -> bool| plan.edits().iter().any(|edit| wanted(&edit.action));
        if any(|action| matches!(action, Action::Hit(_))) {
            let (fetch, added) = match *storage {
                ProbeStorage::SharedArray { owner, field, .. } => {
                    (Fetch::Field(pool.field(owner, field, "[B")?), None)
                }
                ProbeStorage::SharedArrays { owner, hits, .. } => {
                    (Fetch::Field(pool.field(owner, hits.field, "[B")?), None)
                }
                ProbeStorage::ClassArray { runtime, key } => prepare(class, runtime, key, pool)?,
            };
            (writer.hits.0, writer.added) = (fetch, added);
        }
        if let ProbeStorage::SharedArrays { owner, counts, .. } = *storage
            && any(|action| matches!(action, Action::Count(_)))
        {
            let field = pool.field(owner, counts.field, "[J")?;
            writer.counts = (Fetch::Field(field), counts.base);
        }
        Some(writer)
    }

    /// What the class gets besides the probes.
    pub(crate) fn added(&self) -> Option<Added> {
        self.added
    }

    /// Bytes of a hit.
    #[inline]
    pub(super) fn hit_size(&self) -> u32 {
        self.hits.0.size().plus(HIT)
    }

    /// Bytes of a count.
    #[inline]
    pub(super) fn count_size(&self) -> u32 {
        self.counts.0.size().plus(COUNT)
    }

    /// Writes the code of a hit, whose index has been checked.
    #[inline]
    pub(super) fn hit(&self, probe: u32, out: &mut Vec<u8>) {
        let (fetch, base) = self.hits;
        let [i0, i1] = base.plus(probe as u16).to_be_bytes();
        let [f0, f1, f2] = fetch.write(out);
        out.extend_from_slice(&[
            f0,
            f1,
            f2, // array
            opcode::SIPUSH,
            i0,
            i1,               // array, index
            opcode::ICONST_1, // array, index, 1
            opcode::BASTORE,  //
        ]);
    }

    /// Writes the code of a count, whose index has been checked.
    #[inline]
    pub(super) fn count(&self, probe: u32, out: &mut Vec<u8>) {
        let (fetch, base) = self.counts;
        let [i0, i1] = base.plus(probe as u16).to_be_bytes();
        let [f0, f1, f2] = fetch.write(out);
        out.extend_from_slice(&[
            f0,
            f1,
            f2, // array
            opcode::SIPUSH,
            i0,
            i1,               // array, index
            opcode::DUP2,     // array, index, array, index
            opcode::LALOAD,   // array, index, count (2)
            opcode::LCONST_1, // array, index, count (2), 1 (2)
            opcode::LADD,     // array, index, count (2)
            opcode::LASTORE,  //
        ]);
    }
}

/// Asks whether every probe of `plan` has a place in `storage`.
pub(crate) fn check(plan: &EditPlan, storage: &ProbeStorage<'_>) -> Result<(), SpliceError> {
    let mut lengths = storage.name_lengths().into_iter();
    if let Some(length) = lengths.find(|length| *length > usize::from(u16::MAX)) {
        return Err(SpliceError::NameTooLong {
            length: length as u64,
        });
    }
    for edit in plan.edits() {
        let (probe, base) = match edit.action {
            Action::Hit(probe) => (probe, storage.hit_base()),
            Action::Count(probe) => (
                probe,
                storage
                    .counts()
                    .ok_or(SpliceError::NoCounters { probe })?
                    .base,
            ),
            Action::Insert(_) | Action::Change(_) => continue,
        };
        if probe.saturating_add(u32::from(base)) > MAX_PROBE_INDEX {
            return Err(SpliceError::ProbeOutOfRange { probe, base });
        }
    }
    Ok(())
}
