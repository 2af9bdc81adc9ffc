//! The code of a probe.

use crate::class::{ClassFile, Code};
use crate::limits::{MAX_PROBE_INDEX, MAX_SHORT_INDEX};
use crate::plan::{Action, Edit, EditPlan, Location};
use crate::pool::PoolWriter;
use crate::splice::added::Added;
use crate::splice::class_array::{Fetch, prepare};
use crate::splice::hit_methods::{self, HitMethods};
use crate::splice::order::edit_index;
use crate::splice::overflow::first_probe_after_overflow;
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit that stores, without the instruction that may precede it.
const STORE: usize = 8;
/// Bytes of a hit that calls.
const CALL: usize = 5;
/// Pool entries per method of another class that hits call: name, descriptor, name and type, method reference. The
/// first one shares the descriptor.
const POOL_ENTRIES: u16 = 4;

/// Writes the probes of one class or method, with their pool entries.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// The instruction before a hit that stores.
    key: Option<[u8; 3]>,
    /// A storing hit of probe 0.
    hit: u64,
    /// The methods that hits call instead.
    calls: Option<Calls>,
    /// Hits of this probe and higher ones store in any case.
    stores_from: u32,
    /// True if a probe of the class, or of the current method, is above the range of `sipush`.
    far: bool,
    added: Added,
}

/// The methods that write the hits of one class; their pool entries are consecutive.
#[derive(Debug, Clone, Copy)]
struct Calls {
    /// Number of the first one.
    first: u8,
    /// Pool index of the first one.
    method: u16,
    /// Pool index of the second one.
    next: u16,
    /// Distance of the pool indices of further ones.
    stride: u16,
}

/// The code of one hit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hit {
    /// An optional first instruction, and the store.
    Store(Option<[u8; 3]>, [u8; STORE]),
    /// The same with `i2c` after `sipush`.
    FarStore(Option<[u8; 3]>, [u8; STORE + 1]),
    Call([u8; CALL]),
}

