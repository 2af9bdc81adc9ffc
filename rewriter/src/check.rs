//! Un-splicing: is the output what the plan says, and nothing else?
//!
//! The output is read again, the inserted code is taken out of it instruction
//! by instruction, and what is left has to be the original: every instruction,
//! target, handler, frame and table entry at the place found on the way.

mod frames;
mod retyped;
mod snippet;
mod walk;

use thiserror::Error;

use crate::class::{Attributes, ClassFile, Code, MethodRecord, Tables};
use crate::edits::Refusal;
use crate::error::ReadError;
use crate::index::MethodIndex;
use crate::plan::{Action, EditPlan};
use crate::shape;
use crate::snippet::Snippet;
use crate::splice::{
    self as splice, Added, Analysis, Changes, Inserts, Layout, PoolWriter, ProbeWriter, Scratch,
    SkipReason, Snippets,
};
use crate::storage::ProbeStorage;

use frames::FrameCheck;
use retyped::Retyped;
use snippet::Host;
use walk::Walk;

/// How a spliced class differs from what its plan says.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelfCheckError {
    /// The output is not a class file.
    #[error("the output cannot be read: {0}")]
    Unreadable(#[from] ReadError),
    /// Something outside of the methods' code differs.
    #[error("the {part} of the output differs from the original's")]
    Differs {
        /// What differs.
        part: &'static str,
    },
    /// A method's code is not the original's with the plan's edits.
    #[error("method {method}: expected {expected} at bci {bci} (now {position})")]
    Method {
        /// The method.
        method: MethodIndex,
        /// What was expected.
        expected: &'static str,
        /// Where in the original code.
        bci: u32,
        /// Where in the new code.
        position: u32,
    },
    /// A class edit is not there, or something else than that changed.
    #[error("the class edits are not what the plan says: expected {expected}")]
    ClassEdits {
        /// What was expected.
        expected: &'static str,
    },
    /// The class was changed although its class edits are refused.
    #[error("the class was changed although {0}")]
    ClassRefused(Refusal),
    /// The original of a changed method cannot be read.
    #[error("method {method} was changed although {reason}")]
    Refused {
        /// The method.
        method: MethodIndex,
        /// Why it should have been left alone.
        reason: SkipReason,
    },
}

/// What one step of the check found wrong: what was expected, and where.
#[derive(Debug)]
pub(crate) struct Mismatch {
    pub(crate) expected: &'static str,
    pub(crate) bci: u32,
    pub(crate) position: u32,
}

impl Mismatch {
    #[cold]
    pub(crate) fn new(expected: &'static str, bci: u32, position: u32) -> Self {
        Mismatch {
            expected,
            bci,
            position,
        }
    }
}

/// Buffers of the check.
#[derive(Debug, Default)]
pub(crate) struct CheckScratch {
    tables: Tables,
    pool: PoolWriter,
    layout: Layout,
    walk: Walk,
    frames: FrameCheck,
    expected: Vec<u8>,
    /// None: snippets are compared with what they say, not with code made anew.
    snippets: Snippets,
    /// Made out, but not turned into code either.
    changes: Changes,
}

/// Reads the output of a splice again and takes the edits out: what remains
/// must be the original class, byte by byte outside of the methods that the
/// plan edits, and instruction by instruction within them. A method that is
/// unchanged although the plan edits it passes, as it may have been skipped.
///
/// # Errors
/// Says what differs first.
pub fn check_splice(
    original: &ClassFile<'_>,
    plan: &EditPlan,
    storage: &ProbeStorage<'_>,
    spliced: &[u8],
    scratch: &mut Scratch,
) -> Result<(), SelfCheckError> {
    if original.bytes() == spliced {
        return Ok(());
    }
    if !plan.class_edits().is_empty() {
        let shaped = shape::checked(original, plan)?;
        let class = ClassFile::read(&shaped.bytes)?;
        return check_splice(&class, &shaped.plan, storage, spliced, scratch);
    }
    let differs = |part| SelfCheckError::Differs { part };
    let Scratch { order, check, .. } = scratch;
    splice::order_by_method(original, plan, order).map_err(|_| differs("list of methods"))?;
    let output = ClassFile::read_with(spliced, std::mem::take(&mut check.tables))?;
    check.pool.begin(original.pool().count());
    let probes = ProbeWriter::new(original, plan, storage, &mut check.pool)
        .ok_or(differs("constant pool"))?;
    outside(original, &output, probes.added(), check)?;
    let mut groups = splice::by_method(order).peekable();
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
            edits,
        };
        pair.check(check)?;
    }
    check.tables = output.into_tables();
    Ok(())
}

