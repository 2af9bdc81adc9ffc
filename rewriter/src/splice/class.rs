//! Applies a plan to a class.

use crate::bytes::{copy, write_at};
use crate::class::ClassFile;
use crate::plan::{EditPlan, SkipReason};
use crate::pool::PoolWriter;
use crate::splice::added::{head, tail};
use crate::splice::analysis::is_special;
use crate::splice::method::{MethodScratch, MethodSplice};
use crate::splice::order::{by_method, order_by_method};
use crate::splice::probe::{ProbeWriter, check, is_hit};
use crate::splice::report::{SpliceError, SpliceReport};
use crate::storage::ProbeStorage;
use crate::structure::apply_class_edits;

/// Buffers that one splice passes to the next, so that splicing class after class allocates nothing.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The edits by method: `method << 32 | index`.
    order: Vec<u64>,
    pool: PoolWriter,
    method: MethodScratch,
    /// True if no method may use the fast path.
    general: bool,
}

impl Scratch {
    /// Creates buffers for a splice without the fast path: slower, with identical output. Tests compare the two.
    #[must_use]
    pub fn general() -> Self {
        Scratch {
            general: true,
            ..Scratch::default()
        }
    }
}

/// Applies `plan` to `class` and replaces the contents of `out` by the result.
///
/// An empty plan copies the input bytes. Only methods in the plan are changed, and the old constant pool is a prefix of
/// the new one.
///
/// # Errors
/// The plan does not fit this class or storage. A method that cannot be changed is no error: it stays unchanged, and
/// the report lists it.
pub fn splice(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<SpliceReport, SpliceError> {
    out.clear();
    if plan.is_empty() {
        out.extend_from_slice(class.bytes());
        return Ok(SpliceReport::default());
    }
    if !plan.class_edits().is_empty() {
        return splice_with_structure(class, plan, storage, scratch, out);
    }
    check(plan, storage)?;
    order_by_method(class, plan, &mut scratch.order)?;
    scratch.pool.begin(class.pool().count());
    let mut report = SpliceReport::default();
    match ProbeWriter::new(class, plan, storage, &mut scratch.pool) {
        Some(probes) => rewrite(class, plan, probes, scratch, &mut report, out),
        None => skip_all(plan, &scratch.order, &mut report),
    }
    if report.rewritten == 0 {
        out.clear();
        out.extend_from_slice(class.bytes());
    }
    Ok(report)
}

/// Does the same for a plan with class edits. They apply first, and the other edits are spliced into the result.
fn splice_with_structure(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<SpliceReport, SpliceError> {
    // Locations refer to the class's own methods.
    order_by_method(class, plan, &mut scratch.order)?;
    let structured = apply_class_edits(class, plan);
    let read = structured.as_ref().map_err(Clone::clone);
    let read =
        read.and_then(|structured| Ok((ClassFile::read(&structured.bytes)?, &structured.plan)));
    match read {
        Ok((structured, rest)) => {
            let mut report = splice(&structured, rest, storage, scratch, out)?;
            report.class_edits = plan.class_edits().len() as u32;
            Ok(report)
        }
        Err(refusal) => {
            out.extend_from_slice(class.bytes());
            Ok(SpliceReport {
                refused: Some(refusal),
                ..SpliceReport::default()
            })
        }
    }
}

fn skip_all(plan: &EditPlan, order: &[u64], report: &mut SpliceReport) {
    debug_assert_eq!(plan.edits().len(), order.len());
    report
        .skipped
        .extend(by_method(order).map(|(method, _)| (method, SkipReason::PoolFull)));
}

/// Writes the class with all methods that can be changed.
fn rewrite(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    probes: ProbeWriter,
    scratch: &mut Scratch,
    report: &mut SpliceReport,
    out: &mut Vec<u8>,
) {
    let bytes = class.bytes();
    let Scratch {
        order,
        pool,
        method: buffers,
        general,
    } = scratch;
    out.reserve(bytes.len() + plan.edits().len() * 16 + 256);
    let pool_end = class.pool().end();
    copy(bytes, 0, pool_end, out);
    out.extend_from_slice(pool.bytes());
    let early = pool.bytes().len();
    head(class, probes.added(), out);
    let hits_alone = !*general && plan.edits().iter().all(is_hit);
    let special = !hits_alone && plan.edits().iter().any(|edit| is_special(plan, edit));
    buffers.tables.clear();
    let mut copied = class.methods_start();
    for (index, group) in by_method(order) {
        let Some(record) = class.records().get(usize::from(index)).copied() else {
            continue;
        };
        copy(bytes, copied, record.start as usize, out);
        copied = record.start as usize;
        let (start, mark) = (out.len(), pool.mark());
        let mut work = MethodSplice {
            class,
            record,
            probes,
            plan,
            order: group,
            hits_alone,
            special,
            pool,
            buffers,
        };
        match work.write(index, out) {
            Ok(warnings) => {
                copied = record.end as usize;
                report.rewritten += 1;
                report.edits += group.len() as u32;
                report.warnings.extend(warnings.into_iter().flatten());
            }
            Err(reason) => {
                out.truncate(start);
                pool.roll_back(mark);
                report.skipped.push((index, reason));
            }
        }
    }
    copy(bytes, copied, class.attributes_start(), out);
    tail(class, probes.added(), out);
    insert_late(
        out,
        pool_end + early,
        pool.bytes().get(early..).unwrap_or_default(),
    );
    write_at(out, 8, &pool.count().to_be_bytes());
}

/// Inserts pool entries whose need became known late.
fn insert_late(out: &mut Vec<u8>, at: usize, late: &[u8]) {
    if !late.is_empty() {
        let end = out.len();
        out.resize(end + late.len(), 0);
        out.copy_within(at..end, at + late.len());
        write_at(out, at, late);
    }
}
