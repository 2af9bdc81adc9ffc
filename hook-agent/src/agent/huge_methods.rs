//! Methods that edits made longer than HotSpot's limit for compilation.
//!
//! HotSpot interprets methods of more than 8,000 bytes while its flag `DontCompileHugeMethods` is set. It reads the
//! flag at each decision about a method. A method that was compiled before the edits would run many times slower, so
//! the agent clears the flag when the first method exceeds the limit.

use crate::ffi::vm_flags::VmFlag;
use std::sync::{Mutex, PoisonError};

/// The state of HotSpot's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Limit {
    /// Not needed so far.
    #[default]
    Untouched,
    /// The agent has cleared the flag.
    Lifted,
    /// The flag was clear before: `-XX:-DontCompileHugeMethods`.
    WasLifted,
    /// HotSpot's limit stays: the agent's option requires it, or the JVM does not export its flags.
    Stays,
}

/// The state of the limit, and the flag if the agent has changed it.
#[derive(Debug)]
pub(crate) struct HugeMethods {
    /// True if the agent may lift the limit.
    may_lift: bool,
    state: Mutex<(Limit, Option<VmFlag>)>,
}

impl HugeMethods {
    /// Creates the state. `may_lift` allows the agent to lift the limit.
    pub fn new(may_lift: bool) -> Self {
        Self {
            may_lift,
            state: Mutex::default(),
        }
    }

    /// Lifts the limit for a method that exceeds it, at the first such method.
    pub fn crossed(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.0 != Limit::Untouched {
            return;
        }
        let flag = if self.may_lift {
            VmFlag::find(c"DontCompileHugeMethods")
        } else {
            None
        };
        *state = match flag {
            None => (Limit::Stays, None),
            Some(flag) if !flag.get() => (Limit::WasLifted, None),
            Some(flag) => {
                flag.set(false);
                (Limit::Lifted, Some(flag))
            }
        };
    }

    /// Sets the flag again if the agent has cleared it.
    pub fn put_back(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = state.1.take() {
            flag.set(true);
        }
    }

    /// The state of the limit.
    pub fn limit(&self) -> Limit {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0
    }

    /// Checks whether HotSpot compiles methods beyond the limit.
    pub fn are_compiled(&self) -> bool {
        matches!(self.limit(), Limit::Lifted | Limit::WasLifted)
    }
}
