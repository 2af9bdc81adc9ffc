//! A class file and the checker of plans for it.

use rewriter::{ClassFile, MethodIndex, PlanChecker, PlanError, ReadError, Tables};
use self_cell::self_cell;

pub(crate) type Checker<'c> = PlanChecker<'c, 'c>;

self_cell! {
    /// Class bytes with their structure.
    struct OwnedClass {
        owner: Vec<u8>,
        #[covariant]
        dependent: ClassFile,
    }
}

self_cell! {
    /// A class and the cache of its instruction starts.
    struct CheckedCell {
        owner: OwnedClass,
        #[not_covariant]
        dependent: Checker,
    }
}

/// Maximum class size in bytes whose memory is kept for the next class.
const MOST_KEPT: usize = 1 << 20;

/// Memory that one class passes to the next, so that reading again allocates little.
#[derive(Debug, Default)]
pub struct ClassMemory {
    bytes: Vec<u8>,
    tables: Tables,
    starts: Vec<u8>,
}

/// A class under transformation: read once, and passed from plugin to plugin.
pub struct CheckedClass {
    cell: CheckedCell,
    retransforming: bool,
}

impl CheckedClass {
    /// Reads the structure of a class file. `retransforming` marks a class that the JVM has already loaded.
    ///
    /// # Errors
    /// The bytes are not a class file.
    pub fn read(bytes: &[u8], retransforming: bool) -> Result<Self, ReadError> {
        Self::read_with(bytes, retransforming, ClassMemory::default())
    }

    /// Does the same as [`CheckedClass::read`] with the memory of an earlier class.
    ///
    /// # Errors
    /// As [`CheckedClass::read`]; the memory is then lost.
    pub fn read_with(
        bytes: &[u8],
        retransforming: bool,
        memory: ClassMemory,
    ) -> Result<Self, ReadError> {
        let ClassMemory {
            bytes: mut own,
            tables,
            starts,
        } = memory;
        own.clear();
        own.extend_from_slice(bytes);
        let class = OwnedClass::try_new(own, |bytes| ClassFile::read_with(bytes, tables))?;
        let cell = CheckedCell::new(class, |class| {
            PlanChecker::with(class.borrow_dependent(), starts)
        });
        Ok(Self {
            cell,
            retransforming,
        })
    }

    /// Returns the memory of this class for the next one; empty after a class of unusual size.
    #[must_use]
    pub fn into_memory(self) -> ClassMemory {
        let Self { mut cell, .. } = self;
        let starts = cell.with_dependent_mut(|_, checker| checker.take_memory());
        let mut class = cell.into_owner();
        let tables = class.with_dependent_mut(|_, class| class.take_tables());
        let bytes = class.into_owner();
        if bytes.capacity() > MOST_KEPT {
            return ClassMemory::default();
        }
        ClassMemory {
            bytes,
            tables,
            starts,
        }
    }

    /// Returns the view of the class.
    #[must_use]
    pub fn class(&self) -> &ClassFile<'_> {
        self.cell.borrow_owner().borrow_dependent()
    }

    /// Checks whether the class is already loaded.
    #[must_use]
    pub fn is_retransforming(&self) -> bool {
        self.retransforming
    }

    /// Returns name and descriptor of a method for display.
    #[must_use]
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        let method = self.class().method(index)?;
        Some(format!(
            "{}{}",
            method.name().to_str_lossless(),
            method.descriptor().to_str_lossless()
        ))
    }

    /// Discards the checks for an earlier plan.
    pub(crate) fn begin(&mut self) {
        self.cell.with_dependent_mut(|_, checker| checker.begin());
    }

    /// Calls the checker.
    pub(crate) fn check(
        &mut self,
        ask: impl FnOnce(&mut Checker<'_>) -> Result<(), PlanError>,
    ) -> Result<(), PlanError> {
        self.cell.with_dependent_mut(|_, checker| ask(checker))
    }
}

impl std::fmt::Debug for CheckedClass {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CheckedClass")
            .field("class", &self.class().this_class())
            .finish_non_exhaustive()
    }
}
