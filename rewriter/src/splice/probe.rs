//! The code of a probe.

use crate::arithmetic::Exact;
use crate::class::{ClassFile, Code};
use crate::limits::{MAX_PROBE_INDEX, MAX_SHORT_INDEX};
use crate::plan::{Action, Edit, EditPlan, Location};
use crate::pool::PoolWriter;
use crate::splice::added::Added;
use crate::splice::class_array::{Fetch, prepare};
use crate::splice::hit_methods::{self, HitMethods};
use crate::splice::order::edit_index;
use crate::splice::overflow::first_probe_behind;
use crate::splice::report::SpliceError;
use crate::storage::ProbeStorage;
use jvms::opcode;

/// Bytes of a hit that stores, but for what may stand in front of them.
const STORE: usize = 8;
/// Bytes of a hit that calls.
const CALL: usize = 5;
/// Pool entries of a method of another class that hits call, but for the first: its name and descriptor, both together, and itself.
const POOL_ENTRIES: u16 = 4;

/// Probes of one class or method, with the pool entries they use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProbeWriter {
    /// What stands in front of a hit that stores.
    key: Option<[u8; 3]>,
    /// A hit of probe 0 that stores.
    hit: u64,
    /// What hits call instead.
    calls: Option<Calls>,
    /// Hits of this probe and higher ones store all the same.
    stores_from: u32,
    /// Some probe of the class, or then of the method, is beyond what `sipush` pushes.
    far: bool,
    added: Added,
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
    /// Pool entries from each of the further ones to the next.
    stride: u16,
}

/// The code of one hit.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hit {
    /// What may stand in front, and what stores.
    Store(Option<[u8; 3]>, [u8; STORE]),
    /// The same with `i2c` behind `sipush`.
    FarStore(Option<[u8; 3]>, [u8; STORE + 1]),
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
    /// Adds what `plan` needs to refer to; none when the pool is full.
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

    /// The same for one method of `class` with these edits. A program that ran out of
    /// stack and goes on must not be made to call, so behind handlers that may catch
    /// that, hits store.
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
        let behind = first_probe_behind(class, code, of_method(plan, edits));
        ProbeWriter {
            stores_from: behind.unwrap_or(u32::MAX),
            far,
            ..self
        }
    }

    /// Bytes of each hit, if all of the method have the same number.
    #[inline]
    pub(super) fn uniform_size(&self) -> Option<u32> {
        let mixed = self.calls.is_some() && self.stores_from != u32::MAX;
        (!mixed).then(|| self.hit_size(0))
    }

    /// The methods that are called if the hit of a probe is a call.
    #[inline]
    fn called(&self, probe: u32) -> Option<Calls> {
        self.calls.filter(|_| probe < self.stores_from)
    }

    /// What the class gets besides the probes.
    pub(crate) fn added(&self) -> Added {
        self.added
    }

    /// Bytes of a hit of this probe.
    #[inline]
    pub(super) fn hit_size(&self, probe: u32) -> u32 {
        if self.called(probe).is_some() {
            return CALL as u32;
        }
        let key = self.key.map_or(0, |key| key.len());
        key.plus(STORE).plus(usize::from(self.far)) as u32
    }

    /// Operand stack slots that a hit needs.
    pub(super) fn hit_stack(&self) -> u32 {
        match self.calls {
            Some(_) if self.stores_from == u32::MAX => 1,
            _ => 3,
        }
    }

    /// The code of a hit, whose index has been checked.
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

/// The same with `i2c` behind `sipush`: the index is that of two bytes without a sign.
fn far_store([f0, f1, f2, push, i0, i1, value, store]: [u8; STORE]) -> [u8; STORE + 1] {
    [f0, f1, f2, push, i0, i1, opcode::I2C, value, store]
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
            stride: POOL_ENTRIES,
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

    /// Those that the class itself gets, the first with this number.
    fn own(methods: &HitMethods, first: u8) -> Self {
        let (method, stride) = (methods.first(), hit_methods::POOL_ENTRIES);
        // Of a single one there is no second, so its index is not asked for.
        Self {
            first,
            method,
            next: method.saturating_add(stride),
            stride,
        }
    }

    /// Pool index of the method with this number.
    fn method_of(&self, number: u8) -> u16 {
        match number.minus(self.first) {
            0 => self.method,
            more => self.next.plus(u16::from(more.minus(1)).times(self.stride)),
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

/// The edits of one method.
fn of_method<'p>(plan: &'p EditPlan, edits: &'p [u64]) -> impl Iterator<Item = &'p Edit> + Clone {
    let edits = edits.iter();
    edits.filter_map(|key| plan.edits().get(edit_index(*key)))
}

/// Checks for a hit of a probe whose index `sipush` alone cannot push.
fn is_far(edit: &Edit) -> bool {
    matches!(edit.action, Action::Hit(probe) if probe > MAX_SHORT_INDEX)
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
