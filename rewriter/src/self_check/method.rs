//! Checks one method.

use crate::class::{Attributes, ClassFile, Code, CodeTable, CodeTables, MethodRecord, Tables};
use crate::index::MethodIndex;
use crate::limits::FRAMES_REQUIRED_SINCE;
use crate::plan::{Action, EditPlan};
use crate::pool::PoolWriter;
use crate::self_check::edited_frames::EditedFrames;
use crate::self_check::error::SelfCheckError;
use crate::self_check::expected::Expected;
use crate::self_check::frames::{FrameCheck, FramePair};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::snippet::Host;
use crate::self_check::tables::{same_handlers, same_table};
use crate::self_check::unsplice::{Unsplice, UnspliceInput};
use crate::self_check::unwinding::expected_rows;
use crate::snippet::Snippet;
use crate::splice::{ProbeWriter, Replacements, edit_index};

/// Buffers that one check passes to the next, like [`Scratch`](crate::Scratch) for splices.
#[derive(Debug, Default)]
pub struct CheckScratch {
    /// The edits by method: `method << 32 | index`.
    pub(super) order: Vec<u64>,
    pub(super) tables: Tables,
    pub(super) pool: PoolWriter,
    planned: Expected,
    unspliced: Unsplice,
    /// True if no method may use the fast path.
    general: bool,
    frames: FrameCheck,
    pub(super) code_tables: CodeTables,
    pub(super) expected: Vec<u8>,
    /// Resolved changes. They are not lowered: the check compares the code with their operations.
    changes: Replacements,
}

impl CheckScratch {
    /// Creates buffers for a check without the fast path: slower, with the same result. Tests compare the two.
    #[must_use]
    pub fn general() -> Self {
        CheckScratch {
            general: true,
            ..CheckScratch::default()
        }
    }
}

/// One method of the original and of the output.
pub(super) struct Pair<'p, 'a> {
    pub(super) original: &'p ClassFile<'a>,
    pub(super) output: &'p ClassFile<'p>,
    pub(super) method: MethodIndex,
    pub(super) probes: ProbeWriter,
    pub(super) plan: &'p EditPlan,
    /// True if the plan has edits other than hits before existing instructions.
    pub(super) special: bool,
    pub(super) edits: &'p [u64],
}

/// Returns the parts around a method's code: before its length, and after it.
fn header<'b>(class: &ClassFile<'b>, record: &MethodRecord) -> Option<(&'b [u8], &'b [u8])> {
    let head = record.start as usize..(record.code as usize).checked_sub(4)?;
    let tail = record.code as usize + record.code_length as usize;
    class
        .bytes()
        .get(head)
        .zip(class.bytes().get(tail..record.end as usize))
}

impl Pair<'_, '_> {
    pub(super) fn check(&self, scratch: &mut CheckScratch) -> Result<(), SelfCheckError> {
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
        let before = self.original.code(method, &old)?;
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
        let differs = |found: Mismatch| SelfCheckError::Method {
            method,
            expected: found.expected,
            bci: found.bci,
            position: found.position,
        };
        scratch
            .planned
            .read(
                (before.bytes(), after.bytes()),
                || self.original.instruction_map(method),
                self.plan,
                self.edits,
                &scratch.changes,
            )
            .map_err(differs)?;
        self.code(&before, &after, scratch).map_err(differs)
    }

