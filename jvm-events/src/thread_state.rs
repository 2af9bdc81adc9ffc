//! States of threads in samples by the wall clock.

use serde::{Deserialize, Serialize};

/// The state of a thread.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ThreadState {
    /// The thread runs Java code or waits for a processor.
    #[default]
    Running,
    /// The thread is in native code, where it runs or waits, for example for input or output.
    Native,
    /// The thread waits to enter a monitor.
    Monitor,
    /// The thread waits in `Object.wait`.
    Waiting,
    /// The thread is parked (`LockSupport.park`), for example by a lock of `java.util.concurrent`.
    Parked,
    /// The thread sleeps (`Thread.sleep`).
    Sleeping,
    /// A debugger or another agent has suspended the thread.
    Suspended,
}

/// `JVMTI_THREAD_STATE_ALIVE`.
const ALIVE: u32 = 0x1;
/// Bits of a state (JVM TI, `GetThreadState`) by priority. A suspended, parked or sleeping thread
/// has other bits as well.
const BITS: [(u32, ThreadState); 7] = [
    (0x10_0000, ThreadState::Suspended),
    (0x400, ThreadState::Monitor),
    (0x40, ThreadState::Sleeping),
    (0x200, ThreadState::Parked),
    (0x80, ThreadState::Waiting),
    (0x40_0000, ThreadState::Native),
    (0x4, ThreadState::Running),
];

impl ThreadState {
    /// All states, in the order of rows.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Native,
        Self::Monitor,
        Self::Waiting,
        Self::Parked,
        Self::Sleeping,
        Self::Suspended,
    ];

    /// Returns the state for the bits of JVM TI, or `None` for a thread that has not started or has
    /// ended.
    #[must_use]
    pub fn of(bits: u32) -> Option<Self> {
        let is_alive = bits & ALIVE != 0;
        let mut states = BITS.iter().filter(|(bit, _)| bits & bit != 0);
        let found = states.next().map_or(Self::Native, |(_, state)| *state);
        is_alive.then_some(found)
    }

    /// The name in tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Native => "in native code or I/O",
            Self::Monitor => "waiting for a monitor",
            Self::Waiting => "in Object.wait",
            Self::Parked => "parked",
            Self::Sleeping => "sleeping",
            Self::Suspended => "suspended",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states that HotSpot reports, as numbers.
    #[test]
    fn bit_of_highest_priority_decides_the_state() {
        for (bits, state) in [
            (0x0, None),
            (0x2, None),
            (0x5, Some(ThreadState::Running)),
            (0x40_0005, Some(ThreadState::Native)),
            (0x401, Some(ThreadState::Monitor)),
            (0x191, Some(ThreadState::Waiting)),
            (0x1A1, Some(ThreadState::Waiting)),
            (0x291, Some(ThreadState::Parked)),
            (0x2A1, Some(ThreadState::Parked)),
            (0xE1, Some(ThreadState::Sleeping)),
            (0x40_00E1, Some(ThreadState::Sleeping)),
            (0x10_0005, Some(ThreadState::Suspended)),
            (0x20_0005, Some(ThreadState::Running)),
        ] {
            assert_eq!(ThreadState::of(bits), state, "{bits:#x}");
        }
    }
}
