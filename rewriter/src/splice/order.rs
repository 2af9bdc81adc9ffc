//! The edits of a plan, method by method.

use crate::class::ClassFile;
use crate::index::MethodIndex;
use crate::plan::EditPlan;
use crate::splice::report::SpliceError;

/// Lists the edits by method, in plan order within each.
pub(crate) fn order_by_method(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    order: &mut Vec<u64>,
) -> Result<(), SpliceError> {
    let count = class.records().len() as u32;
    order.clear();
    order.reserve(plan.edits().len());
    for (index, edit) in plan.edits().iter().enumerate() {
        let method = edit.point.method;
        if u32::from(method.0) >= count {
            return Err(SpliceError::NoSuchMethod { method, count });
        }
        order.push((u64::from(method.0) << 32) | index as u64);
    }
    if !order.is_sorted() {
        order.sort_unstable();
    }
    Ok(())
}

/// Iterates over the methods with their edits.
pub(crate) fn by_method(order: &[u64]) -> impl Iterator<Item = (MethodIndex, &[u64])> {
    order
        .chunk_by(|a, b| a >> 32 == b >> 32)
        .filter_map(|group| {
            let method = MethodIndex((*group.first()? >> 32) as u16);
            Some((method, group))
        })
}

/// Returns the index of the edit in a key.
#[inline]
pub(crate) fn edit_index(key: u64) -> usize {
    (key & 0xFF_FFFF) as usize
}
