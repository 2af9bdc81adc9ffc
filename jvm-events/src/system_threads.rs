//! Threads of a JVM's process that run no Java code, recognized by the names that HotSpot gives
//! them.

use serde::{Deserialize, Serialize};

/// Number of bytes that Linux keeps of a thread's name (`/proc/PID/task/TID/comm`).
pub const COMM: usize = 15;

/// The work of a thread that runs no Java code.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Work {
    /// Garbage collection.
    Gc,
    /// Compilation of methods.
    Jit,
    /// Other work of the JVM: safepoints, timers, sweeping.
    Vm,
    /// Threads of Classhook.
    Agent,
    /// Threads of native libraries, and threads that ended between two samples.
    #[default]
    Other,
}

/// Prefixes of the names of HotSpot's threads in JDK 9 to 25. JDK 8 gives its threads no names.
const NAMES: &[(&str, Work)] = &[
    ("GC Thread#", Work::Gc),
    ("G1 ", Work::Gc),
    ("ParGC Thread#", Work::Gc),
    ("CMS ", Work::Gc),
    ("Shenandoah", Work::Gc),
    ("ZDirector", Work::Gc),
    ("ZDriver", Work::Gc),
    ("ZWorker", Work::Gc),
    ("ZStat", Work::Gc),
    ("ZUncommitter", Work::Gc),
    ("ZUnmapper", Work::Gc),
    ("XDirector", Work::Gc),
    ("XDriver", Work::Gc),
    ("XWorker", Work::Gc),
    ("XStat", Work::Gc),
    ("XUncommitter", Work::Gc),
    ("XUnmapper", Work::Gc),
    ("RuntimeWorker#", Work::Gc),
    ("StringDedup", Work::Gc),
    ("C1 CompilerThre", Work::Jit),
    ("C2 CompilerThre", Work::Jit),
    ("JVMCI CompilerT", Work::Jit),
    ("VM Thread", Work::Vm),
    ("VM Periodic Tas", Work::Vm),
    ("Sweeper thread", Work::Vm),
    ("Service Thread", Work::Vm),
    ("Monitor Deflati", Work::Vm),
    ("JFR Sampl", Work::Vm),
    ("Classhook", Work::Agent),
    ("classhook", Work::Agent),
];

impl Work {
    /// Returns the work of a thread by its name in `comm`, or `None` if HotSpot uses no such name.
    #[must_use]
    pub fn of(comm: &str) -> Option<Self> {
        let mut names = NAMES.iter();
        let found = names.find(|(begin, _)| comm.starts_with(begin));
        found.map(|(_, work)| *work)
    }

    /// The name of the row in tables.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Gc => "[GC threads]",
            Self::Jit => "[JIT compiler threads]",
            Self::Vm => "[other threads of the JVM]",
            Self::Agent => "[Classhook]",
            Self::Other => "[threads not known by name]",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_hotspot_are_recognized_and_those_of_programs_are_not() {
        for (comm, work) in [
            ("GC Thread#0", Some(Work::Gc)),
            ("G1 Conc#0", Some(Work::Gc)),
            ("G1 Main Marker", Some(Work::Gc)),
            ("ZDriverMajor", Some(Work::Gc)),
            ("C2 CompilerThre", Some(Work::Jit)),
            ("VM Thread", Some(Work::Vm)),
            ("Classhook event", Some(Work::Agent)),
            ("main", None),
            ("http-nio-8080-e", None),
            ("Finalizer", None),
        ] {
            assert_eq!(Work::of(comm), work, "{comm}");
        }
    }
}
