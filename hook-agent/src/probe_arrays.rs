//! The arrays of the probe classes, which stay in the JVM for its lifetime, whatever becomes of the agent.

use crate::ffi::arrays::{self, ProbeArray};
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::probe_class::ProbeClass;
use crate::probe_table::table;
use crate::spans::runtime;
use probes::ProbeRange;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The JVM's arrays, by number; an array is added before the table knows of it.
static ARRAYS: RwLock<Vec<Arc<ProbeArray>>> = RwLock::new(Vec::new());

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
/// Which array cannot be written, and why.
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

/// Discards the code that was compiled when elements were not zero, and so lacks the calls that would set them again. If
/// classes have [`probes::HitCode::Call`], call this after elements were set to zero: later hits are recorded then.
///
/// # Errors
///
/// The JVM refuses; the text has the cause.
pub(crate) fn discard_compiled(jvm: Jvm<'_>) -> Result<(), String> {
    // Other agents may run Java code in a retransformation: it must not wait for this lock.
    let all = ARRAYS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    arrays::discard_compiled(jvm, &all).map_err(|error| {
        format!("the JVM refuses to discard code that was compiled before ({error})")
    })
}

/// Gives each array that is in use, as far as it is, to `absorb`.
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

/// Sets those elements of these ranges to zero that are not, and gives them, by array, to `taken`: index and what was there.
/// What is stored meanwhile is in what is taken now or in what is taken next.
///
/// # Errors
///
/// Which array cannot be read or written, and why; what was taken of others before was given to `taken`.
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

/// The indices of a range at which an array is not zero.
fn hit<'a>(array: &'a [i8], range: &ProbeRange) -> impl Iterator<Item = u16> + use<'a> {
    let indices = range.base..=u16::MAX;
    let bytes = array
        .iter()
        .skip(range.base.into())
        .take(range.count as usize);
    let hit = bytes.zip(indices).filter(|(byte, _)| **byte != 0);
    hit.map(|(_, index)| index)
}
