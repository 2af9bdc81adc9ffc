//! Where probes are kept.

/// A static array and the index of probe 0 in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArrayRef<'a> {
    /// Name of the static field.
    pub field: &'a str,
    /// Index of probe 0.
    pub base: u16,
}

/// Where the probes of a plan are stored, and so what code writes to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProbeStorage<'a> {
    /// Hits in a static `byte[]` field of another class:
    /// `getstatic owner.field:[B; sipush base+probe; iconst_1; bastore`.
    /// A plan with counters needs [`ProbeStorage::SharedArrays`].
    SharedArray {
        /// Internal name of the class.
        owner: &'a str,
        /// Name of its `static final byte[]`.
        field: &'a str,
        /// Index of probe 0; `base` plus the highest probe is at most 32,767.
        base: u16,
    },
    /// Hits in a `byte[]`, counts in a `long[]`, both static fields of one class:
    /// `getstatic owner.counts:[J; sipush base+probe; dup2; laload; lconst_1; ladd; lastore`.
    SharedArrays {
        /// Internal name of the class.
        owner: &'a str,
        /// Its `static final byte[]`.
        hits: ArrayRef<'a>,
        /// Its `static final long[]`.
        counts: ArrayRef<'a>,
    },
}

impl<'a> ProbeStorage<'a> {
    pub(crate) fn owner(&self) -> &'a str {
        match self {
            ProbeStorage::SharedArray { owner, .. } | ProbeStorage::SharedArrays { owner, .. } => {
                owner
            }
        }
    }

    pub(crate) fn hits(&self) -> ArrayRef<'a> {
        match *self {
            ProbeStorage::SharedArray { field, base, .. } => ArrayRef { field, base },
            ProbeStorage::SharedArrays { hits, .. } => hits,
        }
    }

    pub(crate) fn counts(&self) -> Option<ArrayRef<'a>> {
        match *self {
            ProbeStorage::SharedArray { .. } => None,
            ProbeStorage::SharedArrays { counts, .. } => Some(counts),
        }
    }
}
