//! Removes inserted code from a code array.

use crate::arithmetic::moved;
use crate::class::{branch_offset, decode, switch_layout};
use crate::cursor::i32_at;
use crate::plan::{Action, EditPlan};
use crate::self_check::expected::{Expected, Special, SpecialKind, bci_of, is_in_front_of_label};
use crate::self_check::mismatch::Mismatch;
use crate::self_check::snippet::{Host, end_of};
use crate::snippet::Snippet;
use crate::splice::{INVERTED, Positions, ProbeWriter, Replacements, TRAMPOLINE_MARK, edit_index};
use jvms::opcode;

/// A trampoline in the new code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundTrampoline {
    pub(crate) position: u32,
    pub(crate) end: u32,
    /// Source and target bcis of its jump, once the jump was checked.
    pub(crate) edge: Option<(u32, u32)>,
}

impl FoundTrampoline {
    fn new(position: usize, end: usize) -> Self {
        FoundTrampoline {
            position: position as u32,
            end: end as u32,
            edge: None,
        }
    }

    /// Returns the target as a bci.
    pub(crate) fn target(&self) -> Option<u32> {
        self.edge.map(|(_, target)| target)
    }
}

/// A snippet in the new code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundSnippet {
    /// Index of its edit in the plan.
    pub(crate) index: usize,
    pub(crate) start: u32,
    offsets: (usize, usize),
}

/// Code inserted before the instruction at this bci.
#[derive(Debug, Clone, Copy)]
struct InsertedRange {
    bci: u32,
    end: u32,
    start: u32,
    instruction: u32,
}

/// Flag of a label that has inserted code before its instruction.
pub(super) const INSERTED: u32 = 1 << 31;

/// Positions of original and inserted code in the output.
#[derive(Debug, Default)]
pub(crate) struct Unsplice {
    /// Labels by bci, with [`INSERTED`]. Positions inside an instruction are counted on, because debug tables of some
    /// compilers refer to them.
    pub(super) labels: Vec<u32>,
    inserted: Vec<InsertedRange>,
    /// The positions of instructions that are not copied unchanged.
    pub(super) specials: Vec<u32>,
    trampolines: Vec<FoundTrampoline>,
    /// The snippets.
    placed: Vec<FoundSnippet>,
    /// The offsets of their operations, from the start of each.
    offsets: Vec<u32>,
    /// The position of the handler of `Unwind`.
    unwind: Option<u32>,
    /// The layers with code there, and the start of the code of each.
    unwinding: Vec<(u16, u32)>,
    /// Inverted branches: bci, and the position after them.
    inverted: Vec<(u32, u32)>,
}

/// The two code arrays, and the edits between them.
pub(crate) struct UnspliceInput<'w> {
    pub(crate) old: &'w [u8],
    pub(crate) new: &'w [u8],
    pub(crate) expected: &'w Expected,
    pub(crate) plan: &'w EditPlan,
    pub(crate) probes: ProbeWriter,
    pub(crate) changes: &'w Replacements,
    pub(crate) host: Host<'w>,
    /// The start of the handler of `Unwind` according to the exception table.
    pub(crate) unwind: Option<u32>,
}

impl Positions for Unsplice {
    #[inline]
    fn label(&self, bci: u32) -> Option<u32> {
        let label = self.labels.get(bci as usize)?;
        Some(*label & !INSERTED)
    }

    #[inline]
    fn start(&self, bci: u32) -> Option<u32> {
        self.position(bci, |found| found.start)
    }

    #[inline]
    fn instruction(&self, bci: u32) -> Option<u32> {
        self.position(bci, |found| found.instruction)
    }

    #[inline]
    fn end(&self, bci: u32) -> Option<u32> {
        self.position(bci, |found| found.end)
    }
}

impl Unsplice {
    pub(crate) fn trampolines(&self) -> &[FoundTrampoline] {
        &self.trampolines
    }

    /// Checks that no trampoline precedes the end of the original's instructions.
    pub(crate) fn trampolines_follow_code(&self) -> bool {
        let end = self.labels.last().copied();
        let first = self.trampolines.first();
        first.is_none_or(|first| Some(first.position) >= end)
    }

    pub(crate) fn inverted(&self) -> &[(u32, u32)] {
        &self.inverted
    }

    pub(crate) fn placed(&self) -> &[FoundSnippet] {
        &self.placed
    }

    /// Returns the offsets of the snippet's operations, and that of its end.
    pub(crate) fn offsets(&self, found: &FoundSnippet) -> &[u32] {
        let (from, to) = found.offsets;
        self.offsets.get(from..to).unwrap_or_default()
    }

