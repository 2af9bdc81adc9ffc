//! What every command takes.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;

/// The agent, and the JVM on the control thread.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub agent: &'a Agent,
    pub jvm: Jvm<'a>,
}
