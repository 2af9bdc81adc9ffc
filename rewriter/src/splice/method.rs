//! Rewrites one method.

use crate::bytes::{copy, write_at};
use crate::class::{
    Attribute, Attributes, ClassFile, Code, CodeLayout, CodeTable, CodeTables, MethodRecord,
};
use crate::cursor::u16_at;
use crate::error::ReadError;
use crate::index::{Bci, MethodIndex};
use crate::limits::{FRAMES_REQUIRED_SINCE, HUGE_METHOD, MAX_STACK};
use crate::plan::{Action, EditPlan, Location, SkipReason};
use crate::pool::PoolWriter;
use crate::splice::added_frames::{Extra, Placed, Placement, extras, write_frames};
use crate::splice::analysis::{Analysis, is_special};
use crate::splice::emit::Emitter;
use crate::splice::frames::Frames;
use crate::splice::inserts::Inserts;
use crate::splice::layout::Layout;
use crate::splice::order::edit_index;
use crate::splice::positions::Positions;
use crate::splice::probe::ProbeWriter;
use crate::splice::replacements::Replacements;
use crate::splice::report::Warning;
use crate::splice::snippets::Snippets;
use crate::splice::tables::{EdgeCode, exception_table, relocate};
use crate::splice::unwinding::Unwinding;
use crate::stack_map::FrameContext;
use crate::typing::MethodContext;

/// Buffers for the work on one method.
#[derive(Debug, Default)]
pub(crate) struct MethodScratch {
    layout: Layout,
    frames: Frames,
    snippets: Snippets,
    changes: Replacements,
    edges: Vec<EdgeCode>,
    pub(super) tables: CodeTables,
}

/// The rewrite of one method.
pub(crate) struct MethodSplice<'s, 'c, 'a> {
    pub(crate) class: &'c ClassFile<'a>,
    pub(crate) record: MethodRecord,
    pub(crate) probes: ProbeWriter,
    pub(crate) plan: &'s EditPlan,
    pub(crate) order: &'s [u64],
    /// True if the plan inserts only hits, none of them at [`Location::Unwind`], and the fast path is allowed.
    pub(crate) hits_alone: bool,
    /// True if an edit of the plan needs an [`Analysis`].
    pub(crate) special: bool,
    pub(crate) pool: &'s mut PoolWriter,
    pub(crate) buffers: &'s mut MethodScratch,
}