    pub(crate) fn unwinding(&self) -> &[(u16, u32)] {
        &self.unwinding
    }

    /// Returns the label, or a position in the inserted code before it.
    #[inline]
    fn position(&self, bci: u32, of: impl Fn(&InsertedRange) -> u32) -> Option<u32> {
        let label = *self.labels.get(bci as usize)?;
        if label & INSERTED == 0 {
            return Some(label);
        }
        let index = self.inserted.binary_search_by_key(&bci, |found| found.bci);
        self.inserted.get(index.ok()?).map(of)
    }

    fn clear(&mut self) {
        self.labels.clear();
        self.inserted.clear();
        self.specials.clear();
        self.trampolines.clear();
        self.placed.clear();
        self.offsets.clear();
        self.unwinding.clear();
        self.inverted.clear();
    }

    /// Checks edits that all precede the code.
    fn as_a_whole(&mut self, work: &UnspliceInput<'_>) -> Result<(), Mismatch> {
        let start = self.edits(work, work.expected.main(), 0, 0)?;
        if start + work.old.len() != work.new.len() {
            return Err(Mismatch::new("the original instructions", 0, start as u32));
        }
        self.found(0, (0, 0), start);
        self.labels.push(start as u32 | INSERTED);
        self.count_on(start + 1, work.old.len());
        Ok(())
    }

    /// Records code before the instruction at `bci`: the end of the preceding code, and the start of the code inserted
    /// for this instruction.
    pub(super) fn found(&mut self, bci: usize, (end, start): (usize, usize), instruction: usize) {
        self.inserted.push(InsertedRange {
            bci: bci as u32,
            end: end as u32,
            start: start as u32,
            instruction: instruction as u32,
        });
    }

    /// Appends the labels of `count` bcis, the first at `position`.
    fn count_on(&mut self, position: usize, count: usize) {
        let positions = position as u32..(position + count) as u32;
        self.labels.extend(positions);
    }

    /// Walks both arrays and compares jumps; afterwards all positions are known.
    pub(crate) fn run(&mut self, work: &UnspliceInput<'_>, general: bool) -> Result<(), Mismatch> {
        self.clear();
        self.unwind = work.unwind;
        if work.expected.moves_as_a_whole {
            return self.as_a_whole(work);
        }
        let fast = if general { None } else { self.fast_path(work) };
        let end = match fast {
            Some(end) => end,
            None => {
                self.clear();
                self.main_line(work)?
            }
        };
        self.tail(work, end)?;
        self.handler(work)?;
        self.jumps(work)?;
        match self
            .trampolines
            .iter()
            .find(|trampoline| trampoline.edge.is_none())
        {
            Some(stray) => Err(Mismatch::new("no unreachable code", 0, stray.position)),
            None => Ok(()),
        }
    }

    fn main_line(&mut self, work: &UnspliceInput<'_>) -> Result<usize, Mismatch> {
        let (mut edits, mut specials) = (work.expected.main(), work.expected.specials.iter());
        let mut special = specials.next();
        // Trampolines are inside the code only if a branch cannot reach its end.
        let far = work.new.len() > i16::MAX as usize;
        self.labels.reserve(work.old.len() + 1);
        let (mut old, mut new, mut open) = (0_usize, 0_usize, true);
        while old < work.old.len() {
            let end = new;
            if !open {
                new = self.inner_trampolines(work, old, new)?;
            }
            let (start, mut label) = (new, new);
            while let [key, rest @ ..] = edits
                && bci_of(*key) == old
            {
                new = self.edit(work, *key, old, new)?;
                if is_in_front_of_label(*key) {
                    label = new;
                }
                edits = rest;
            }
            if new == end {
                self.labels.push(label as u32);
            } else {
                self.found(old, (end, start), new);
                self.labels.push(label as u32 | INSERTED);
            }
            let here = special.filter(|special| special.bci as usize == old);
            let (old_length, new_length) = if let Some(here) = here {
                special = specials.next();
                self.specials.push(new as u32);
                match here.kind {
                    SpecialKind::Replaced(length) => self.replaced(work, old, new, length)?,
                    SpecialKind::Jump(_) if is_inverted(work, old, new) => {
                        let behind = new as u32 + INVERTED;
                        self.inverted.push((old as u32, behind));
                        (3, INVERTED as usize)
                    }
                    SpecialKind::Jump(_) | SpecialKind::Switch => instruction(work, old, new)?,
                }
            } else {
                let edit = edits.first().map_or(usize::MAX, |key| bci_of(*key));
                let special = special.map_or(usize::MAX, |special| special.bci as usize);
                let length = run_length(work, old, edit.min(special), far)?;
                same_bytes(work, old, new, length)?;
                (length, length)
            };
            open = !far
                || work
                    .old
                    .get(old)
                    .is_some_and(|opcode| opcode::falls_through(*opcode));
            self.count_on(new + 1, old_length - 1);
            old += old_length;
            new += new_length;
        }
        self.labels.push(new as u32);
        match edits.first() {
            None => Ok(new),
            Some(key) => Err(Mismatch::new(
                "an instruction of the plan",
                bci_of(*key) as u32,
                new as u32,
            )),
        }
    }

