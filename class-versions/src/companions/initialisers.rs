//! Static initialisers, cut into statements.
//!
//! A cut is an offset where the operand stack is empty and over which no jump leads. So statements can be left out, and
//! the rest moves together without any change but its offsets.

use std::collections::{HashMap, HashSet};

use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::instruction::{branch_offset, switch_layout};
use jvms::opcode::{self, Form};

use crate::companions::frames::{self, Frame};
use crate::model::{Attribute, Class, Code, Name, Reader, Reference, put};

/// A statement of an initialiser.
#[derive(Debug, Clone)]
pub(super) struct Statement {
    start: usize,
    end: usize,
    /// Static fields of the class that it reads or writes.
    pub fields: Vec<(Reference, bool)>,
    /// Local variables that it stores.
    stores: Vec<u16>,
    /// Local variables that it loads.
    loads: Vec<u16>,
    /// Its instructions as text, independent of the constant pool.
    pub text: Vec<u8>,
}

impl Statement {
    /// Checks whether it uses this field.
    pub(super) fn uses(&self, is_wanted: impl Fn(&Reference) -> bool) -> bool {
        self.fields.iter().any(|(field, _)| is_wanted(field))
    }

    fn followed_by(mut self, next: Statement) -> Self {
        self.end = next.end;
        self.fields.extend(next.fields);
        self.stores.extend(next.stores);
        self.loads.extend(next.loads);
        self.text.extend(next.text);
        self
    }

    /// Checks whether it writes a field for which `is_wanted` holds.
    pub(super) fn writes(&self, is_wanted: impl Fn(&Reference) -> bool) -> bool {
        let mut written = self.fields.iter().filter(|(_, writes)| *writes);
        written.any(|(field, _)| is_wanted(field))
    }
}

/// Cuts an initialiser into statements, of which the last one is its `return`. Fails for any other form.
pub(super) fn statements(class: &Class, code: &Code) -> Option<Vec<Statement>> {
    let starts = code.starts()?;
    let last = *starts.last()?;
    let returns = starts
        .iter()
        .filter(|at| code.opcode(**at) == opcode::RETURN);
    if code.opcode(last) != opcode::RETURN || returns.count() != 1 {
        return None;
    }
    let depths = depths(class, code, &starts)?;
    let spans = spans(code, &starts)?;
    let is_cut = |at: usize| {
        depths.get(&at) == Some(&0) && !spans.iter().any(|(low, high)| *low < at && at < *high)
    };
    let mut cuts: Vec<usize> = starts.iter().copied().filter(|at| is_cut(*at)).collect();
    if cuts.first() != Some(&0) || !cuts.contains(&last) {
        return None;
    }
    cuts.push(code.code.len());
    let pairs = cuts.iter().zip(cuts.iter().skip(1));
    let found: Option<Vec<Statement>> = pairs
        .map(|(start, end)| statement(class, code, &starts, *start, *end))
        .collect();
    Some(joined(found?))
}

/// Joins the statements from the one that stores a local variable to the last one that loads it.
fn joined(statements: Vec<Statement>) -> Vec<Statement> {
    let mut stored: HashMap<u16, usize> = HashMap::new();
    let mut joined: Vec<Statement> = Vec::new();
    for mut found in statements {
        let sources = found.loads.iter().filter_map(|slot| stored.get(slot));
        if let Some(first) = sources.min().copied() {
            for earlier in joined
                .drain(first.min(joined.len())..)
                .rev()
                .collect::<Vec<_>>()
            {
                found = earlier.followed_by(found);
            }
        }
        let place = joined.len();
        found.stores.iter().for_each(|slot| {
            stored.insert(*slot, place);
        });
        joined.push(found);
    }
    joined
}

/// Returns the local variable of an instruction.
fn local(code: &Code, at: usize, form: Form) -> Option<u16> {
    match form {
        Form::Slot(slot) => Some(u16::from(slot)),
        Form::Local | Form::Iinc => code
            .code
            .get(at.checked_add(1)?)
            .map(|slot| u16::from(*slot)),
        Form::Wide => code.operand(at.checked_add(1)?),
        _ => None,
    }
}

