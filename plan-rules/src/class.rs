//! A class file with what checks plans for it.

use rewriter::{ClassFile, MethodIndex, PlanChecker, PlanError, ReadError};
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
    /// A class with what remembers its instruction starts.
    struct CheckedCell {
        owner: OwnedClass,
        #[not_covariant]
        dependent: Checker,
    }
}

/// A class under transformation: read once, and handed from plugin to plugin.
pub struct CheckedClass {
    cell: CheckedCell,
    retransforming: bool,
}

impl CheckedClass {
    /// Reads the structure of a class file; `retransforming` says that the JVM has loaded the class already.
    ///
    /// # Errors
    /// If the bytes are no class file.
    pub fn read(bytes: &[u8], retransforming: bool) -> Result<Self, ReadError> {
        let class = OwnedClass::try_new(bytes.to_vec(), |bytes| ClassFile::read(bytes))?;
        let cell = CheckedCell::new(class, |class| PlanChecker::new(class.borrow_dependent()));
        Ok(Self {
            cell,
            retransforming,
        })
    }

    /// The view of the class.
    #[must_use]
    pub fn class(&self) -> &ClassFile<'_> {
        self.cell.borrow_owner().borrow_dependent()
    }

    /// Whether the class is already loaded.
    #[must_use]
    pub fn is_retransforming(&self) -> bool {
        self.retransforming
    }

    /// Name and descriptor of a method, for display.
    #[must_use]
    pub fn method_name(&self, index: MethodIndex) -> Option<String> {
        let method = self.class().method(index)?;
        Some(format!(
            "{}{}",
            method.name().to_str_lossless(),
            method.descriptor().to_str_lossless()
        ))
    }

    /// Forgets what was checked for an earlier plan.
    pub(crate) fn begin(&mut self) {
        self.cell.with_dependent_mut(|_, checker| checker.begin());
    }

    /// Asks the checker.
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