    /// Checks the replacement of an instruction; returns both lengths.
    fn replaced(
        &mut self,
        work: &UnspliceInput<'_>,
        old: usize,
        new: usize,
        old_length: u32,
    ) -> Result<(usize, usize), Mismatch> {
        let wrong = || Mismatch::new("the replacement in the plan", old as u32, new as u32);
        let changed = work.changes.get(old as u32).ok_or_else(wrong)?;
        let code = &changed.replacement.code;
        let end = self.snippet(work, code, changed.index, new);
        let length = end.ok_or_else(wrong)? - new;
        Ok((old_length as usize, length))
    }

    /// Checks these edits at `new` and returns their end.
    fn edits(
        &mut self,
        work: &UnspliceInput<'_>,
        keys: &[u64],
        old: usize,
        new: usize,
    ) -> Result<usize, Mismatch> {
        let mut at = new;
        for key in keys {
            at = self.edit(work, *key, old, at)?;
        }
        Ok(at)
    }

    /// Checks the code of one edit at `at` and returns its end.
    fn edit(
        &mut self,
        work: &UnspliceInput<'_>,
        key: u64,
        old: usize,
        at: usize,
    ) -> Result<usize, Mismatch> {
        let index = edit_index(key);
        let end = match work.plan.edits().get(index).map(|edit| edit.action) {
            Some(Action::Hit(probe)) => hit(work, probe, at),
            Some(Action::Insert(id)) => {
                let snippet = work.plan.snippet(id);
                snippet.and_then(|snippet| self.snippet(work, snippet, index, at))
            }
            _ => Some(at),
        };
        end.ok_or_else(|| Mismatch::new("the plan's edits", old as u32, at as u32))
    }

    /// Checks the code of a snippet, for the edit with this index, and returns its end.
    fn snippet(
        &mut self,
        work: &UnspliceInput<'_>,
        snippet: &Snippet,
        index: usize,
        at: usize,
    ) -> Option<usize> {
        let from = self.offsets.len();
        let end = end_of(snippet, &work.host, work.new, at, &mut self.offsets)?;
        self.placed.push(FoundSnippet {
            index,
            start: at as u32,
            offsets: (from, self.offsets.len()),
        });
        Some(end)
    }

    /// Checks the handler of `Unwind` at the end.
    fn handler(&mut self, work: &UnspliceInput<'_>) -> Result<(), Mismatch> {
        let Some(start) = work.unwind else {
            return Ok(());
        };
        let bci = work.old.len() as u32;
        let mut end = start as usize;
        for key in &work.expected.unwind {
            let layer = work.plan.layer(edit_index(*key));
            if self.unwinding.last().is_none_or(|last| last.0 != layer) {
                self.unwinding.push((layer, end as u32));
            }
            end = self.edit(work, *key, bci as usize, end)?;
        }
        if work.new.get(end..) == Some(&[opcode::ATHROW]) {
            return Ok(());
        }
        let expected = "a rethrow at the end";
        Err(Mismatch::new(expected, bci, end as u32))
    }

    /// Skips trampolines inside the code, which begin with a mark.
    fn inner_trampolines(
        &mut self,
        work: &UnspliceInput<'_>,
        old: usize,
        mut new: usize,
    ) -> Result<usize, Mismatch> {
        let mark = [opcode::NOP; TRAMPOLINE_MARK as usize];
        let marked =
            |code: &[u8], at: usize| code.get(at..).is_some_and(|rest| rest.starts_with(&mark));
        while marked(work.new, new) && !marked(work.old, old) {
            let start = new + mark.len();
            let end = skip_trampoline(work.new, start, usize::MAX).ok_or(Mismatch::new(
                "a whole trampoline",
                old as u32,
                new as u32,
            ))?;
            self.trampolines.push(FoundTrampoline::new(new, end));
            new = end;
        }
        Ok(new)
    }