impl<'s, 'a> MethodSplice<'s, '_, 'a> {
    /// Writes the `method_info`. On failure `out` holds a part of it.
    pub(crate) fn write(
        &mut self,
        index: MethodIndex,
        out: &mut Vec<u8>,
    ) -> Result<[Option<Warning>; 2], SkipReason> {
        if self.record.code == 0 {
            return Err(SkipReason::NoCode);
        }
        let bytes = self.class.bytes();
        let view = self.class.code(index, &self.record)?;
        self.probes = self.probes.within(self.class, &view, self.plan, self.order);
        let layout = *view.layout();
        let handlers = view.handler_bytes();
        let analysis = self.analyse(&view, index)?;
        self.changes(&view, index)?;
        let max_stack = self.max_stack(&layout)?;
        let max_locals = self.max_locals(&layout)?;
        let changes = match self.plan.has_changes() {
            true => std::mem::take(&mut self.buffers.changes),
            false => Replacements::default(),
        };
        let MethodScratch {
            layout: positions,
            snippets,
            edges,
            ..
        } = &mut *self.buffers;
        let inserts = Inserts {
            probes: self.probes,
            snippets,
            changes: &changes,
        };
        let edits = self.plan.edits();
        let class = self.class;
        let found = || class.instruction_map(index);
        positions.sort(view.bytes(), found, edits, self.order, inserts)?;
        let hit = self.probes.uniform_size().filter(|_| self.hits_alone);
        let short = hit.is_some_and(|hit| positions.takes_fast_path(hit));
        if !short {
            positions.group(edits, inserts);
            positions.settle(view.bytes(), handlers)?;
        }
        let total = positions.total;

        let start = self.record.start as usize;
        let contents = self.record.code as usize;
        copy(bytes, start, contents - 4, out);
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        out.extend_from_slice(&max_stack.to_be_bytes());
        out.extend_from_slice(&max_locals.to_be_bytes());
        out.extend_from_slice(&total.to_be_bytes());
        let base = out.len();
        if short {
            positions.write_hits(view.bytes(), edits, self.probes, out);
        }
        let emitter = Emitter {
            layout: positions,
            code: view.bytes(),
            edits,
            inserts,
        };
        match short {
            true => emitter.finish(base, out),
            false => emitter.write(out),
        }
        let rows = match analysis.as_ref().filter(|found| !found.covered.is_empty()) {
            None => Vec::new(),
            Some(analysis) => {
                let unwinding = Unwinding::of(positions, self.plan, inserts);
                let inside = (&*positions, self.plan, inserts);
                unwinding.rows(&analysis.covered, view.bytes(), inside)?
            }
        };
        exception_table(
            (view.exception_rows(), view.bytes()),
            &rows,
            positions,
            edges,
            out,
        )?;
        let analysis = self.types_after_inverted(&view, index, analysis)?;
        let extras = match analysis.as_ref().filter(|analysis| analysis.needs_frames()) {
            Some(analysis) => Some((analysis, self.extras(analysis, &changes)?)),
            None => None,
        };
        self.attributes(&view, index, extras.as_ref(), out)?;
        drop(extras);
        if self.plan.has_changes() {
            self.buffers.changes = changes;
        }
        let length = (out.len() - length_at - 4) as u32;
        write_at(out, length_at, &length.to_be_bytes());
        let end = contents + self.record.code_length as usize;
        copy(bytes, end, self.record.end as usize, out);
        Ok([huge(index, layout.code.1, total), self.inverted(index)])
    }

    /// Returns a warning if a branch of the method was inverted.
    fn inverted(&self, method: MethodIndex) -> Option<Warning> {
        let far = self.buffers.layout.total > i16::MAX as u32;
        let mut inverted = self.buffers.layout.inverted();
        (far && inverted.next().is_some()).then_some(Warning::InvertedBranch { method })
    }

    /// Adds the types after each inverted branch, if the verifier reads frames.
    fn types_after_inverted<'t>(
        &self,
        view: &Code<'_, 'a>,
        index: MethodIndex,
        analysis: Option<Analysis<'t>>,
    ) -> Result<Option<Analysis<'t>>, SkipReason>
    where
        's: 't,
        'a: 't,
    {
        if self.buffers.layout.total <= i16::MAX as u32 {
            return Ok(analysis);
        }
        let inverted = self.buffers.layout.inverted();
        let inverted: Vec<u32> = inverted.map(|(bci, _)| bci).collect();
        if inverted.is_empty() {
            return Ok(analysis);
        }
        let mut analysis = match analysis {
            Some(analysis) => analysis,
            None => Analysis::of(self.class, index, view, self.plan, self.order)?,
        };
        analysis.type_after_branches(self.class, view, &inverted)?;
        Ok(Some(analysis))
    }

    /// Types the method's snippets and lowers them; `None` for a method with only probes.
    fn analyse<'t>(
        &mut self,
        view: &Code<'_, 'a>,
        index: MethodIndex,
    ) -> Result<Option<Analysis<'t>>, SkipReason>
    where
        's: 't,
        'a: 't,
    {
        self.buffers.snippets.clear();
        let plan = self.plan;
        let mut edits = self
            .order
            .iter()
            .filter_map(|key| plan.edits().get(edit_index(*key)));
        if !self.special || !edits.any(|edit| is_special(plan, edit)) {
            return Ok(None);
        }
        let analysis = Analysis::of(self.class, index, view, plan, self.order)?;
        self.buffers.snippets.lower(&analysis, self.pool)?;
        Ok(Some(analysis))
    }

    /// Returns the frames that snippets and the handler of `Unwind` need.
    fn extras<'t>(
        &self,
        analysis: &Analysis<'t>,
        changes: &'t Replacements,
    ) -> Result<Vec<Extra<'t>>, SkipReason>
    where
        'a: 't,
    {
        let MethodScratch {
            layout, snippets, ..
        } = &*self.buffers;
        let inserts = Inserts {
            probes: self.probes,
            snippets,
            changes,
        };
        let action = |index: usize| self.plan.edits().get(index).map(|edit| edit.action);
        let size = |index| action(index).map_or(0, |action| inserts.size(action));
        let mut placed = Vec::new();
        layout.each_edit(size, |index, start| {
            if let Some(Action::Insert(id)) = action(index) {
                let offsets = snippets.offsets(id);
                placed.push(Placed {
                    index,
                    start,
                    offsets,
                });
            }
        });
        placed.extend(changes.iter().map(|changed| {
            Placed {
                index: changed.index,
                start: layout
                    .instruction(changed.replacement.bci)
                    .unwrap_or_default(),
                offsets: changes.offsets(changed),
            }
        }));
        let trampolines = layout
            .trampolines
            .iter()
            .map(|trampoline| (trampoline.position, trampoline.target));
        let placement = Placement {
            placed,
            trampolines: trampolines.collect(),
            inverted: match analysis.behind {
                Some(_) => layout.inverted().collect(),
                None => Vec::new(),
            },
            unwind: match analysis.covered.is_empty() {
                true => Vec::new(),
                false => Unwinding::of(layout, self.plan, inserts).starts().collect(),
            },
        };
        extras(self.class, analysis, changes, &placement, layout)
    }

    /// Resolves and lowers the method's changed instructions.
    fn changes(&mut self, view: &Code<'_, 'a>, index: MethodIndex) -> Result<(), SkipReason> {
        let MethodScratch { changes, .. } = &mut *self.buffers;
        changes.clear();
        if !self.plan.has_changes() {
            return Ok(());
        }
        let method = self.class.method(index).ok_or(SkipReason::NoCode)?;
        changes.resolve(self.class, &method, view, self.plan, self.order)?;
        if changes.is_empty() {
            return Ok(());
        }
        let context = MethodContext::of(self.class, &method, view)?;
        changes.lower(&context, self.pool)
    }

    /// Returns `max_locals` including the added code.
    fn max_locals(&self, layout: &CodeLayout) -> Result<u16, SkipReason> {
        let MethodScratch {
            snippets, changes, ..
        } = &*self.buffers;
        let changed = u32::from(layout.max_locals) + changes.slots();
        let needed = changed.max(snippets.locals);
        u16::try_from(needed).map_err(|_| SkipReason::TooManyLocals)
    }

    /// Returns `max_stack` with room for the deepest edit. The stack is empty at entry; at other locations it may have
    /// its maximum depth.
    fn max_stack(&self, layout: &CodeLayout) -> Result<u16, SkipReason> {
        let deepest = u32::from(layout.max_stack);
        let mut edits = self
            .order
            .iter()
            .filter_map(|key| self.plan.edits().get(edit_index(*key)));
        let inserts = Inserts {
            probes: self.probes,
            snippets: &self.buffers.snippets,
            changes: &self.buffers.changes,
        };
        // With only hits, the first one after the entry decides.
        if self.hits_alone {
            let at_entry = edits.all(|edit| edit.point.location == Location::Entry);
            let below = if at_entry { 0 } else { deepest };
            return slots((below + self.probes.hit_stack()).max(deepest));
        }
        let needed = edits.map(|edit| {
            let below = match edit.point.location {
                Location::Entry => 0,
                Location::Unwind => 1,
                _ => deepest,
            };
            below + inserts.stack(edit.action)
        });
        slots(needed.max().unwrap_or(0).max(deepest))
    }

    fn attributes<'t>(
        &mut self,
        view: &Code<'_, '_>,
        index: MethodIndex,
        extras: Option<&(&Analysis<'t>, Vec<Extra<'t>>)>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason>
    where
        'a: 't,
    {
        let bytes = self.class.bytes();
        let count_at = view.layout().attributes as usize;
        let new_count_at = out.len();
        copy(bytes, count_at, count_at + 2, out);
        let trampolines = !self.buffers.layout.trampolines.is_empty();
        let mut has_frames = false;
        let pool = self.class.pool();
        let mut attributes = Attributes::new(pool, bytes, count_at);
        while let Some(attribute) = attributes.next_nameless() {
            let name = attribute.name_index(bytes);
            let kind = self.buffers.tables.of(name, pool);
            let head = attribute.offset as usize;
            let start = out.len() + 6;
            if kind == CodeTable::Frames {
                copy(bytes, head - 6, head, out);
                if has_frames {
                    return Err(duplicate(&attribute));
                }
                has_frames = true;
                match extras {
                    Some((analysis, extras)) => self.retyped(analysis, extras, out)?,
                    None => self.frames(view, index, &attribute, out)?,
                }
                let length = (out.len() - start) as u32;
                write_at(out, start - 4, &length.to_be_bytes());
            } else {
                copy(bytes, head - 6, head + attribute.bytes.len(), out);
                let table = out.get_mut(start..).unwrap_or_default();
                if !relocate(kind, &attribute, table, &self.buffers.layout)? {
                    let name = pool.utf8(name).unwrap_or_default();
                    let name = name.to_str_lossless().into_owned();
                    return Err(SkipReason::UnknownAttribute { name });
                }
            }
        }
        if let Some((analysis, extras)) = extras
            && !has_frames
            && !extras.is_empty()
        {
            return self.new_frames(analysis, extras, new_count_at, out);
        }
        let required = self.class.major_version() >= FRAMES_REQUIRED_SINCE;
        match self.buffers.layout.trampolines.first() {
            Some(trampoline) if trampolines && !has_frames && required => {
                Err(SkipReason::NoFrame {
                    bci: Bci(trampoline.target as u16),
                })
            }
            _ => Ok(()),
        }
    }

    /// Appends the contents of a `StackMapTable` with added frames.
    fn retyped<'t>(
        &mut self,
        analysis: &Analysis<'t>,
        extras: &[Extra<'t>],
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason>
    where
        'a: 't,
    {
        write_frames(
            self.class,
            analysis,
            extras,
            &self.buffers.layout,
            self.pool,
            out,
        )
    }

    /// Appends a `StackMapTable` to the attributes counted at `count_at`.
    fn new_frames<'t>(
        &mut self,
        analysis: &Analysis<'t>,
        extras: &[Extra<'t>],
        count_at: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason>
    where
        'a: 't,
    {
        let name = self
            .pool
            .text(b"StackMapTable")
            .ok_or(SkipReason::PoolFull)?;
        out.extend_from_slice(&name.to_be_bytes());
        let length_at = out.len();
        out.extend_from_slice(&[0; 4]);
        self.retyped(analysis, extras, out)?;
        let length = (out.len() - length_at - 4) as u32;
        write_at(out, length_at, &length.to_be_bytes());
        let count = u16_at(out, count_at).and_then(|count| count.checked_add(1));
        let count = count.ok_or(SkipReason::FramesTooLarge)?;
        write_at(out, count_at, &count.to_be_bytes());
        Ok(())
    }

    fn frames(
        &mut self,
        view: &Code<'_, '_>,
        index: MethodIndex,
        attribute: &Attribute<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), SkipReason> {
        let MethodScratch { layout, frames, .. } = &mut *self.buffers;
        if !layout.trampolines.is_empty() {
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

/// Checks a depth of the operand stack against the limit.
fn slots(needed: u32) -> Result<u16, SkipReason> {
    if needed > MAX_STACK {
        return Err(SkipReason::StackTooDeep);
    }
    Ok(needed as u16)
}

fn duplicate(attribute: &Attribute<'_>) -> SkipReason {
    let offset = attribute.offset;
    ReadError::DuplicateAttribute {
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