fn is_store(code: &Code, at: usize) -> bool {
    let opcode = match code.opcode(at) {
        opcode::WIDE => code.opcode(at.saturating_add(1)),
        opcode => opcode,
    };
    opcode::mnemonic(opcode).is_some_and(|name| name.contains("store"))
}

fn statement(
    class: &Class,
    code: &Code,
    starts: &[usize],
    start: usize,
    end: usize,
) -> Option<Statement> {
    let name = class.name();
    let mut found = Statement {
        start,
        end,
        fields: Vec::new(),
        stores: Vec::new(),
        loads: Vec::new(),
        text: Vec::new(),
    };
    let inside = |at: &&usize| (start..end).contains(*at);
    for at in starts.iter().filter(inside) {
        let opcode = code.opcode(*at);
        let form = opcode::form(opcode);
        if let Some(slot) = local(code, *at, form) {
            match is_store(code, *at) {
                true => found.stores.push(slot),
                false => found.loads.push(slot),
            }
        }
        if matches!(opcode, opcode::GETSTATIC | opcode::PUTSTATIC)
            && let Some(field) = class.pool.reference(code.operand(*at)?)
            && field.owner == name
        {
            found.fields.push((field, opcode == opcode::PUTSTATIC));
        }
        write_text(class, code, *at, form, &mut found.text)?;
    }
    Some(found)
}

/// Writes an instruction with its constant in place of the index.
fn write_text(class: &Class, code: &Code, at: usize, form: Form, out: &mut Vec<u8>) -> Option<()> {
    let length = jvms::instruction::length_at(&code.code, at)?;
    let bytes = code.code.get(at..at.checked_add(length)?)?;
    let index = match form {
        Form::Pool1 => u16::from(*bytes.get(1)?),
        Form::Pool2 | Form::Field | Form::Method | Form::Interface | Form::Dynamic => {
            code.operand(at)?
        }
        Form::MultiNewArray => code.operand(at)?,
        _ => {
            out.extend_from_slice(bytes);
            return Some(());
        }
    };
    let opcode = code.opcode(at);
    // Short and long forms have the same text.
    out.push(if opcode == opcode::LDC_W {
        opcode::LDC
    } else {
        opcode
    });
    class.write_constant(index, out, 0);
    Some(())
}

/// Returns the depth of the operand stack before each instruction that can be reached.
fn depths(class: &Class, code: &Code, starts: &[usize]) -> Option<HashMap<usize, u32>> {
    let mut depths: HashMap<usize, u32> = HashMap::new();
    let mut open: Vec<(usize, u32)> = vec![(0, 0)];
    open.extend(code.handlers.iter().map(|row| (usize::from(row[2]), 1)));
    let known: HashSet<usize> = starts.iter().copied().collect();
    while let Some((at, depth)) = open.pop() {
        if !known.contains(&at) {
            return None;
        }
        if depths.insert(at, depth).is_some() {
            continue;
        }
        let opcode = code.opcode(at);
        if opcode::is_subroutine_call(opcode) || opcode == opcode::RET {
            return None;
        }
        let after = after(class, code, at, depth)?;
        open.extend(targets(code, at).map(|target| (target, after)));
        if opcode::falls_through(opcode) {
            let next = at.checked_add(jvms::instruction::length_at(&code.code, at)?)?;
            if next < code.code.len() {
                open.push((next, after));
            }
        }
    }
    Some(depths)
}

