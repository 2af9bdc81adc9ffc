//! Where the probes of each class lie in the arrays of the probe classes, for the lifetime of the JVM.
//!
//! A method that was entered with probes goes on storing into its part of an array until it returns, also
//! after the agent has left. So an agent that comes back finds each class's part again, and gives it to no
//! other class.

use probes::ProbeTable;
use std::sync::LazyLock;

static TABLE: LazyLock<ProbeTable> = LazyLock::new(ProbeTable::new);

/// The table of this JVM.
pub(crate) fn table() -> &'static ProbeTable {
    &TABLE
}
