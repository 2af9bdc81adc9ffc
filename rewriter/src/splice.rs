//! Applying a plan to a class.

mod changes;
mod emit;
mod frames;
mod layout;
mod method;
mod own_array;
mod pool;
mod probe;
mod snippets;
mod tables;

use thiserror::Error;

use crate::check::CheckScratch;
use crate::class::ClassFile;
use crate::edits::{ChangeError, ChangeId, Refusal};
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex};
use crate::plan::{EditPlan, Place};
use crate::shape::shape;
use crate::snippet::{SnippetError, SnippetId};
pub(crate) use crate::splice::changes::Changes;
pub(crate) use crate::splice::frames::{
    FrameContext, Frames, PARAMETER, VerificationType, item, next_bci,
};
pub(crate) use crate::splice::layout::{ISLAND_MARK, JumpKind, Layout, Positions, edit_index};
use crate::splice::method::{MethodScratch, MethodSplice};
pub(crate) use crate::splice::own_array::{Added, head as own_head, tail as own_tail};
pub(crate) use crate::splice::pool::PoolWriter;
pub(crate) use crate::splice::probe::{Inserts, ProbeWriter};
pub(crate) use crate::splice::snippets::{
    Analysis, Facts, Placed, Placement, Snippets, extras, is_special, load_opcode, lower,
    merged_frames,
};
pub(crate) use crate::splice::tables::{covered_ranges, exceptions, relocate};
use crate::storage::ProbeStorage;

/// What splicing did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SpliceReport {
    /// Number of methods that were changed.
    pub rewritten: u32,
    /// Number of edits that were applied.
    pub edits: u32,
    /// Methods left alone although the plan edits them, and why.
    pub skipped: Vec<(MethodIndex, SkipReason)>,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// Number of class edits that were applied: all of the plan's, or none.
    pub class_edits: u32,
    /// Why the class was left as it is, with all its methods, although the plan
    /// has class edits.
    pub refused: Option<Refusal>,
}

/// Why one method was left as it is. The rest of the class is not affected.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SkipReason {
    /// It is abstract or native.
    #[error("the method has no code")]
    NoCode,
    /// A place of the plan is not one of this method's.
    #[error(
        "the method has no place `before or after bci {bci}` as the plan says: the plan belongs to another version of the class"
    )]
    NoSuchSite {
        /// The bci that the plan names.
        bci: Bci,
    },
    /// Its code or one of its tables does not hold what the JVMS says.
    #[error("the method cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// It would be longer than 65,535 bytes.
    #[error("the method would grow to {length} bytes, and 65535 are allowed")]
    MethodTooLarge {
        /// The length it would have.
        length: u32,
    },
    /// The constant pool has no room for what the inserted code refers to.
    #[error("the constant pool has no room for the entries that the inserted code needs")]
    PoolFull,
    /// Its operand stack would be too deep.
    #[error("the operand stack would be deeper than 65535")]
    StackTooDeep,
    /// An attribute of its code that may hold bcis and is not known.
    #[error("its code has the attribute `{name}`, which is not known and may refer to bcis")]
    UnknownAttribute {
        /// Name of the attribute.
        name: String,
    },
    /// A jump needs a detour, and its target has no stack map frame.
    #[error("bci {bci} is jumped to and has no stack map frame to copy")]
    NoFrame {
        /// The jump's target.
        bci: Bci,
    },
    /// A conditional branch cannot reach its target, and no place for a detour is near.
    #[error(
        "the branch at bci {bci} cannot reach its target, and there is no place for a detour near it"
    )]
    OutOfReach {
        /// The branch.
        bci: Bci,
    },
    /// Detours need more stack map frames than is sensible.
    #[error("its stack map frames would take too much room")]
    FramesTooLarge,
    /// A snippet does not fit its place.
    #[error("the snippet {place} does not fit: {error}")]
    Snippet {
        /// Where.
        place: Place,
        /// Why not.
        error: SnippetError,
    },
    /// A change does not suit its instruction.
    #[error("the instruction at bci {bci} cannot be changed so: {error}")]
    Change {
        /// The instruction.
        bci: Bci,
        /// Why not.
        error: ChangeError,
    },
    /// Two changes of one instruction.
    #[error("two edits change the instruction at bci {bci}")]
    ChangedTwice {
        /// The instruction.
        bci: Bci,
    },
    /// An edit names a change of another plan.
    #[error("change {change} is none of this plan's")]
    NoSuchChange {
        /// The change.
        change: ChangeId,
    },
    /// An edit names a snippet of another plan.
    #[error("snippet {snippet} is none of this plan's")]
    NoSuchSnippet {
        /// The snippet.
        snippet: SnippetId,
    },
    /// Too many local variables.
    #[error("the method would need more than 65535 local variables")]
    TooManyLocals,
    /// A snippet needs a frame where the types are not known.
    #[error(
        "the types at bci {bci} cannot be followed, and a snippet needs a stack map frame there"
    )]
    UnknownTypes {
        /// Where.
        bci: Bci,
    },
    /// A snippet needs a frame between a `new` and its constructor call, and the
    /// `new` is changed.
    #[error("a snippet that branches stands between a changed `new` and its constructor call")]
    NewIsChanged,
    /// No handler can stand around the method's code.
    #[error("what unwinds the method cannot be seen: {reason}")]
    CannotUnwind {
        /// Why not.
        reason: &'static str,
    },
    /// Control falls off the end of the code, so nothing can be put there.
    #[error("control can fall off the end of the method's code")]
    OpenEnd,
}

