//! The code of a probe.

use crate::arithmetic::Exact;
use crate::class::ClassFile;
use crate::limits::MAX_PROBE_INDEX;
use crate::plan::{Action, Edit, EditPlan};
use crate::pool::PoolWriter;
use crate::splice::class_array::prepare;
use crate::splice::class_array::{Added, Fetch};
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit, but for what pushes the array.
const HIT: u32 = 5;

/// Probes of one class, with the pool entries they use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// What pushes the array.
    array: Fetch,
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
        let is_hit = |edit: &Edit| matches!(edit.action, Action::Hit(_));
        let (array, added) = match *storage {
            _ if !plan.edits().iter().any(is_hit) => (Fetch::Field(0), None),
            ProbeStorage::SharedArray { owner, field } => {
                (Fetch::Field(pool.field(owner, field, "[B")?), None)
            }
            ProbeStorage::ClassArray { runtime, key } => prepare(class, runtime, key, pool)?,
        };
        Some(ProbeWriter { array, added })
    }

    /// What the class gets besides the probes.
    pub(crate) fn added(&self) -> Option<Added> {
        self.added
    }

    /// Bytes of a hit.
    #[inline]
    pub(super) fn hit_size(&self) -> u32 {
        self.array.size().plus(HIT)
    }

    /// Writes the code of a hit, whose index has been checked.
    #[inline]
    pub(super) fn hit(&self, probe: u32, out: &mut Vec<u8>) {
        let [i0, i1] = (probe as u16).to_be_bytes();
        let [f0, f1, f2] = self.array.write(out);
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
        match edit.action {
            Action::Hit(probe) if probe > MAX_PROBE_INDEX => {
                return Err(SpliceError::ProbeOutOfRange { probe });
            }
            Action::Count(probe) => return Err(SpliceError::Counter { probe }),
            Action::Hit(_) | Action::Insert(_) | Action::Change(_) => {}
        }
    }
    Ok(())
}