    /// Reads the trampolines after the code.
    fn tail(&mut self, work: &UnspliceInput<'_>, mut new: usize) -> Result<(), Mismatch> {
        let bci = work.old.len() as u32;
        let (main_end, end) = (new, work.unwind.map_or(work.new.len(), |at| at as usize));
        while new < end {
            let end = skip_trampoline(work.new, new, main_end).ok_or(Mismatch::new(
                "a whole trampoline",
                bci,
                new as u32,
            ))?;
            self.trampolines.push(FoundTrampoline::new(new, end));
            new = end;
        }
        Ok(())
    }

    fn jumps(&mut self, work: &UnspliceInput<'_>) -> Result<(), Mismatch> {
        for (index, Special { bci, kind }) in work.expected.specials.iter().enumerate() {
            let bci = *bci;
            let from = self.specials.get(index).copied();
            let from = from.ok_or_else(|| Mismatch::new("a jump", bci, 0))?;
            match *kind {
                SpecialKind::Replaced(_) => {}
                SpecialKind::Switch => self.switch(work, bci, from)?,
                SpecialKind::Jump(target) => {
                    let inverted = self.inverted.binary_search_by_key(&bci, |found| found.0);
                    let jump = match inverted {
                        Ok(_) => from + 3,
                        Err(_) => from,
                    };
                    let to = branch_offset(work.new, jump as usize)
                        .and_then(|distance| jump.checked_add_signed(distance))
                        .ok_or_else(|| Mismatch::new("a jump", bci, from))?;
                    self.edge(work, (bci, target), from, to)?;
                }
            }
        }
        Ok(())
    }

    fn switch(&mut self, work: &UnspliceInput<'_>, bci: u32, from: u32) -> Result<(), Mismatch> {
        let wrong = |expected| Mismatch::new(expected, bci, from);
        let old = switch_layout(work.old, bci as usize).ok_or(wrong("a switch"))?;
        let new = switch_layout(work.new, from as usize).ok_or(wrong("a switch"))?;
        for (before, after) in old.distances().zip(new.distances()) {
            let offsets = i32_at(work.old, before).zip(i32_at(work.new, after));
            let (before, after) = offsets.ok_or(wrong("a switch"))?;
            let target = moved(bci, before);
            let to = from.checked_add_signed(after);
            let to = to.ok_or(wrong("a switch within the code"))?;
            self.edge(work, (bci, target), from, to)?;
        }
        Ok(())
    }

    /// Checks that an edge leads to the label of its target, or to a trampoline to it with the edge's edits.
    fn edge(
        &mut self,
        work: &UnspliceInput<'_>,
        edge: (u32, u32),
        from: u32,
        to: u32,
    ) -> Result<(), Mismatch> {
        let (source, target) = edge;
        let wrong = || Mismatch::new("a jump to its original target", source, from);
        let label = self.label(target);
        let planned = work.expected.edge_edits(source, target);
        if planned.is_empty() && label == Some(to) {
            return Ok(());
        }
        let index = self
            .trampolines
            .binary_search_by_key(&to, |trampoline| trampoline.position);
        let index = index.map_err(|_| wrong())?;
        let inside = self.labels.last().is_some_and(|end| to < *end);
        let start = if inside { to + TRAMPOLINE_MARK } else { to } as usize;
        let end = self.edits(work, planned, source as usize, start)?;
        let goto = matches!(work.new.get(end), Some(&(opcode::GOTO | opcode::GOTO_W)));
        let reached =
            branch_offset(work.new, end).and_then(|found| (end as u32).checked_add_signed(found));
        if !goto || reached != label {
            return Err(wrong());
        }
        match self.trampolines.get_mut(index) {
            Some(trampoline) if trampoline.edge.is_none_or(|other| other == edge) => {
                trampoline.edge = Some(edge);
                Ok(())
            }
            _ => Err(wrong()),
        }
    }
}

/// Checks for a hit at `at` and returns its end.
#[inline]
pub(super) fn hit(work: &UnspliceInput<'_>, probe: u32, at: usize) -> Option<usize> {
    let (mut end, mut same) = (at, true);
    work.probes.hit(probe).each(|part| {
        same &= work.new.get(end..end + part.len()) == Some(part);
        end += part.len();
    });
    same.then_some(end)
}