/// Something worth saying about a method that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Warning {
    /// HotSpot does not compile methods over 8,000 bytes.
    #[error(
        "method {method} grew from {before} to {after} bytes; HotSpot compiles none longer than 8000"
    )]
    HugeMethod {
        /// The method.
        method: MethodIndex,
        /// Length of its code before.
        before: u32,
        /// Length of its code now.
        after: u32,
    },
}

/// Why a plan cannot be applied at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SpliceError {
    /// The plan counts, and the storage has no counters.
    #[error("probe {probe} counts, but the storage has no array of counters; use SharedArrays")]
    NoCounters {
        /// The probe.
        probe: u32,
    },
    /// A probe's index cannot be pushed by `sipush`.
    #[error(
        "probe {probe} on base {base} exceeds index 32767; register the class in a fresh array"
    )]
    ProbeOutOfRange {
        /// The probe.
        probe: u32,
        /// Index of probe 0.
        base: u16,
    },
    /// A name of the storage is longer than 65,535 bytes.
    #[error("a name of {length} bytes does not fit a constant pool, which allows 65535")]
    NameTooLong {
        /// Its length.
        length: u64,
    },
    /// The plan edits a method that the class does not have.
    #[error(
        "the plan edits method {method}, but the class has {count} methods: it belongs to another class"
    )]
    NoSuchMethod {
        /// The index in the plan.
        method: MethodIndex,
        /// How many methods there are.
        count: u32,
    },
}

/// Buffers that one splice lends to the next, so that class after class is
/// spliced without allocation.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The edits by method: `method << 32 | index`.
    pub(crate) order: Vec<u64>,
    pool: PoolWriter,
    method: MethodScratch,
    pub(crate) check: CheckScratch,
}

/// Applies `plan` to `class` and writes the result to `out`, whose contents are
/// replaced.
///
/// An empty plan writes the input bytes. Only methods that the plan names are
/// changed, and the old constant pool is a prefix of the new one.
///
/// # Errors
/// When the plan cannot be meant for this class or storage. A method that
/// cannot be changed is no error: it is left alone and listed in the report.
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
        return reshape(class, plan, storage, scratch, out);
    }
    probe::check(plan, storage)?;
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

/// The same with class edits: they come first, and the rest is spliced into
/// what they make.
fn reshape(
    class: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    scratch: &mut Scratch,
    out: &mut Vec<u8>,
) -> Result<SpliceReport, SpliceError> {
    // Places are those of the class's own methods.
    order_by_method(class, plan, &mut scratch.order)?;
    let shaped = shape(class, plan);
    let read = shaped.as_ref().map_err(Clone::clone);
    let read = read.and_then(|shaped| Ok((ClassFile::read(&shaped.bytes)?, &shaped.plan)));
    match read {
        Ok((shaped, rest)) => {
            let mut report = splice(&shaped, rest, storage, scratch, out)?;
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
        let method = edit.site.method;
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

/// The edits of each method.
pub(crate) fn by_method(order: &[u64]) -> impl Iterator<Item = (MethodIndex, &[u64])> {
    order
        .chunk_by(|a, b| a >> 32 == b >> 32)
        .filter_map(|group| {
            let method = MethodIndex((*group.first()? >> 32) as u16);
            Some((method, group))
        })
}

fn skip_all(plan: &EditPlan, order: &[u64], report: &mut SpliceReport) {
    debug_assert_eq!(plan.edits().len(), order.len());
    report
        .skipped
        .extend(by_method(order).map(|(method, _)| (method, SkipReason::PoolFull)));
}

/// Writes the class with every method that can be changed.
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
        ..
    } = scratch;
    out.reserve(
        bytes
            .len()
            .wrapping_add(plan.edits().len().wrapping_mul(16))
            .wrapping_add(256),
    );
    let pool_end = class.pool().end();
    copy(bytes, 0, pool_end, out);
    out.extend_from_slice(pool.bytes());
    let early = pool.bytes().len();
    own_head(class, probes.added(), out);
    let special = plan.edits().iter().any(is_special);
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
            special,
            pool,
            buffers,
        };
        match work.write(index, out) {
            Ok(warning) => {
                copied = record.end as usize;
                report.rewritten = report.rewritten.wrapping_add(1);
                report.edits = report.edits.wrapping_add(group.len() as u32);
                report.warnings.extend(warning);
            }
            Err(reason) => {
                out.truncate(start);
                pool.roll_back(mark);
                report.skipped.push((index, reason));
            }
        }
    }
    copy(bytes, copied, class.attributes_start(), out);
    own_tail(class, probes.added(), out);
    insert_late(
        out,
        pool_end.wrapping_add(early),
        pool.bytes().get(early..).unwrap_or_default(),
    );
    write_at(out, 8, &pool.count().to_be_bytes());
}

fn copy(bytes: &[u8], from: usize, to: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(bytes.get(from..to).unwrap_or_default());
}

/// Inserts pool entries that were only found to be needed later.
fn insert_late(out: &mut Vec<u8>, at: usize, late: &[u8]) {
    if !late.is_empty() {
        let end = out.len();
        out.resize(end.wrapping_add(late.len()), 0);
        out.copy_within(at..end, at.wrapping_add(late.len()));
        write_at(out, at, late);
    }
}

/// Overwrites bytes that are there.
#[inline]
pub(crate) fn write_at(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at.wrapping_add(bytes.len())) {
        place.copy_from_slice(bytes);
    }
}
