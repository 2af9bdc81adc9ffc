//! One method, rewritten.

use crate::class::{Attribute, Attributes, ClassFile, Code, CodeLayout, MethodRecord};
use crate::index::MethodIndex;
use crate::limits::{FRAMES_REQUIRED_SINCE, FRAMES_SINCE, HUGE_METHOD, MAX_STACK};
use crate::plan::{EditPlan, Place};
use crate::splice::changes::Changes;
use crate::splice::emit::Emitter;
use crate::splice::frames::{FrameContext, Frames};
use crate::splice::layout::{Layout, edit_index};
use crate::splice::pool::PoolWriter;
use crate::splice::probe::{Inserts, ProbeWriter};
use crate::splice::snippets::{Facts, Inserted, Snippets};
use crate::splice::{SkipReason, Warning, tables, write_at};
use crate::verify::Hierarchy;

/// Buffers for the work on one method.
#[derive(Debug, Default)]
pub(crate) struct MethodScratch {
    layout: Layout,
    frames: Frames,
    snippets: Snippets,
    changes: Changes,
}

/// The rewriting of one method.
pub(crate) struct MethodSplice<'s, 'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    pub(crate) record: MethodRecord,
    pub(crate) probes: ProbeWriter,
    pub(crate) plan: &'s EditPlan,
    pub(crate) order: &'s [u64],
    pub(crate) pool: &'s mut PoolWriter,
    pub(crate) buffers: &'s mut MethodScratch,
}

