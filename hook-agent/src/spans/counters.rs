//! The arrays of counters, which stay in the JVM for its lifetime.

use crate::ffi::jvm::Jvm;
use crate::ffi::live::{self, CountArray};
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::probe_table::table;
use probes::ARRAY_LENGTH;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The arrays of counters, by number.
static COUNTERS: Mutex<Vec<CountArray>> = Mutex::new(Vec::new());

fn counters() -> MutexGuard<'static, Vec<CountArray>> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Defines arrays of counters ahead of need: one more than are in use. Their memory is taken by the first count.
///
/// # Errors
///
/// Which class could not be defined, and why.
pub(crate) fn define(jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    loop {
        let number = counters().len();
        let used = table().spans().counters().div_ceil(ARRAY_LENGTH);
        let Some(array) = u16::try_from(number).ok().filter(|_| number <= used) else {
            return Ok(());
        };
        let failed = |cause: &str| {
            (
                Code::ProbeClass,
                format!("class {array} of counters cannot be defined: {cause}"),
            )
        };
        let class = ProbeClass::counters(array).ok_or_else(|| failed("no name"))?;
        let array = live::define_counter_class(jvm, &class.name, &class.bytes)
            .map_err(|cause| failed(&cause))?;
        counters().push(array);
    }
}

/// Sets every counter to zero.
///
/// # Errors
///
/// Which counters cannot be written, and why.
pub(crate) fn zero(jvm: Jvm<'_>) -> Result<(), String> {
    let used = table().spans().counters();
    for (array, number) in counters().iter().zip(0..) {
        let length = used.saturating_sub(number * ARRAY_LENGTH).min(ARRAY_LENGTH);
        if length > 0 {
            live::zero_counters(jvm, array, length)
                .map_err(|cause| format!("counters {number} cannot be written: {cause}"))?;
        }
    }
    Ok(())
}

/// The counters that differ from what `written` holds, by span; `written` is brought up to date.
pub(crate) fn take_changed(jvm: Jvm<'_>, written: &mut HashMap<u32, i64>) -> Vec<(u32, u64)> {
    let mut changed = Vec::new();
    let mut buffer = Vec::new();
    for (array, number) in counters().iter().zip(0..) {
        let spans = table().spans().counted(number);
        if spans.is_empty() {
            break;
        }
        buffer.resize(spans.len(), 0);
        if let Err(cause) = live::read_counters(jvm, array, &mut buffer) {
            messages::error(
                Code::ProbeClass,
                format_args!("counters {number} cannot be read: {cause}"),
            );
            continue;
        }
        for (span, count) in spans.iter().zip(&buffer) {
            if written.insert(*span, *count).unwrap_or(0) != *count {
                changed.push((*span, count.cast_unsigned()));
            }
        }
    }
    changed
}