    /// Returns the local variables that the new method should have.
    fn locals(&self, before: &Code<'_, '_>, changes: &Replacements) -> u32 {
        if !self.plan.names_anything() {
            return u32::from(before.max_locals());
        }
        let own = self.edits.iter().filter_map(|key| {
            match self.plan.edits().get(edit_index(*key))?.action {
                Action::Insert(id) => self.plan.snippet(id).map(Snippet::own_slots),
                Action::Hit(_) | Action::Count(_) | Action::Change(_) => None,
            }
        });
        let own = own.max().unwrap_or(0).max(changes.slots());
        u32::from(before.max_locals()) + own
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
        scratch: &mut CheckScratch,
    ) -> Result<(), Mismatch> {
        let CheckScratch {
            planned,
            unspliced,
            general,
            frames,
            code_tables,
            changes,
            ..
        } = scratch;
        if self.locals(before, changes) != u32::from(after.max_locals())
            || before.max_stack() > after.max_stack()
        {
            return Err(Mismatch::new("the same locals and no less stack", 0, 0));
        }
        let retyped = EditedFrames {
            original: self.original,
            output: self.output,
            method: self.method,
            before,
            after,
            plan: self.plan,
            edits: self.edits,
        };
        let (all, retyped) = (&retyped, self.special.then_some(&retyped));
        let unwind = match retyped.is_some_and(EditedFrames::unwinds) {
            false => None,
            true => {
                let handler = after.exception_table().last();
                let handler = handler.ok_or(Mismatch::new("a catch-all handler", 0, 0))?;
                Some(u32::from(handler.handler.0))
            }
        };
        let work = UnspliceInput {
            old: before.bytes(),
            new: after.bytes(),
            expected: planned,
            plan: self.plan,
            probes: self
                .probes
                .within(self.original, before, self.plan, self.edits),
            changes,
            host: self.host(before),
            unwind,
        };
        unspliced.run(&work, *general)?;
        let rows = (before.exception_rows(), after.exception_rows());
        let covered = retyped.map_or(Ok(Vec::new()), EditedFrames::covered)?;
        let unwinding = expected_rows(&covered, before.bytes(), (planned, self.plan), unspliced)
            .ok_or(Mismatch::new("the same exception ranges", 0, 0))?;
        if !same_handlers(rows, before.bytes(), &unwinding, unspliced) {
            return Err(Mismatch::new("the same exception ranges", 0, 0));
        }
        let retyped = match unspliced.inverted() {
            [] if unspliced.trampolines_follow_code() => {
                retyped.filter(|retyped| retyped.needs_frames())
            }
            [] => Some(all).filter(|all| all.framed() || all.has_frames()),
            _ => Some(all).filter(|retyped| retyped.framed()),
        };
        self.attributes(before, after, retyped, unspliced, (frames, code_tables))
    }

    fn attributes(
        &self,
        before: &Code<'_, '_>,
        after: &Code<'_, '_>,
        retyped: Option<&EditedFrames<'_, '_>>,
        unspliced: &Unsplice,
        (frames, tables): (&mut FrameCheck, &mut CodeTables),
    ) -> Result<(), Mismatch> {
        let mut others: Attributes<'_, '_> = after.attributes();
        let mut framed = false;
        let mut attributes = before.attributes();
        while let Some(attribute) = attributes.next_nameless() {
            // The output's pool begins with that of the original.
            let name = attribute.name_index(self.original.bytes());
            let other = others.next_nameless();
            let other = other.filter(|other| other.name_index(self.output.bytes()) == name);
            let other = other.ok_or(Mismatch::new("the same attributes of Code", 0, 0))?;
            let kind = tables.of(name, self.original.pool());
            if kind == CodeTable::Frames {
                framed = true;
                if let Some(retyped) = retyped {
                    retyped.check(Some(&other), unspliced)?;
                    continue;
                }
                let limits = (before.max_locals(), before.max_stack());
                let pair = FramePair {
                    original: self.original,
                    output: self.output,
                    method: self.method,
                    limits,
                    tables: (&attribute, &other),
                };
                frames.check(&pair, unspliced)?;
                continue;
            }
            if !same_table(kind, &attribute, other.bytes, unspliced) {
                return Err(Mismatch::new(
                    "the same lines, variables and annotations",
                    0,
                    0,
                ));
            }
        }
        if let Some(retyped) = retyped.filter(|_| !framed) {
            let added = others.next().filter(|other| other.name == "StackMapTable");
            retyped.check(added.as_ref(), unspliced)?;
            framed = true;
        }
        let required = self.original.major_version() >= FRAMES_REQUIRED_SINCE;
        if others.next().is_some() || (!framed && required && !unspliced.trampolines().is_empty()) {
            return Err(Mismatch::new("the same attributes of Code", 0, 0));
        }
        Ok(())
    }
}