/// Everything that is no method: header, pool, fields, class attributes.
fn outside(
    original: &ClassFile<'_>,
    output: &ClassFile<'_>,
    added: Option<Added>,
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
    splice::own_head(original, added, expected);
    let head = after.get(new_end..output.methods_start());
    same(Some(expected), head, "class header or fields")?;
    expected.clear();
    splice::own_tail(original, added, expected);
    let count = original.records().len();
    let methods_end = count
        .checked_sub(1)
        .and_then(|last| output.records().get(last))
        .map_or(output.methods_start(), |record| record.end as usize);
    let rest = after.get(methods_end..);
    same(Some(expected), rest, "class attributes or added methods")
}

/// One method before and after.
struct Pair<'p, 'a> {
    original: &'p ClassFile<'a>,
    output: &'p ClassFile<'p>,
    method: MethodIndex,
    probes: ProbeWriter,
    plan: &'p EditPlan,
    edits: &'p [u64],
}

/// What stands around a method's code: before its length, and behind it.
fn header<'b>(class: &ClassFile<'b>, record: &MethodRecord) -> Option<(&'b [u8], &'b [u8])> {
    let head = record.start as usize..(record.code as usize).checked_sub(4)?;
    let tail = (record.code as usize).wrapping_add(record.code_length as usize);
    class
        .bytes()
        .get(head)
        .zip(class.bytes().get(tail..record.end as usize))
}

impl Pair<'_, '_> {
    fn check(&self, scratch: &mut CheckScratch) -> Result<(), SelfCheckError> {
        let method = self.method;
        let part = SelfCheckError::Differs {
            part: "method's header",
        };
        let record = |class: &ClassFile<'_>| class.records().get(usize::from(method)).copied();
        let (Some(old), Some(new)) = (record(self.original), record(self.output)) else {
            return Err(part);
        };
        let same = header(self.original, &old) == header(self.output, &new);
        if !same || old.code == 0 || new.code == 0 {
            return Err(part);
        }
        let before = Code::read(self.original.pool(), self.original.bytes(), &old)?;
        let after = Code::read(self.output.pool(), self.output.bytes(), &new)?;
        let refused = |reason| SelfCheckError::Refused { method, reason };
        scratch.changes.clear();
        if self.plan.has_changes() {
            let method = self.original.method(method).ok_or(part)?;
            let changes = &mut scratch.changes;
            changes
                .resolve(self.original, &method, &before, self.plan, self.edits)
                .map_err(refused)?;
        }
        let inserts = Inserts {
            probes: self.probes,
            snippets: &scratch.snippets,
            changes: &scratch.changes,
        };
        scratch
            .layout
            .plan(before.bytes(), self.plan.edits(), self.edits, inserts)
            .map_err(refused)?;
        let mut edits = self.edits.iter().filter_map(|key| {
            let index = splice::edit_index(*key);
            self.plan.edits().get(index)
        });
        let analysis = if edits.any(splice::is_special) {
            let analysis = Analysis::of(self.original, method, &before, self.plan, self.edits);
            Some(analysis.map_err(refused)?)
        } else {
            None
        };
        self.code(&before, &after, analysis.as_ref(), scratch)
            .map_err(|found| SelfCheckError::Method {
                method,
                expected: found.expected,
                bci: found.bci,
                position: found.position,
            })
    }

    /// The local variables that the method should have now.
    fn locals(&self, before: &Code<'_, '_>) -> u32 {
        let own = self.edits.iter().filter_map(|key| {
            match self.plan.edits().get(splice::edit_index(*key))?.action {
                Action::Insert(id) => self.plan.snippet(id).map(Snippet::own_slots),
                Action::Hit(_) | Action::Count(_) | Action::Change(_) => None,
            }
        });
        u32::from(before.max_locals()).wrapping_add(own.max().unwrap_or(0))
    }

