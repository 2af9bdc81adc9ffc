//! Signals and channels to the agent's own threads.

use crate::agent::control_channel::ControlChannel;
use crate::agent::thread_signal::ThreadSignal;
use std::net::SocketAddr;
use std::sync::OnceLock;

/// Signals and channels to the agent's own threads.
#[derive(Debug, Default)]
pub(crate) struct Threads {
    /// The signal to the agent thread.
    pub signal: ThreadSignal,
    /// The signal to the upkeep thread.
    pub upkeep: ThreadSignal,
    /// The channel to the control thread.
    pub control: ControlChannel,
    /// The channel to the JaCoCo thread.
    pub jacoco: ControlChannel,
    /// The address at which the JaCoCo thread listens.
    pub jacoco_address: OnceLock<SocketAddr>,
}
