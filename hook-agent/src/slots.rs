//! What stays in the JVM for its lifetime, whatever becomes of the agent: the arrays of the probe
//! classes, and who has which slots of them.
//!
//! A method that was entered with probes goes on storing into its slots until it returns, also after
//! the agent has left. So an agent that comes back finds each class's slots again, and gives those
//! to no other.

use crate::ffi::live::ProbeArray;
use probes::ProbeTable;
use std::sync::{LazyLock, RwLock};

/// Who has which slots.
static TABLE: LazyLock<ProbeTable> = LazyLock::new(ProbeTable::new);
/// The JVM's arrays, by number; an array is added before the table knows of it.
static ARRAYS: RwLock<Vec<ProbeArray>> = RwLock::new(Vec::new());

/// The table of this JVM.
pub(crate) fn table() -> &'static ProbeTable {
    &TABLE
}

/// The arrays of this JVM.
pub(crate) fn arrays() -> &'static RwLock<Vec<ProbeArray>> {
    &ARRAYS
}
