//! The phase in which each JVM TI function is legal, as types (JVM TI, Phase).
//!
//! Each `extern` entry point creates the token of the phase it is called in. A wrapper in [`super::jvmti`] requires the
//! tokens of the phases in which its function is legal, so a call in the wrong phase does not compile. Functions
//! without a token are legal in any phase.
//!
//! | required token | functions |
//! |---|---|
//! | none (any phase) | Allocate, Deallocate, DisposeEnvironment |
//! | [`OnLoadOrLive`] | AddCapabilities, GetPotentialCapabilities, SetEventCallbacks, SetEventNotificationMode,
//! GetSystemProperty |
//! | [`Live`] | GetLoadedClasses, RetransformClasses, RunAgentThread, and JNI calls that run Java code |
//!
//! GetClassSignature, GetClassLoader, GetClassStatus and IsModifiableClass are legal from the start phase on. They
//! require a class reference, which cannot exist earlier.

/// Inside `Agent_OnLoad`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnLoad(());

/// From `VMInit` until `VMDeath` returns, or inside `Agent_OnAttach`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live(());

/// The functions that the specification allows in the OnLoad and the live phase only.
pub(crate) trait OnLoadOrLive: Copy {
    /// True for the live phase, in which the program runs.
    const IS_LIVE: bool;
}

impl OnLoadOrLive for OnLoad {
    const IS_LIVE: bool = false;
}

impl OnLoadOrLive for Live {
    const IS_LIVE: bool = true;
}

impl OnLoad {
    /// For `Agent_OnLoad` alone.
    pub(super) fn entered() -> Self {
        OnLoad(())
    }
}

impl Live {
    /// For callbacks of live-phase events, `Agent_OnAttach` and agent threads.
    pub(super) fn entered() -> Self {
        Live(())
    }
}
