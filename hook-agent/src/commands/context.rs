//! The context of every request.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;

/// The agent and the JVM, on the thread that carries out the request.
#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    pub agent: &'a Agent,
    pub jvm: Jvm<'a>,
}
