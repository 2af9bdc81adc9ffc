//! The arrays of the probe classes, which stay in the JVM for its lifetime, whatever becomes of the agent.

use crate::ffi::jvm::Jvm;
use crate::ffi::live::{self, ProbeArray};
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::probe_table::table;
use crate::spans::runtime;
use probes::ProbeRange;
use std::sync::{PoisonError, RwLock};

/// The JVM's arrays, by number; an array is added before the table knows of it.
static ARRAYS: RwLock<Vec<ProbeArray>> = RwLock::new(Vec::new());

/// Defines `count` more probe classes and makes their arrays known.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn define(jvm: Jvm<'_>, count: u16) -> Result<(), (Code, String)> {
    for _ in 0..count {
        let number = table().arrays();
        let failed = |cause: &str| {
            (
                Code::ProbeClass,
                format!("probe class {number} cannot be defined: {cause}"),
            )
        };
        let class =
            ProbeClass::new(number, runtime::has_thread_ids()).ok_or_else(|| failed("no name"))?;
        let array = live::define_probe_class(jvm, &class.name, &class.bytes)
            .map_err(|cause| failed(&cause))?;
        ARRAYS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(array);
        table().set_arrays(number + 1);
    }
    Ok(())
}

/// Sets ranges of the arrays to zero.
///
/// # Errors
///
/// Which array cannot be written, and why.
pub(crate) fn zero(jvm: Jvm<'_>, ranges: &[ProbeRange]) -> Result<(), String> {
    let arrays = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for range in ranges {
        let Some(array) = arrays.get(usize::from(range.array)) else {
            continue;
        };
        live::zero_array(jvm, array, range.base, range.count)
            .map_err(|cause| format!("array {} cannot be written: {cause}", range.array))?;
    }
    Ok(())
}

/// Gives each array that is in use, as far as it is, to `absorb`.
pub(crate) fn read(jvm: Jvm<'_>, mut absorb: impl FnMut(u16, &[i8])) {
    let mut buffer = Vec::new();
    let arrays = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for (array, number) in arrays.iter().zip(0..) {
        let used = table().used(number);
        if used == 0 {
            continue;
        }
        buffer.resize(used, 0);
        match live::read_array(jvm, array, &mut buffer) {
            Ok(()) => absorb(number, &buffer),
            Err(cause) => messages::error(
                Code::ProbeClass,
                format_args!("array {number} cannot be read: {cause}"),
            ),
        }
    }
}

/// Calls `stored` with array and index of each element that is `known` to be set and is set again within a short time:
/// see [`live::watch_array`].
///
/// # Errors
///
/// Which array cannot be watched, and why.
pub(crate) fn watch(
    jvm: Jvm<'_>,
    known: impl Fn(u16) -> Vec<i8>,
    mut stored: impl FnMut(u16, usize),
) -> Result<(), String> {
    let arrays = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for (array, number) in arrays.iter().zip(0..) {
        let known = known(number);
        if known.iter().all(|byte| *byte == 0) {
            continue;
        }
        live::watch_array(jvm, array, &known, |index| stored(number, index))
            .map_err(|cause| format!("array {number} cannot be watched: {cause}"))?;
    }
    Ok(())
}
