//! The code of a probe.

use crate::class::ClassFile;
use crate::limits::MAX_PROBE_INDEX;
use crate::opcode;
use crate::plan::{Action, EditPlan};
use crate::splice::SpliceError;
use crate::splice::changes::Changes;
use crate::splice::own_array::{self, Added, Fetch};
use crate::splice::pool::PoolWriter;
use crate::splice::snippets::{Lowered, Snippets};
use crate::storage::ProbeStorage;

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
                ProbeStorage::OwnArray { runtime, key } => {
                    own_array::prepare(class, runtime, key, pool)?
                }
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

    /// Writes the code of a hit, whose index has been checked.
    #[inline]
    fn hit(&self, probe: u32, out: &mut Vec<u8>) {
        let (fetch, base) = self.hits;
        let [i0, i1] = base.wrapping_add(probe as u16).to_be_bytes();
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
    fn count(&self, probe: u32, out: &mut Vec<u8>) {
        let (fetch, base) = self.counts;
        let [i0, i1] = base.wrapping_add(probe as u16).to_be_bytes();
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

/// The code of everything that is inserted into one method.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Inserts<'s> {
    pub(crate) probes: ProbeWriter,
    pub(crate) snippets: &'s Snippets,
    pub(crate) changes: &'s Changes,
}

impl Inserts<'_> {
    /// Operand stack slots that `action` needs.
    pub(crate) fn stack(&self, action: Action) -> u32 {
        match action {
            Action::Hit(_) => 3,
            Action::Count(_) => 6,
            Action::Insert(id) => self.snippets.get(id).map_or(0, |found| found.stack),
            Action::Change(_) => self.changes.stack(),
        }
    }

    /// Bytes of code of `action`.
    #[inline]
    pub(crate) fn size(&self, action: Action) -> u32 {
        match action {
            Action::Hit(_) => self.probes.hits.0.size().wrapping_add(HIT),
            Action::Count(_) => self.probes.counts.0.size().wrapping_add(COUNT),
            Action::Insert(id) => self.snippets.get(id).map_or(0, Lowered::length),
            // It stands in the place of instructions, not in front of one.
            Action::Change(_) => 0,
        }
    }

    /// Writes the code of `action`.
    #[inline]
    pub(crate) fn write(&self, action: Action, out: &mut Vec<u8>) {
        match action {
            Action::Hit(probe) => self.probes.hit(probe, out),
            Action::Count(probe) => self.probes.count(probe, out),
            Action::Insert(id) => out.extend_from_slice(self.snippets.code(id)),
            Action::Change(_) => {}
        }
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
