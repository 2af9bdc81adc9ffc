//! A class that this JVM must run as it is.
//!
//! The interpreter of HotSpot 8 has its own code for `Reference.get`, which reads the field from the JDK's bytecode. It is
//! used if no compiler works (`-Xint`), and the JVM crashes if the method has other bytecode.

use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::OnLoadOrLive;
use std::sync::atomic::{AtomicBool, Ordering};

/// The class with the method.
const REFERENCE: &[u8] = b"java/lang/ref/Reference";
/// The release with this interpreter.
const RELEASE: u16 = 8;

static HAS_REFERENCE: AtomicBool = AtomicBool::new(false);

/// Finds out whether this JVM has such a class.
pub(crate) fn find(jvmti: Jvmti, phase: impl OnLoadOrLive) {
    let modes = jvmti.system_property(phase, c"java.vm.info");
    let is_interpreted = modes.is_some_and(|modes| modes.contains("interpreted mode"));
    let is_old = jvmti.java_release(phase) == Some(RELEASE);
    HAS_REFERENCE.store(is_interpreted && is_old, Ordering::Relaxed);
}

/// Checks whether the JVM must run a class as it is, by its internal name.
pub(crate) fn is_unchangeable(name: &[u8]) -> bool {
    name == REFERENCE && HAS_REFERENCE.load(Ordering::Relaxed)
}
