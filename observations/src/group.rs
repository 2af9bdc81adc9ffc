//! Kinds of events. A plugin subscribes to one with one function, which needs a grant; some are for recordings alone.

/// Events that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Threads that used CPU time.
    Samples,
    /// Sampled allocations.
    Allocations,
    /// Waits for monitors.
    Monitors,
    /// What is thrown.
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
    /// Memory or threads that the JVM does not have.
    Exhaustion,
    /// Exceptions that are caught.
    Catches,
    /// Classes that are unloaded.
    Unloads,
    /// Objects that are gone.
    Frees,
    /// Requests to write what there is.
    Dumps,
    /// Global references of JNI; of recordings alone.
    References,
    /// Threads, whatever their state; of recordings alone.
    WallClock,
}

impl Group {
    /// Those to which plugins can subscribe.
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

    /// The function that subscribes, in `wit/plugin.wit`, if plugins can.
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
