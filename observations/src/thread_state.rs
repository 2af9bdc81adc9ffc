//! States of threads, as samples by the wall clock show them.

use serde::{Deserialize, Serialize};

/// The state of a thread.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum ThreadState {
    /// It runs Java code, or waits for a processor.
    #[default]
    Running,
    /// It is in native code, where it runs or waits: for input and output, for example.
    Native,
    /// It waits to enter a monitor.
    Monitor,
    /// It waits in `Object.wait`.
    Waiting,
    /// It is parked (`LockSupport.park`), as in front of a lock of `java.util.concurrent`.
    Parked,
    /// It sleeps (`Thread.sleep`).
    Sleeping,
    /// A debugger or another agent has suspended it.
    Suspended,
}

/// `JVMTI_THREAD_STATE_ALIVE`.
const ALIVE: u32 = 0x1;
/// Bits of a state (JVM TI, GetThreadState), the decisive ones first: a thread that is suspended, parked or asleep has
/// others besides.
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
    /// All of them, in the order of rows.
    pub const ALL: [Self; 7] = [
        Self::Running,
        Self::Native,
        Self::Monitor,
        Self::Waiting,
        Self::Parked,
        Self::Sleeping,
        Self::Suspended,
    ];

    /// The state of a thread by its bits; none if it has not started or has ended.
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
    fn decisive_bit_makes_the_state() {
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
