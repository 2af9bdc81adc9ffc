//! Which JVM TI function is legal in which phase, as types (JVM TI, Phase).
//!
//! Each `extern` entry point makes the token of the phase it is called in; a wrapper in
//! [`super::jvmti`] asks for the tokens of the phases in which its function is legal, so a call in
//! the wrong phase does not compile. Functions without a token are legal in any phase.
//!
//! | token asked for | functions |
//! |---|---|
//! | none (any phase) | Allocate, Deallocate, DisposeEnvironment |
//! | [`OnLoadOrLive`] | AddCapabilities, GetPotentialCapabilities, SetEventCallbacks, SetEventNotificationMode, GetSystemProperty |
//! | [`Live`] | GetLoadedClasses, RetransformClasses, RunAgentThread, and JNI calls that run Java code |
//!
//! GetClassSignature, GetClassLoader, GetClassStatus and IsModifiableClass are legal from the
//! start phase on; they are reached through a class reference only, which cannot exist earlier.

/// Inside `Agent_OnLoad`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnLoad(());

/// From `VMInit` until `VMDeath` returns, or inside `Agent_OnAttach`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live(());

/// The functions that the specification allows in the OnLoad and the live phase only.
pub(crate) trait OnLoadOrLive: Copy {
    /// Whether this is the live phase, in which the program runs.
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
