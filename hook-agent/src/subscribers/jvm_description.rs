//! The description of the JVM in files.

use crate::agent::Agent;
use jvm_events::recorded::Jvm;
use std::time::{SystemTime, UNIX_EPOCH};

/// The JVM, as files describe it.
pub(super) fn jvm_of(agent: &Agent) -> Jvm {
    let meta = &agent.results.meta;
    Jvm {
        pid: meta.pid,
        version: meta.jvm.clone(),
        command: meta.command.clone(),
        run: meta.run.clone(),
    }
}

/// Milliseconds since 1970.
pub(super) fn now_ms() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(elapsed.unwrap_or_default().as_millis()).unwrap_or(u64::MAX)
}