    fn host(&self, before: &Code<'_, '_>) -> Host<'_> {
        let method = self.original.method(self.method);
        Host {
            pool: self.output.pool(),
            is_static: method.is_some_and(|method| method.is_static()),
            descriptor: method
                .map(|method| method.descriptor().as_bytes())
                .unwrap_or_default(),
            locals: before.max_locals(),
        }
    }

    fn code(
        &self,
        before: &Code<'_, '_>,
        after: &Code<'_, '_>,
        analysis: Option<&Analysis<'_>>,
        scratch: &mut CheckScratch,
    ) -> Result<(), Mismatch> {
        let CheckScratch {
            layout,
            walk,
            frames,
            expected,
            snippets,
            changes,
            ..
        } = scratch;
        if self.locals(before) != u32::from(after.max_locals())
            || before.max_stack() > after.max_stack()
        {
            return Err(Mismatch::new("the same locals and no less stack", 0, 0));
        }
        let covered = analysis.map_or(&[][..], |analysis| &analysis.covered);
        let unwind = match covered {
            [] => None,
            _ => after
                .exception_table()
                .last()
                .map(|entry| u32::from(entry.handler.0)),
        };
        let work = walk::Work {
            old: before.bytes(),
            new: after.bytes(),
            layout,
            plan: self.plan,
            inserts: Inserts {
                probes: self.probes,
                snippets,
                changes,
            },
            host: self.host(before),
            unwind,
        };
        walk.run(&work)?;
        expected.clear();
        let handlers = before.handler_bytes();
        splice::exceptions(handlers, walk, expected)
            .and_then(|()| splice::covered_ranges(covered, walk, unwind.unwrap_or(0), expected))
            .map_err(|_| Mismatch::new("exception ranges within the code", 0, 0))?;
        if expected != after.handler_bytes() {
            return Err(Mismatch::new("the same exception ranges", 0, 0));
        }
        let retyped = analysis.filter(|analysis| analysis.needs_frames());
        let retyped = retyped.map(|analysis| Retyped {
            original: self.original,
            output: self.output,
            analysis,
            after,
        });
        self.attributes(before, after, retyped.as_ref(), walk, (frames, expected))
    }

    fn attributes(
        &self,
        before: &Code<'_, '_>,
        after: &Code<'_, '_>,
        retyped: Option<&Retyped<'_, '_>>,
        walk: &Walk,
        (frames, expected): (&mut FrameCheck, &mut Vec<u8>),
    ) -> Result<(), Mismatch> {
        let mut others: Attributes<'_, '_> = after.attributes();
        let mut framed = false;
        for attribute in before.attributes() {
            let other = others.next().filter(|other| other.name == attribute.name);
            let other = other.ok_or(Mismatch::new("the same attributes of Code", 0, 0))?;
            if attribute.name == "StackMapTable" {
                framed = true;
                if let Some(retyped) = retyped {
                    retyped.check(Some(&other), walk)?;
                    continue;
                }
                let limits = (before.max_locals(), before.max_stack());
                let pair = frames::FramePair {
                    original: self.original,
                    output: self.output,
                    method: self.method,
                    limits,
                    tables: (&attribute, &other),
                };
                frames.check(&pair, walk)?;
                continue;
            }
            expected.clear();
            splice::relocate(&attribute, walk, expected)
                .map_err(|_| Mismatch::new("a table that can be read", 0, 0))?;
            if expected != other.bytes {
                return Err(Mismatch::new(
                    "the same lines, variables and annotations",
                    0,
                    0,
                ));
            }
        }
        if let Some(retyped) = retyped.filter(|_| !framed) {
            let added = others.next().filter(|other| other.name == "StackMapTable");
            retyped.check(added.as_ref(), walk)?;
            framed = true;
        }
        let required = self.original.major_version() >= crate::limits::FRAMES_REQUIRED_SINCE;
        if others.next().is_some() || (!framed && required && !walk.detours().is_empty()) {
            return Err(Mismatch::new("the same attributes of Code", 0, 0));
        }
        Ok(())
    }
}
