//! The agent of this copy of the library.

use crate::agent::Agent;
use crate::ffi::installed::Installed;

static CURRENT: Installed<Agent> = Installed::none();

/// The agent that is installed in this copy, if any.
pub(crate) fn get() -> Option<&'static Agent> {
    CURRENT.get()
}

/// Installs the agent if no other is installed. Otherwise it returns the agent as the error.
pub(crate) fn install(agent: Box<Agent>) -> Result<&'static Agent, Box<Agent>> {
    CURRENT.install(agent)
}

/// Uninstalls the agent (it stays in memory), so that another start can install one.
pub(crate) fn retire() {
    CURRENT.retire();
}
