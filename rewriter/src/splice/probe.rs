//! The code of a probe.

use crate::limits::MAX_PROBE_INDEX;
use crate::opcode;
use crate::plan::{Action, EditPlan};
use crate::splice::SpliceError;
use crate::splice::pool::PoolWriter;
use crate::storage::ProbeStorage;

/// Bytes of a hit.
const HIT: u32 = 8;
/// Bytes of a count.
const COUNT: u32 = 11;

/// Probes of one class, with the pool entries they use.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ProbeWriter {
    hits: (u16, u16),
    counts: (u16, u16),
}

impl ProbeWriter {
    /// Adds the fields that `plan` needs; none when the pool is full.
    pub(crate) fn new(
        plan: &EditPlan,
        storage: &ProbeStorage<'_>,
        pool: &mut PoolWriter,
    ) -> Option<Self> {
        let mut writer = ProbeWriter::default();
        let is_hit = |action: &Action| matches!(action, Action::Hit(_));
        if plan.edits().iter().any(|edit| is_hit(&edit.action)) {
            let array = storage.hits();
            writer.hits = (pool.field(storage.owner(), array.field, "[B")?, array.base);
        }
        if let Some(array) = storage.counts()
            && plan.edits().iter().any(|edit| !is_hit(&edit.action))
        {
            writer.counts = (pool.field(storage.owner(), array.field, "[J")?, array.base);
        }
        Some(writer)
    }

    /// Operand stack slots that `action` needs.
    pub(crate) fn stack(action: Action) -> u32 {
        match action {
            Action::Hit(_) => 3,
            Action::Count(_) => 6,
        }
    }

    /// Bytes of code of `action`.
    #[inline]
    pub(crate) fn size(action: Action) -> u32 {
        match action {
            Action::Hit(_) => HIT,
            Action::Count(_) => COUNT,
        }
    }

    /// Writes the code of `action`, whose index has been checked.
    #[inline]
    pub(crate) fn write(&self, action: Action, out: &mut Vec<u8>) {
        match action {
            Action::Hit(probe) => {
                let (field, base) = self.hits;
                let [f0, f1] = field.to_be_bytes();
                let [i0, i1] = base.wrapping_add(probe as u16).to_be_bytes();
                out.extend_from_slice(&[
                    opcode::GETSTATIC,
                    f0,
                    f1, // array
                    opcode::SIPUSH,
                    i0,
                    i1,               // array, index
                    opcode::ICONST_1, // array, index, 1
                    opcode::BASTORE,  //
                ]);
            }
            Action::Count(probe) => {
                let (field, base) = self.counts;
                let [f0, f1] = field.to_be_bytes();
                let [i0, i1] = base.wrapping_add(probe as u16).to_be_bytes();
                out.extend_from_slice(&[
                    opcode::GETSTATIC,
                    f0,
                    f1, // array
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
    }
}

/// Asks whether every probe of `plan` has a place in `storage`.
pub(crate) fn check(plan: &EditPlan, storage: &ProbeStorage<'_>) -> Result<(), SpliceError> {
    let names = [
        storage.owner(),
        storage.hits().field,
        storage.counts().map_or("", |found| found.field),
    ];
    if let Some(name) = names.iter().find(|name| name.len() > usize::from(u16::MAX)) {
        return Err(SpliceError::NameTooLong {
            length: name.len() as u64,
        });
    }
    for edit in plan.edits() {
        let (probe, base) = match edit.action {
            Action::Hit(probe) => (probe, storage.hits().base),
            Action::Count(probe) => (
                probe,
                storage
                    .counts()
                    .ok_or(SpliceError::NoCounters { probe })?
                    .base,
            ),
        };
        if probe.saturating_add(u32::from(base)) > MAX_PROBE_INDEX {
            return Err(SpliceError::ProbeOutOfRange { probe, base });
        }
    }
    Ok(())
}