/// Returns the depth after an instruction.
fn after(class: &Class, code: &Code, at: usize, depth: u32) -> Option<u32> {
    let opcode = code.opcode(at);
    let plain = match opcode {
        opcode::WIDE => *code.code.get(at.checked_add(1)?)?,
        opcode => opcode,
    };
    let (pops, pushes) = opcode::stack_effect(plain);
    let mut pops = u32::from(pops);
    let mut pushes = u32::from(pushes);
    match opcode::form(opcode) {
        Form::Field => {
            let field = class.pool.reference(code.operand(at)?)?;
            let slots = u32::from(FieldType::parse(&field.descriptor).ok()?.slots());
            match opcode {
                opcode::GETSTATIC | opcode::GETFIELD => pushes = slots,
                _ => pops = pops.checked_add(slots)?,
            }
        }
        Form::Method | Form::Interface | Form::Dynamic => {
            let descriptor = class.pool.descriptor(code.operand(at)?)?;
            let parsed = MethodDescriptor::parse(&descriptor).ok()?;
            pops = pops.checked_add(parsed.parameter_slots())?;
            pushes = parsed
                .return_type()
                .map_or(0, |found| u32::from(found.slots()));
        }
        Form::MultiNewArray => {
            pops = u32::from(*code.code.get(at.checked_add(3)?)?);
            pushes = 1;
        }
        _ => {}
    }
    depth.checked_sub(pops)?.checked_add(pushes)
}

/// Returns the targets of a branch or switch.
fn targets(code: &Code, at: usize) -> impl Iterator<Item = usize> {
    let branch = branch_offset(&code.code, at);
    let mut distances: Vec<i32> = branch.into_iter().collect();
    if opcode::is_switch(code.opcode(at))
        && let Some(layout) = switch_layout(&code.code, at)
    {
        let read = |place: usize| {
            let bytes = code.code.get(place..)?.first_chunk()?;
            Some(i32::from_be_bytes(*bytes))
        };
        distances.extend(layout.distances().filter_map(read));
    }
    distances
        .into_iter()
        .filter_map(move |distance| at.checked_add_signed(isize::try_from(distance).ok()?))
}

/// Returns the ranges that a jump or handler spans; no cut is inside one.
fn spans(code: &Code, starts: &[usize]) -> Option<Vec<(usize, usize)>> {
    let mut spans = Vec::new();
    for at in starts {
        for target in targets(code, *at) {
            spans.push((target.min(*at), target.max(at.checked_add(1)?)));
        }
    }
    for [start, end, handler, _] in &code.handlers {
        let (start, end, handler) = (
            usize::from(*start),
            usize::from(*end),
            usize::from(*handler),
        );
        spans.push((start.min(handler), end.max(handler.checked_add(1)?)));
    }
    Some(spans)
}

/// The new offsets after statements were left out.
struct Offsets {
    /// The remaining statements: start, end, new start.
    kept: Vec<(usize, usize, usize)>,
    boundaries: HashSet<usize>,
    length: usize,
}

impl Offsets {
    fn of(statements: &[Statement], keep: &dyn Fn(&Statement) -> bool) -> Self {
        let (mut kept, mut length) = (Vec::new(), 0_usize);
        for found in statements.iter().filter(|found| keep(found)) {
            kept.push((found.start, found.end, length));
            length = length.saturating_add(found.end.saturating_sub(found.start));
        }
        let boundaries = statements.iter().map(|found| found.start).collect();
        Self {
            kept,
            boundaries,
            length,
        }
    }

    /// Returns the new place of an offset in a remaining statement.
    fn inside(&self, at: usize) -> Option<usize> {
        let holds = |(start, end, _): &&(usize, usize, usize)| (*start..*end).contains(&at);
        let (start, _, moved) = self.kept.iter().find(holds)?;
        moved.checked_add(at.checked_sub(*start)?)
    }

    /// Returns the new place of an offset: that of the next remaining statement, if its own is left out.
    fn next(&self, at: usize) -> usize {
        self.inside(at).unwrap_or_else(|| {
            let mut later = self.kept.iter().filter(|(start, _, _)| *start >= at);
            later.next().map_or(self.length, |(_, _, moved)| *moved)
        })
    }
}

