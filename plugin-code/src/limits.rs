//! Limits of compiling a plugin; `docs/options.md` states them for users.

use std::time::Duration;

/// Most bytes of a component: the largest known, of languages with an interpreter inside, have 20 MB.
pub const MAX_COMPONENT: u64 = 32 << 20;
/// Most functions of a component, over all its modules.
pub const MAX_FUNCTIONS: u64 = 100_000;
/// Most local variables of a function.
pub const MAX_LOCALS: u64 = 10_000;
/// Most bytes of the code that is made of a component.
pub const MAX_CODE: u64 = 256 << 20;

const MIB: u64 = 1 << 20;
/// CPU time for a component of at most [`SMALL`] MiB: those of Rust, C, Zig and Go take less than 3 s.
const CPU: Duration = Duration::from_secs(10);
/// CPU time for each further MiB: components with an interpreter inside, of 12 to 18 MB, take 20 to 30 s.
const CPU_PER_MIB: Duration = Duration::from_secs(6);
/// Size of a small component in MiB.
const SMALL: u64 = 2;

/// Limits of the process that compiles a component. They grow with each MiB of the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// CPU time.
    pub cpu: Duration,
    /// Time on the clock, for a machine that is busy.
    pub wall: Duration,
    /// Address space in bytes.
    pub memory: u64,
}

impl Limits {
    /// The limits for a component of this length in bytes.
    #[must_use]
    pub fn of(component: usize) -> Self {
        let size = (component as u64).div_ceil(MIB);
        let more = u32::try_from(size.saturating_sub(SMALL)).unwrap_or(u32::MAX);
        let cpu = CPU_PER_MIB.saturating_mul(more).saturating_add(CPU);
        Self {
            cpu,
            wall: 6 * cpu,
            memory: (768 + 64 * size) * MIB,
        }
    }
}

impl Limits {
    /// A text that is another one if any limit is.
    #[must_use]
    pub fn all(&self) -> String {
        format!("{self}, {MAX_FUNCTIONS} functions, {MAX_LOCALS} locals, {MAX_CODE} bytes of code")
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (cpu, wall) = (self.cpu.as_secs(), self.wall.as_secs());
        let memory = self.memory / MIB;
        write!(
            f,
            "{cpu} s of CPU time, {wall} s in all and {memory} MiB of memory for a component of this size"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_components_may_take_longer() {
        let (small, large) = (Limits::of(14 << 10), Limits::of(12 << 20));
        assert_eq!(small.cpu, Duration::from_secs(10));
        assert_eq!(large.cpu, Duration::from_secs(70));
        assert!(small.memory < large.memory && small.memory <= 1 << 30);
    }
}
