//! The arrays of the probe classes. They stay in the JVM for its lifetime, also after the agent has left.

use crate::ffi::arrays::{self, ProbeArray};
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::probe_table::table;
use crate::spans::runtime;
use probes::ProbeRange;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The JVM's arrays, by number. An array is added before the table counts it.
static ARRAYS: RwLock<Vec<Arc<ProbeArray>>> = RwLock::new(Vec::new());

/// Defines `count` more probe classes and publishes their arrays.
///
/// # Errors
///
/// The class that cannot be defined, with the reason.
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
        let array = arrays::define_probe_class(jvm, &class.name, &class.bytes)
            .map_err(|cause| failed(&cause))?;
        ARRAYS
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::new(array));
        table().set_arrays(number + 1);
    }
    Ok(())
}

/// Sets ranges of the arrays to zero.
///
/// # Errors
///
/// The array that cannot be written, with the reason.
pub(crate) fn zero(jvm: Jvm<'_>, ranges: &[ProbeRange]) -> Result<(), String> {
    let all = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for range in ranges {
        let Some(array) = all.get(usize::from(range.array)) else {
            continue;
        };
        arrays::zero_array(jvm, array, range.base, range.count)
            .map_err(|cause| format!("array {} cannot be written: {cause}", range.array))?;
    }
    Ok(())
}

/// Discards code that was compiled when elements were not zero: it lacks the calls that would set them again. If
/// classes have [`probes::HitCode::Call`], call this after setting elements to zero, so that later hits are recorded.
///
/// # Errors
///
/// The JVM refuses; the text has the cause.
pub(crate) fn discard_compiled(jvm: Jvm<'_>) -> Result<(), String> {
    // Other agents may run Java code in a retransformation, which must not wait for this lock.
    let all = ARRAYS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    arrays::discard_compiled(jvm, &all).map_err(|error| {
        format!("the JVM refuses to discard code that was compiled before ({error})")
    })
}

/// Passes the used part of each array in use to `absorb`.
pub(crate) fn read(jvm: Jvm<'_>, mut absorb: impl FnMut(u16, &[i8])) {
    let mut buffer = Vec::new();
    let all = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for (array, number) in all.iter().zip(0..) {
        let used = table().used(number);
        if used == 0 {
            continue;
        }
        buffer.resize(used, 0);
        match arrays::read_array(jvm, array, &mut buffer) {
            Ok(()) => absorb(number, &buffer),
            Err(cause) => messages::error(
                Code::ProbeClass,
                format_args!("array {number} cannot be read: {cause}"),
            ),
        }
    }
}

/// Sets the nonzero elements of these ranges to zero, and passes them to `taken`, by array: index and former value. A
/// hit that is stored meanwhile is part of this call or of the next.
///
/// # Errors
///
/// The array that cannot be read or written, with the reason. The elements of arrays before it were passed to `taken`.
pub(crate) fn take(
    jvm: Jvm<'_>,
    ranges: &[ProbeRange],
    mut taken: impl FnMut(u16, &[(u16, i8)]),
) -> Result<(), String> {
    let mut by_array: BTreeMap<u16, Vec<&ProbeRange>> = BTreeMap::new();
    for range in ranges {
        by_array.entry(range.array).or_default().push(range);
    }
    let (mut buffer, mut found) = (Vec::new(), Vec::new());
    let all = ARRAYS.read().unwrap_or_else(PoisonError::into_inner);
    for (number, ranges) in by_array {
        let Some(array) = all.get(usize::from(number)) else {
            continue;
        };
        let failed = |cause| format!("array {number} cannot be read: {cause}");
        buffer.resize(table().used(number), 0);
        arrays::read_array(jvm, array, &mut buffer).map_err(failed)?;
        let hit: Vec<u16> = ranges
            .iter()
            .flat_map(|range| hit(&buffer, range))
            .collect();
        found.clear();
        if !hit.is_empty() {
            arrays::take_elements(jvm, array, &hit, |index, byte| found.push((index, byte)))
                .map_err(failed)?;
            taken(number, &found);
        }
    }
    Ok(())
}

/// The indices of the nonzero elements in a range of an array.
fn hit<'a>(array: &'a [i8], range: &ProbeRange) -> impl Iterator<Item = u16> + use<'a> {
    let indices = range.base..=u16::MAX;
    let bytes = array
        .iter()
        .skip(range.base.into())
        .take(range.count as usize);
    let hit = bytes.zip(indices).filter(|(byte, _)| **byte != 0);
    hit.map(|(_, index)| index)
}