impl MethodSplice<'_, '_, '_> {
    /// Writes the `method_info`. On failure `out` holds a part of it.
    pub(crate) fn write(
        &mut self,
        index: MethodIndex,
        out: &mut Vec<u8>,
    ) -> Result<Option<Warning>, SkipReason> {
        if self.record.code == 0 {
            return Err(SkipReason::NoCode);
        }
        let bytes = self.class.bytes();
        let view = Code::read(self.class.pool(), bytes, &self.record)?;
        let layout = *view.layout();
        let handlers = view.handler_bytes();
        self.snippets(&view, index)?;
        self.changes(&view, index)?;
        let max_stack = self.max_stack(&layout)?;
        let MethodScratch {
            layout: positions,
            snippets,
            changes,
            ..
        } = &mut *self.buffers;
        let inserts = Inserts {
            probes: self.probes,
            snippets,
            changes,
        };
        positions.plan(view.bytes(), self.plan.edits(), self.order, inserts)?;
        positions.settle(view.bytes(), handlers)?;
        let total = positions.total;

        let start = self.record.start as usize;
        let contents = self.record.code as usize;
        super::copy(bytes, start, contents.wrapping_sub(4), out);
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&max_stack.to_be_bytes());
        let max_locals = layout.max_locals.max(snippets.locals as u16);
        out.extend_from_slice(&max_locals.to_be_bytes());
        out.extend_from_slice(&total.to_be_bytes());
        Emitter {
            layout: positions,
            code: view.bytes(),
            edits: self.plan.edits(),
            inserts,
        }
        .write(out);
        out.extend_from_slice(&((handlers.len() >> 3) as u16).to_be_bytes());
        tables::exceptions(handlers, positions, out)?;
        self.attributes(&view, index, out)?;
        let length = out.len().wrapping_sub(length_at).wrapping_sub(4) as u32;
        write_at(out, length_at, &length.to_be_bytes());
        let end = contents.wrapping_add(self.record.code_length as usize);
        super::copy(bytes, end, self.record.end as usize, out);
        Ok(huge(index, layout.code.1, total))
    }

    /// Types the method's snippets and makes their code.
    fn snippets(&mut self, view: &Code<'_, '_>, index: MethodIndex) -> Result<(), SkipReason> {
        self.buffers.snippets.clear();
        if self.plan.snippets().is_empty() {
            return Ok(());
        }
        let method = self.class.method(index).ok_or(SkipReason::NoCode)?;
        let known = Hierarchy::of(self.class);
        let facts = Facts::of(self.class, &method, view, &known);
        let inserted = self
            .buffers
            .snippets
            .prepare(&facts, self.plan, self.order, self.pool)?;
        let plain =
            |found: &Inserted<'_>| found.typed.falls_through && found.typed.labels.is_empty();
        match inserted.iter().find(|found| !plain(found)) {
            Some(_) if facts.major >= FRAMES_SINCE => Err(SkipReason::FramesTooLarge),
            _ => Ok(()),
        }
    }

    /// Makes out the method's changed instructions and makes their code.
    fn changes(&mut self, view: &Code<'_, '_>, index: MethodIndex) -> Result<(), SkipReason> {
        let MethodScratch { changes, .. } = &mut *self.buffers;
        changes.clear();
        if !self.plan.has_changes() {
            return Ok(());
        }
        let method = self.class.method(index).ok_or(SkipReason::NoCode)?;
        changes.resolve(self.class, &method, view, self.plan, self.order)?;
        let known = Hierarchy::of(self.class);
        let facts = Facts::of(self.class, &method, view, &known);
        changes.lower(&facts, self.pool)
    }

    /// Room for the deepest edit: at entry the stack is empty, elsewhere it may
    /// be as deep as it gets.
    fn max_stack(&self, layout: &CodeLayout) -> Result<u16, SkipReason> {
        let deepest = u32::from(layout.max_stack);
        let edits = self
            .order
            .iter()
            .filter_map(|key| self.plan.edits().get(edit_index(*key)));
        let inserts = Inserts {
            probes: self.probes,
            snippets: &self.buffers.snippets,
            changes: &self.buffers.changes,
        };
        let needed = edits.map(|edit| {
            let below = if edit.site.place == Place::Entry {
                0
            } else {
                deepest
            };
            below.wrapping_add(inserts.stack(edit.action))
        });
        let needed = needed.max().unwrap_or(0).max(deepest);
        if needed > MAX_STACK {
            return Err(SkipReason::StackTooDeep);
        }
        Ok(needed as u16)
    }

    fn attributes(
        &mut self,
        view: &Code<'_, '_>,
        index: MethodIndex,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let bytes = self.class.bytes();
        let count_at = view.layout().attributes as usize;
        super::copy(bytes, count_at, count_at.wrapping_add(2), out);
        let detours = !self.buffers.layout.detours.is_empty();
        let mut has_frames = false;
        for attribute in Attributes::new(self.class.pool(), bytes, count_at) {
            let head = attribute.offset as usize;
            super::copy(bytes, head.wrapping_sub(6), head, out);
            let start = out.len();
            if attribute.name == "StackMapTable" {
                if has_frames {
                    return Err(duplicate(&attribute));
                }
                has_frames = true;
                self.frames(view, index, &attribute, out)?;
                let length = out.len().wrapping_sub(start) as u32;
                write_at(out, start.wrapping_sub(4), &length.to_be_bytes());
            } else {
                tables::relocate(&attribute, &self.buffers.layout, out)?;
            }
        }
        let required = self.class.major_version() >= FRAMES_REQUIRED_SINCE;
        match self.buffers.layout.detours.first() {
            Some(detour) if detours && !has_frames && required => Err(SkipReason::NoFrame {
                bci: crate::index::Bci(detour.target as u16),
            }),
            _ => Ok(()),
        }
    }

    fn frames(
        &mut self,
        view: &Code<'_, '_>,
        index: MethodIndex,
        attribute: &Attribute<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let MethodScratch { layout, frames, .. } = &mut *self.buffers;
        if !layout.detours.is_empty() {
            let method = self.class.method(index).ok_or(SkipReason::NoCode)?;
            let limits = (view.max_locals(), view.max_stack());
            let context = FrameContext {
                class: self.class,
                method,
                limits,
            };
            frames.snapshot(&context, attribute, layout, self.pool)?;
        }
        frames.write(attribute, layout, out)
    }
}

fn duplicate(attribute: &Attribute<'_>) -> SkipReason {
    let offset = attribute.offset;
    crate::error::ReadError::DuplicateAttribute {
        attribute: "StackMapTable",
        offset,
    }
    .into()
}

fn huge(method: MethodIndex, before: u32, after: u32) -> Option<Warning> {
    let crossed = before as usize <= HUGE_METHOD && after as usize > HUGE_METHOD;
    crossed.then_some(Warning::HugeMethod {
        method,
        before,
        after,
    })
}