impl Hit {
    /// Passes the code to `part`, piece by piece.
    #[inline(always)]
    pub(crate) fn each(self, mut part: impl FnMut(&[u8])) {
        match self {
            Self::Store(key, store) => {
                if let Some(key) = key {
                    part(&key);
                }
                part(&store);
            }
            Self::FarStore(key, store) => {
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
    /// Adds the pool entries for `plan`; `None` if the pool is full.
    pub(crate) fn new(
        class: &ClassFile<'_>,
        plan: &EditPlan,
        storage: &ProbeStorage<'_>,
        pool: &mut PoolWriter,
    ) -> Option<Self> {
        let writes = |edit: &Edit| matches!(edit.action, Action::Hit(_));
        let mut calls = match *storage {
            ProbeStorage::SharedMethods { owner, method, .. } => match methods_of(plan) {
                Some(numbers) => Some(Calls::new(owner, method, numbers, pool)?),
                None => None,
            },
            _ => None,
        };
        let mut added = Added::default();
        let array = match *storage {
            _ if !plan.edits().iter().any(writes) => Fetch::Field(0),
            ProbeStorage::SharedArray { owner, field }
            | ProbeStorage::SharedMethods { owner, field, .. } => {
                Fetch::Field(pool.field(owner, field, "[B")?)
            }
            ProbeStorage::ClassArray { runtime, key }
            | ProbeStorage::ClassMethods { runtime, key } => {
                let (fetch, array) = prepare(class, runtime, key, pool)?;
                added.array = array;
                fetch
            }
        };
        if let (ProbeStorage::ClassMethods { .. }, Some(numbers)) = (storage, methods_of(plan)) {
            let mark = pool.mark();
            added.hits = HitMethods::prepare(class, array, numbers, pool);
            match &added.hits {
                Some(methods) => calls = Some(Calls::own(methods, numbers.0)),
                None => pool.roll_back(mark),
            }
        }
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
            stores_from: u32::MAX,
            far: plan.edits().iter().any(is_far),
            added,
        })
    }

    /// Returns the writer for one method of `class` with these edits. Code after a caught stack overflow must not call,
    /// so hits that its handlers reach store.
    #[inline]
    pub(crate) fn within(
        self,
        class: &ClassFile<'_>,
        code: &Code<'_, '_>,
        plan: &EditPlan,
        edits: &[u64],
    ) -> Self {
        let far = self.far && of_method(plan, edits).any(is_far);
        if self.calls.is_none() {
            return ProbeWriter { far, ..self };
        }
        let behind = first_probe_after_overflow(class, code, of_method(plan, edits));
        ProbeWriter {
            stores_from: behind.unwrap_or(u32::MAX),
            far,
            ..self
        }
    }

    /// Returns the bytes of each hit, if they are the same for all of the method.
    #[inline]
    pub(super) fn uniform_size(&self) -> Option<u32> {
        let mixed = self.calls.is_some() && self.stores_from != u32::MAX;
        (!mixed).then(|| self.hit_size(0))
    }

    /// Returns the methods to call, if the hit of this probe is a call.
    #[inline]
    fn called(&self, probe: u32) -> Option<Calls> {
        self.calls.filter(|_| probe < self.stores_from)
    }

    /// Returns the additions to the class.
    pub(crate) fn added(&self) -> Added {
        self.added
    }

    /// Returns the bytes of a hit of this probe.
    #[inline]
    pub(super) fn hit_size(&self, probe: u32) -> u32 {
        if self.called(probe).is_some() {
            return CALL as u32;
        }
        let key = self.key.map_or(0, |key| key.len());
        (key + STORE + usize::from(self.far)) as u32
    }

    /// Returns the operand stack slots that a hit needs.
    pub(super) fn hit_stack(&self) -> u32 {
        match self.calls {
            Some(_) if self.stores_from == u32::MAX => 1,
            _ => 3,
        }
    }

    /// Returns the code of a hit, whose index was checked.
    #[inline]
    pub(crate) fn hit(&self, probe: u32) -> Hit {
        match self.called(probe) {
            Some(calls) => Hit::Call(calls.hit(probe)),
            None => {
                let index = u64::from(probe as u16) << 16;
                let store = (self.hit | index).to_be_bytes();
                match self.far {
                    false => Hit::Store(self.key, store),
                    true => Hit::FarStore(self.key, far_store(store)),
                }
            }
        }
    }
}

/// Adds `i2c` after `sipush`, which makes the index unsigned.
fn far_store([f0, f1, f2, push, i0, i1, value, store]: [u8; STORE]) -> [u8; STORE + 1] {
    [f0, f1, f2, push, i0, i1, opcode::I2C, value, store]
}

impl Calls {
    /// Adds the methods of `owner` numbered `first` to `last`; `None` if the pool is full.
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
            stride: POOL_ENTRIES,
        };
        for number in first..last {
            let number = number + 1;
            let index = add(number)?;
            if calls.next == 0 {
                calls.next = index;
            }
            // Without the computed index there is no hit: the plan is refused as for a full pool.
            if index != calls.method_of(number) {
                return None;
            }
        }
        Some(calls)
    }

    /// Returns the methods added to the class; the first one has this number.
    fn own(methods: &HitMethods, first: u8) -> Self {
        let (method, stride) = (methods.first(), hit_methods::POOL_ENTRIES);
        // A single method has no second one, so `next` is unused.
        Self {
            first,
            method,
            next: method.saturating_add(stride),
            stride,
        }
    }

    /// Returns the pool index of the method with this number.
    fn method_of(&self, number: u8) -> u16 {
        match number - self.first {
            0 => self.method,
            more => self.next + u16::from(more - 1) * self.stride,
        }
    }

    fn hit(&self, probe: u32) -> [u8; CALL] {
        let [number, low] = (probe as u16).to_be_bytes();
        let [m0, m1] = self.method_of(number).to_be_bytes();
        // The pushed byte is signed.
        let low = low.wrapping_sub(128);
        [opcode::BIPUSH, low, opcode::INVOKESTATIC, m0, m1]
    }
}

/// Returns the edits of one method.
fn of_method<'p>(plan: &'p EditPlan, edits: &'p [u64]) -> impl Iterator<Item = &'p Edit> + Clone {
    let edits = edits.iter();
    edits.filter_map(|key| plan.edits().get(edit_index(*key)))
}

/// Checks for a hit of a probe whose index `sipush` alone cannot push.
fn is_far(edit: &Edit) -> bool {
    matches!(edit.action, Action::Hit(probe) if probe > MAX_SHORT_INDEX)
}

/// Returns the first and the last of the methods that the hits of `plan` call; `None` if they are too many.
fn methods_of(plan: &EditPlan) -> Option<(u8, u8)> {
    let hits = || {
        plan.edits().iter().filter_map(|edit| match edit.action {
            Action::Hit(probe) => Some((probe >> 8) as u8),
            _ => None,
        })
    };
    Some((hits().min()?, hits().max()?))
}

/// Checks whether `edit` inserts a hit into existing code.
#[inline]
pub(super) fn is_hit(edit: &Edit) -> bool {
    matches!(edit.action, Action::Hit(_)) && edit.point.location != Location::Unwind
}

/// Checks that `storage` has room for every probe of `plan`.
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
