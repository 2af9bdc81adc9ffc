//! Checks one class.

use crate::class::ClassFile;
use crate::plan::{Action, EditPlan, Location};
use crate::self_check::error::SelfCheckError;
use crate::self_check::method::{CheckScratch, Pair};
use crate::self_check::new_names;
use crate::self_check::structure::checked;
use crate::splice::{Added, ProbeWriter, by_method, head, order_by_method, tail};
use crate::storage::ProbeStorage;

/// Parses the output of a splice and removes the edits. The rest must be the original class: byte by byte outside the
/// edited methods, instruction by instruction within them. A method may be unchanged although the plan edits it,
/// because splicing may have skipped it.
///
/// # Errors
/// The first difference.
pub fn check_splice(
    original: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    spliced: &[u8],
    scratch: &mut CheckScratch,
) -> Result<(), SelfCheckError> {
    if original.bytes() == spliced {
        return Ok(());
    }
    if !plan.class_edits().is_empty() {
        let structured = checked(original, plan)?;
        let class = ClassFile::read(&structured.bytes)?;
        return check_splice(&class, &structured.plan, storage, spliced, scratch);
    }
    let differs = |part| SelfCheckError::Differs { part };
    let mut order = std::mem::take(&mut scratch.order);
    order_by_method(original, plan, &mut order).map_err(|_| differs("list of methods"))?;
    let output = ClassFile::read_beside(spliced, std::mem::take(&mut scratch.tables), original)?;
    scratch.pool.begin(original.pool().count());
    scratch.code_tables.clear();
    let probes = ProbeWriter::new(original, plan, storage, &mut scratch.pool)
        .ok_or(differs("constant pool"))?;
    outside(original, &output, probes.added(), scratch)?;
    if plan.names_anything() {
        new_names::pool(original, &output)?;
    }
    let special = plan.edits().iter().any(|edit| {
        let hit = matches!(edit.action, Action::Hit(_));
        !hit || edit.point.location == Location::Unwind
    });
    let mut groups = by_method(&order).peekable();
    for (before, after) in original.methods().zip(output.methods()) {
        let group = groups.next_if(|(method, _)| *method == before.index());
        if before.bytes() == after.bytes() {
            continue;
        }
        let (method, edits) = group.ok_or(differs("method that the plan does not edit"))?;
        let pair = Pair {
            original,
            output: &output,
            method,
            probes,
            plan,
            special,
            edits,
        };
        pair.check(scratch)?;
    }
    scratch.tables = output.into_tables();
    drop(groups);
    scratch.order = order;
    Ok(())
}

/// Compares the parts outside methods: header, pool, fields, class attributes.
fn outside(
    original: &ClassFile<'_>,
    output: &ClassFile<'_>,
    added: Added,
    scratch: &mut CheckScratch,
) -> Result<(), SelfCheckError> {
    let CheckScratch { pool, expected, .. } = scratch;
    let own = pool.bytes();
    let (before, after) = (original.bytes(), output.bytes());
    let (end, new_end) = (original.pool().end(), output.pool().end());
    let same = |a: Option<&[u8]>, b: Option<&[u8]>, part| match (a, b) {
        (Some(a), Some(b)) if a == b => Ok(()),
        _ => Err(SelfCheckError::Differs { part }),
    };
    same(before.get(..8), after.get(..8), "version")?;
    same(before.get(10..end), after.get(10..end), "old constant pool")?;
    let appended = after
        .get(end..new_end)
        .and_then(|bytes| bytes.get(..own.len()));
    same(Some(own), appended, "appended constant pool")?;
    expected.clear();
    head(original, added, expected);
    let head = after.get(new_end..output.methods_start());
    same(Some(expected), head, "class header or fields")?;
    expected.clear();
    tail(original, added, expected);
    let count = original.records().len();
    let methods_end = count
        .checked_sub(1)
        .and_then(|last| output.records().get(last))
        .map_or(output.methods_start(), |record| record.end as usize);
    let rest = after.get(methods_end..);
    same(Some(expected), rest, "class attributes or added methods")
}
