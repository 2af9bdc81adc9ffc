//! The code of a probe.

use crate::arithmetic::Exact;
use crate::class::{ClassFile, Code};
use crate::limits::MAX_PROBE_INDEX;
use crate::plan::{Action, Edit, EditPlan, Location};
use crate::pool::PoolWriter;
use crate::splice::class_array::prepare;
use crate::splice::class_array::{Added, Fetch};
use crate::splice::order::edit_index;
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit that stores, but for what may stand in front of them.
const STORE: usize = 8;
/// Bytes of a hit that calls.
const CALL: usize = 5;
/// Pool entries of a method that hits call, but for the first: its name and descriptor, both together, and itself.
const POOL_ENTRIES: u16 = 4;

/// `StackOverflowError` and the classes it extends (JVMS 6.3).
const OVERFLOWS: [&[u8]; 4] = [
    b"java/lang/StackOverflowError",
    b"java/lang/VirtualMachineError",
    b"java/lang/Error",
    b"java/lang/Throwable",
];

/// Probes of one class or method, with the pool entries they use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// What stands in front of a hit that stores.
    key: Option<[u8; 3]>,
    /// A hit of probe 0 that stores.
    hit: u64,
    /// What hits call instead.
    calls: Option<Calls>,
    added: Option<Added>,
}

/// The methods that write the hits of one class, which follow one another in the pool.
#[derive(Debug, Clone, Copy)]
struct Calls {
    /// The number of the first one.
    first: u8,
    /// Pool index of the first one.
    method: u16,
    /// Pool index of the second one.
    next: u16,
}

/// The code of one hit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hit {
    /// What may stand in front, and what stores.
    Store(Option<[u8; 3]>, [u8; STORE]),
    Call([u8; CALL]),
}

impl Hit {
    /// Hands out the code in its parts.
    #[inline(always)]
    pub(crate) fn each(self, mut part: impl FnMut(&[u8])) {
        match self {
            Self::Store(key, store) => {
                if let Some(key) = key {
                    part(&key);
                }
                part(&store);
            }
            Self::Call(call) => part(&call),
        }
    }
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
        let calls = match *storage {
            ProbeStorage::SharedMethods { owner, method, .. } => match methods_of(plan) {
                Some(numbers) => Some(Calls::new(owner, method, numbers, pool)?),
                None => None,
            },
            _ => None,
        };
        let (array, added) = match *storage {
            _ if !plan.edits().iter().any(writes) => (Fetch::Field(0), None),
            ProbeStorage::SharedArray { owner, field }
            | ProbeStorage::SharedMethods { owner, field, .. } => {
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
        Some(ProbeWriter {
            key,
            hit: u64::from_be_bytes(hit),
            calls,
            added,
        })
    }

    /// The same for one method of `class` with these edits. A program that ran out of
    /// stack and goes on must not be made to call, so in a method that may catch
    /// that, hits store.
    #[inline]
    pub(crate) fn within(
        self,
        class: &ClassFile<'_>,
        code: &Code<'_, '_>,
        plan: &EditPlan,
        edits: &[u64],
    ) -> Self {
        match self.calls {
            Some(_) if catches_overflow(class, code) || catches_all(plan, edits) => ProbeWriter {
                calls: None,
                ..self
            },
            _ => self,
        }
    }

    /// What the class gets besides the probes.
    pub(crate) fn added(&self) -> Option<Added> {
        self.added
    }

    /// Bytes of a hit.
    #[inline]
    pub(super) fn hit_size(&self) -> u32 {
        if self.calls.is_some() {
            return CALL as u32;
        }
        let key = self.key.map_or(0, |key| key.len());
        key.plus(STORE) as u32
    }

    /// Operand stack slots that a hit needs.
    pub(super) fn hit_stack(&self) -> u32 {
        match self.calls {
            Some(_) => 1,
            None => 3,
        }
    }

    /// The code of a hit, whose index has been checked.
    #[inline]
    pub(crate) fn hit(&self, probe: u32) -> Hit {
        match self.calls {
            Some(calls) => Hit::Call(calls.hit(probe)),
            None => {
                let index = u64::from(probe as u16) << 16;
                Hit::Store(self.key, (self.hit | index).to_be_bytes())
            }
        }
    }
}

impl Calls {
    /// The methods of `owner` with the numbers from `first` to `last`; none when the pool is full.
    fn new(
        owner: &str,
        method: &str,
        (first, last): (u8, u8),
        pool: &mut PoolWriter,
    ) -> Option<Self> {
        let mut add = |number: u8| pool.method(owner, &format!("{method}{number}"), "(I)V");
        let mut calls = Self {
            first,
            method: add(first)?,
            next: 0,
        };
        for number in first..last {
            let number = number.plus(1);
            let index = add(number)?;
            if calls.next == 0 {
                calls.next = index;
            }
            // Without the right index there is no hit: the plan is refused as if the pool was full.
            if index != calls.method_of(number) {
                return None;
            }
        }
        Some(calls)
    }

    /// Pool index of the method with this number.
    fn method_of(&self, number: u8) -> u16 {
        match number.minus(self.first) {
            0 => self.method,
            more => self.next.plus(u16::from(more.minus(1)).times(POOL_ENTRIES)),
        }
    }

    fn hit(&self, probe: u32) -> [u8; CALL] {
        let [number, low] = (probe as u16).to_be_bytes();
        let [m0, m1] = self.method_of(number).to_be_bytes();
        // What is pushed is signed.
        let low = low.wrapping_sub(128);
        [opcode::BIPUSH, low, opcode::INVOKESTATIC, m0, m1]
    }
}

/// Whether a handler may catch a `StackOverflowError`.
fn catches_overflow(class: &ClassFile<'_>, code: &Code<'_, '_>) -> bool {
    code.exception_table().any(|handler| {
        let caught = class.pool().class_name(handler.catch_type);
        caught.is_none_or(|caught| OVERFLOWS.contains(&caught.as_bytes()))
    })
}

/// Whether an edit adds a handler for everything.
fn catches_all(plan: &EditPlan, edits: &[u64]) -> bool {
    let mut edits = edits
        .iter()
        .filter_map(|key| plan.edits().get(edit_index(*key)));
    edits.any(|edit| edit.point.location == Location::Unwind)
}

/// The first and the last of the methods that the hits of `plan` call; none if they are too many.
fn methods_of(plan: &EditPlan) -> Option<(u8, u8)> {
    let hits = || {
        plan.edits().iter().filter_map(|edit| match edit.action {
            Action::Hit(probe) => Some((probe >> 8) as u8),
            _ => None,
        })
    };
    Some((hits().min()?, hits().max()?))
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
