//! The arrays of counters, which stay in the JVM for its lifetime.

use crate::ffi::jvm::Jvm;
use crate::ffi::live::{self, CountArray};
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::probe_table::table;
use probes::COUNTS_LENGTH;
use probes::spans::SpanInCode;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The arrays of counters, by number.
static COUNTERS: Mutex<Vec<CountArray>> = Mutex::new(Vec::new());

fn counters() -> MutexGuard<'static, Vec<CountArray>> {
    COUNTERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Defines arrays of counters ahead of need: one more than are in use. The system allocates their memory at the first
/// count.
///
/// # Errors
///
/// The class that cannot be defined, with the reason.
pub(crate) fn define(jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    loop {
        let number = counters().len();
        let used = table().counters().count().div_ceil(COUNTS_LENGTH);
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
/// The counters that cannot be written, with the reason.
pub(crate) fn zero(jvm: Jvm<'_>) -> Result<(), String> {
    let used = table().counters().count();
    for (array, number) in counters().iter().zip(0..) {
        let length = used
            .saturating_sub(number * COUNTS_LENGTH)
            .min(COUNTS_LENGTH);
        if length > 0 {
            live::zero_counters(jvm, array, length)
                .map_err(|cause| format!("counters {number} cannot be written: {cause}"))?;
        }
    }
    Ok(())
}

/// The counters of the spans of a session, by span.
pub(crate) fn read(jvm: Jvm<'_>, session: u8) -> Vec<(u32, i64)> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    let is_agent_thread = |span: &SpanInCode| span.session() == usize::from(session);
    for (array, number) in counters().iter().zip(0..) {
        let spans = table().counters().counted(number);
        if spans.is_empty() {
            break;
        }
        if !spans.iter().any(is_agent_thread) {
            continue;
        }
        buffer.resize(spans.len(), 0);
        if let Err(cause) = live::read_counters(jvm, array, &mut buffer) {
            messages::error(
                Code::ProbeClass,
                format_args!("counters {number} cannot be read: {cause}"),
            );
            continue;
        }
        let counted = spans
            .iter()
            .zip(&buffer)
            .filter(|(span, _)| is_agent_thread(span));
        found.extend(counted.map(|(span, count)| (span.span(), *count)));
    }
    found
}
