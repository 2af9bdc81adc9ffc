//! The one agent of this library image.

use crate::agent::Agent;
use crate::ffi::installed::Installed;

static CURRENT: Installed<Agent> = Installed::none();

/// The agent that is installed in this image, if any.
pub(crate) fn get() -> Option<&'static Agent> {
    CURRENT.get()
}

/// Installs the agent if there is none; the agent given back was not installed.
pub(crate) fn install(agent: Box<Agent>) -> Result<&'static Agent, Box<Agent>> {
    CURRENT.install(agent)
}

/// Forgets the agent (it stays in memory), so that another start can install one.
pub(crate) fn retire() {
    CURRENT.retire();
}
