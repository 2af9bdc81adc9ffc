//! The one agent of this library image.

use crate::agent::Agent;
use std::sync::atomic::{AtomicPtr, Ordering};

static CURRENT: AtomicPtr<Agent> = AtomicPtr::new(std::ptr::null_mut());

/// The agent that is installed in this image, if any.
pub(crate) fn get() -> Option<&'static Agent> {
    // SAFETY: the pointer is null or comes from `Box::leak` in `install`, and is never freed,
    // because a callback may run on another thread at any time.
    unsafe { CURRENT.load(Ordering::Acquire).as_ref() }
}

/// Installs the agent if there is none; the agent given back was not installed.
pub(crate) fn install(agent: Box<Agent>) -> Result<&'static Agent, Box<Agent>> {
    let new = Box::into_raw(agent);
    let null = std::ptr::null_mut();
    match CURRENT.compare_exchange(null, new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: `new` came from a box, which is leaked here.
        Ok(_) => Ok(unsafe { &*new }),
        // SAFETY: `new` came from a box and was not stored anywhere.
        Err(_) => Err(unsafe { Box::from_raw(new) }),
    }
}

/// Forgets the agent (it stays in memory), so that another start can install one.
pub(crate) fn retire() {
    CURRENT.store(std::ptr::null_mut(), Ordering::Release);
}
