//! The code of a probe.

use crate::arithmetic::Exact;
use crate::class::ClassFile;
use crate::limits::MAX_PROBE_INDEX;
use crate::plan::{Action, Edit, EditPlan, Location};
use crate::pool::PoolWriter;
use crate::splice::class_array::prepare;
use crate::splice::class_array::{Added, Fetch};
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit, but for what may stand in front of them.
const HIT: u32 = 8;

/// Probes of one class, with the pool entries they use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// What stands in front of a hit.
    key: Option<[u8; 3]>,
    /// A hit of probe 0.
    hit: u64,
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
        let writes = |edit: &Edit| matches!(edit.action, Action::Hit(_));
        let (array, added) = match *storage {
            _ if !plan.edits().iter().any(writes) => (Fetch::Field(0), None),
            ProbeStorage::SharedArray { owner, field } => {
                (Fetch::Field(pool.field(owner, field, "[B")?), None)
            }
            ProbeStorage::ClassArray { runtime, key } => prepare(class, runtime, key, pool)?,
        };
        let (key, [f0, f1, f2]) = array.code();
        let hit = [
            f0,
            f1,
            f2, // array
            opcode::SIPUSH,
            0,
            0,                // array, index
            opcode::ICONST_1, // array, index, 1
            opcode::BASTORE,  //
        ];
        let hit = u64::from_be_bytes(hit);
        Some(ProbeWriter { key, hit, added })
    }

    /// What the class gets besides the probes.
    pub(crate) fn added(&self) -> Option<Added> {
        self.added
    }

    /// Bytes of a hit.
    #[inline]
    pub(super) fn hit_size(&self) -> u32 {
        let key = self.key.map_or(0, |key| key.len() as u32);
        key.plus(HIT)
    }

    /// The code of a hit, whose index has been checked, and what stands in front of
    /// it.
    #[inline]
    pub(crate) fn hit(&self, probe: u32) -> (Option<[u8; 3]>, [u8; HIT as usize]) {
        let index = u64::from(probe as u16) << 16;
        (self.key, (self.hit | index).to_be_bytes())
    }
}

/// Whether `edit` inserts a hit into code that is there.
#[inline]
pub(super) fn is_hit(edit: &Edit) -> bool {
    matches!(edit.action, Action::Hit(_)) && edit.point.location != Location::Unwind
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