/// Returns the code with some of its statements. Fails for code that cannot be moved.
pub(super) fn select(
    class: &Class,
    code: &Code,
    statements: &[Statement],
    keep: &dyn Fn(&Statement) -> bool,
) -> Option<Code> {
    let offsets = Offsets::of(statements, keep);
    let mut moved = Code {
        max_stack: code.max_stack,
        max_locals: code.max_locals,
        ..Code::default()
    };
    for (start, end, to) in &offsets.kept {
        let bytes = code.code.get(*start..*end)?;
        let shift = start.checked_sub(*to)?;
        let starts = code.starts()?;
        let mut inside = starts.iter().filter(|at| (*start..*end).contains(*at));
        // The padding of a switch depends on its offset.
        if shift % 4 != 0 && inside.any(|at| opcode::is_switch(code.opcode(*at))) {
            return None;
        }
        moved.code.extend_from_slice(bytes);
    }
    for [start, end, handler, caught] in &code.handlers {
        if let Some(start) = offsets.inside(usize::from(*start)) {
            let end = offsets.next(usize::from(*end));
            let handler = offsets.inside(usize::from(*handler))?;
            let place = |at: usize| u16::try_from(at).ok();
            moved
                .handlers
                .push([place(start)?, place(end)?, place(handler)?, *caught]);
        }
    }
    for attribute in &code.attributes {
        let name = class.pool.utf8(attribute.name).unwrap_or_default();
        let bytes = match name {
            b"StackMapTable" => moved_frames(&attribute.bytes, &offsets)?,
            b"LineNumberTable" => moved_lines(&attribute.bytes, &offsets)?,
            b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                moved_variables(&attribute.bytes, &offsets)?
            }
            _ => continue,
        };
        moved.attributes.push(Attribute {
            name: attribute.name,
            bytes,
        });
    }
    Some(moved)
}

fn moved_frames(table: &[u8], offsets: &Offsets) -> Option<Vec<u8>> {
    let mut kept: Vec<Frame> = Vec::new();
    for mut frame in frames::decode(table)? {
        let inside = offsets.inside(frame.at);
        let is_boundary = offsets.boundaries.contains(&frame.at);
        let Some(at) = inside.or_else(|| is_boundary.then(|| offsets.next(frame.at))) else {
            continue;
        };
        frame.at = at;
        frame.move_uninitialized(&|at| offsets.inside(at))?;
        let is_new = kept.last().is_none_or(|last| last.at != at);
        if is_new && at < offsets.length {
            kept.push(frame);
        }
    }
    frames::encode(&kept)
}

fn moved_lines(table: &[u8], offsets: &Offsets) -> Option<Vec<u8>> {
    let mut reader = Reader::new(table);
    let mut rows = Vec::new();
    for _ in 0..reader.u2()? {
        let (at, line) = (reader.u2()?, reader.u2()?);
        if let Some(at) = offsets.inside(usize::from(at)) {
            rows.push([u16::try_from(at).ok()?, line]);
        }
    }
    let mut out = Vec::new();
    put(&mut out, &[u16::try_from(rows.len()).ok()?]);
    rows.iter().for_each(|row| put(&mut out, row));
    Some(out)
}

fn moved_variables(table: &[u8], offsets: &Offsets) -> Option<Vec<u8>> {
    let mut reader = Reader::new(table);
    let mut out = Vec::new();
    let count = reader.u2()?;
    put(&mut out, &[count]);
    for _ in 0..count {
        let (start, length) = (usize::from(reader.u2()?), usize::from(reader.u2()?));
        let end = offsets.next(start.checked_add(length)?);
        let start = offsets.next(start);
        let length = u16::try_from(end.checked_sub(start)?).ok()?;
        put(&mut out, &[u16::try_from(start).ok()?, length]);
        put(&mut out, &[reader.u2()?, reader.u2()?, reader.u2()?]);
    }
    Some(out)
}

/// Returns the fields that an initialiser assigns, by name.
pub(super) fn is_of(names: &HashSet<(Name, Name)>) -> impl Fn(&Reference) -> bool {
    move |field| names.contains(&(field.name.clone(), field.descriptor.clone()))
}