/// Returns the length of the run without edits and jumps. It is one instruction if trampolines may follow it.
fn run_length(
    work: &UnspliceInput<'_>,
    old: usize,
    next: usize,
    far: bool,
) -> Result<usize, Mismatch> {
    let length = next.min(work.old.len()).checked_sub(old);
    let length = length.filter(|length| *length > 0);
    let length = length.ok_or_else(|| {
        let bci = next as u32;
        Mismatch::new("an instruction of the plan", bci, 0)
    })?;
    Ok(match far {
        true => decode(work.old, old).unwrap_or(length),
        false => length,
    })
}

fn same_bytes(
    work: &UnspliceInput<'_>,
    old: usize,
    new: usize,
    length: usize,
) -> Result<(), Mismatch> {
    let before = work.old.get(old..old + length);
    let after = work.new.get(new..new + length);
    match before {
        Some(_) if before == after => Ok(()),
        _ => Err(Mismatch::new(
            "the original instructions",
            old as u32,
            new as u32,
        )),
    }
}

/// Compares the jump at `old` with that at `new`, except for branch offsets; returns both lengths.
pub(super) fn instruction(
    work: &UnspliceInput<'_>,
    old: usize,
    new: usize,
) -> Result<(usize, usize), Mismatch> {
    let wrong = || Mismatch::new("the original instruction", old as u32, new as u32);
    let opcode = work.old.get(old);
    if opcode == work.new.get(new) && opcode.is_some_and(|opcode| is_short_branch(*opcode)) {
        return Ok((3, 3));
    }
    let old_length = decode(work.old, old).ok_or_else(wrong)?;
    let new_length = decode(work.new, new).ok_or_else(wrong)?;
    let before = work.old.get(old..old + old_length).ok_or_else(wrong)?;
    let after = work.new.get(new..new + new_length).ok_or_else(wrong)?;
    let (Some(opcode), Some(found)) = (before.first(), after.first()) else {
        return Err(wrong());
    };
    let same = match (opcode::form(*opcode), *found) {
        (opcode::Form::Branch, opcode::GOTO_W) => *opcode == opcode::GOTO,
        (opcode::Form::Branch, opcode::JSR_W) => *opcode == opcode::JSR,
        (opcode::Form::Branch | opcode::Form::BranchWide, found) => found == *opcode,
        (opcode::Form::TableSwitch | opcode::Form::LookupSwitch, _) => {
            opcode == found && same_switch(work, old, new)
        }
        _ => before == after,
    };
    if same {
        Ok((old_length, new_length))
    } else {
        Err(wrong())
    }
}

/// Checks whether the conditional branch at `old` became its inverse around a `goto_w`.
fn is_inverted(work: &UnspliceInput<'_>, old: usize, new: usize) -> bool {
    let opcode = work.old.get(old).copied();
    let opcode = opcode.filter(|opcode| opcode::is_conditional(*opcode));
    let found = work.new.get(new..new + 4);
    opcode.is_some_and(|opcode| {
        found == Some(&[opcode::inverse(opcode), 0, INVERTED as u8, opcode::GOTO_W])
    })
}

fn is_short_branch(opcode: u8) -> bool {
    matches!(opcode::form(opcode), opcode::Form::Branch)
}

/// Compares switches: the same keys in the same order, and zero padding.
fn same_switch(work: &UnspliceInput<'_>, old: usize, new: usize) -> bool {
    let (Some(before), Some(after)) = (switch_layout(work.old, old), switch_layout(work.new, new))
    else {
        return false;
    };
    let padding = work.new.get(new + 1..after.default).unwrap_or_default();
    let fixed = work.old.get(before.default + 4..before.entries)
        == work.new.get(after.default + 4..after.entries);
    let keys = before.stride == 4
        || (before.entries..before.end)
            .step_by(8)
            .zip((after.entries..after.end).step_by(8))
            .all(|(a, b)| i32_at(work.old, a) == i32_at(work.new, b));
    let count = before.end - before.entries == after.end - after.entries;
    padding.iter().all(|byte| *byte == 0) && fixed && keys && count
}

/// Skips instructions through the next `goto` to a target before `end`. A `goto` to a later target belongs to a
/// snippet.
fn skip_trampoline(code: &[u8], mut at: usize, end: usize) -> Option<usize> {
    let end = i64::try_from(end).unwrap_or(i64::MAX);
    loop {
        let opcode = *code.get(at)?;
        let target = branch_offset(code, at).map(|distance| at as i64 + i64::from(distance));
        at += decode(code, at)?;
        let leaves = target.is_some_and(|target| target < end);
        if matches!(opcode, opcode::GOTO | opcode::GOTO_W) && leaves {
            return Some(at);
        }
    }
}
