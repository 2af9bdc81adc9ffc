//! Kinds of events. A plugin subscribes to each with one function, which needs a grant. Some kinds
//! exist only in recordings.

/// A kind of event that is switched on as a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Threads that used CPU time.
    Samples,
    /// Sampled allocations.
    Allocations,
    /// Waits for monitors.
    Monitors,
    /// Exceptions that are thrown.
    Exceptions,
    /// Garbage collections.
    Collections,
    /// Threads that start and end.
    Threads,
    /// Classes that are prepared.
    Classes,
    /// Machine code of methods.
    Compilations,
    /// Native methods that are bound.
    Natives,
    /// Memory or threads that the JVM could not provide.
    Exhaustion,
    /// Exceptions that are caught.
    Catches,
    /// Classes that are unloaded.
    Unloads,
    /// Objects that were freed.
    Frees,
    /// Requests for a dump of the data (`DataDumpRequest` of JVM TI).
    Dumps,
    /// Global references of JNI; only in recordings.
    References,
    /// Threads in any state, sampled by the wall clock; only in recordings.
    WallClock,
}

impl EventKind {
    /// The kinds to which plugins can subscribe.
    pub const ALL: [Self; 14] = [
        Self::Samples,
        Self::Allocations,
        Self::Monitors,
        Self::Exceptions,
        Self::Collections,
        Self::Threads,
        Self::Classes,
        Self::Compilations,
        Self::Natives,
        Self::Exhaustion,
        Self::Catches,
        Self::Unloads,
        Self::Frees,
        Self::Dumps,
    ];

    /// The function in `sdk/wit/plugin.wit` that subscribes, if plugins can subscribe.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Samples => "samples",
            Self::Allocations => "allocations",
            Self::Monitors => "monitors",
            Self::Exceptions => "exceptions",
            Self::Collections => "collections",
            Self::Threads => "threads",
            Self::Classes => "classes",
            Self::Compilations => "compilations",
            Self::Natives => "natives",
            Self::Exhaustion => "exhaustion",
            Self::Catches => "catches",
            Self::Unloads => "unloads",
            Self::Frees => "frees",
            Self::Dumps => "dumps",
            Self::References => "references",
            Self::WallClock => "wall",
        }
    }
}
