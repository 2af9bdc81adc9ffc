//! Methods that edits made longer than HotSpot compiles.
//!
//! HotSpot leaves methods of more than 8,000 bytes to its interpreter as long as its flag `DontCompileHugeMethods` is
//! set, which it reads whenever it decides on a method. A method that was compiled before the edits would run many
//! times slower, so the flag is cleared when the first method has crossed the limit.

use crate::ffi::vm_flags::VmFlag;
use std::sync::{Mutex, PoisonError};

/// What became of HotSpot's limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Limit {
    /// Nobody needed it changed.
    #[default]
    Untouched,
    /// The agent has cleared the flag.
    Lifted,
    /// The flag was clear before: `-XX:-DontCompileHugeMethods`.
    WasLifted,
    /// The limit stays: the agent's option says so, or the JVM does not say where its flags are.
    Stays,
}

/// The limit, and the flag if the agent has changed it.
#[derive(Debug)]
pub(crate) struct HugeMethods {
    /// Whether the limit may be lifted.
    may_lift: bool,
    state: Mutex<(Limit, Option<VmFlag>)>,
}

impl HugeMethods {
    /// `may_lift`: whether the agent may lift the limit.
    pub fn new(may_lift: bool) -> Self {
        Self {
            may_lift,
            state: Mutex::default(),
        }
    }

    /// A method has crossed the limit: lifts it, unless that was tried before.
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

    /// Puts the flag back if the agent has cleared it.
    pub fn put_back(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(flag) = state.1.take() {
            flag.set(true);
        }
    }

    /// What became of the limit.
    pub fn limit(&self) -> Limit {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0
    }

    /// Whether methods beyond the limit are compiled.
    pub fn are_compiled(&self) -> bool {
        matches!(self.limit(), Limit::Lifted | Limit::WasLifted)
    }
}
