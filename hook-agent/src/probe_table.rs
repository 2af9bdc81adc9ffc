//! The probe ranges of each class in the arrays of the probe classes, for the lifetime of the JVM.
//!
//! A method that was entered with probes stores into its range until it returns, also after the agent has left. So an
//! agent that is loaded again reuses each class's range, and gives it to no other class.

use probes::ProbeTable;
use std::sync::LazyLock;

static TABLE: LazyLock<ProbeTable> = LazyLock::new(ProbeTable::new);

/// The table of this JVM.
pub(crate) fn table() -> &'static ProbeTable {
    &TABLE
}
