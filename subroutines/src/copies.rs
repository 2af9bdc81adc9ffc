//! The copies of subroutines, and the resulting code.

use std::ops::Range;

use jvms::opcode::{self, Form};

use crate::reach::{Body, Reach};
use rewriter::limits::MAX_CODE_LENGTH;
use rewriter::{Bci, Code, Instruction};

/// Bytes of `aconst_null` and `goto_w`, which replace a `jsr`.
const CALL: usize = 6;
/// Bytes of a `goto_w`, which replaces a `ret`.
const RETURN: usize = 5;

/// A copy of a subroutine for one call; the first is the method itself.
#[derive(Debug)]
struct Copy {
    /// The copy that has the call.
    parent: Option<usize>,
    /// The number of the subroutine's set in [`Reach`].
    set: usize,
    /// The pieces that belong to it.
    pieces: Range<usize>,
    /// The piece that makes the call.
    call: usize,
}

/// An instruction of a copy, with its bci in the new code.
#[derive(Debug, Clone, Copy)]
struct Piece {
    copy: usize,
    /// The number of the instruction in the method.
    number: usize,
    bci: usize,
    /// The copy that a `jsr` leads to, or a `ret` comes back from.
    other: usize,
}

/// The code of a method with a copy of a subroutine for each call.
#[derive(Debug)]
pub(super) struct Copies<'r> {
    reach: &'r Reach,
    copies: Vec<Copy>,
    pieces: Vec<Piece>,
    length: usize,
}

impl<'r> Copies<'r> {
    /// Creates a copy for each call. Fails if a subroutine calls itself, or the code exceeds its limit.
    pub(super) fn make(body: &Body<'_>, reach: &'r Reach) -> Option<Self> {
        let mut all = Self {
            reach,
            copies: vec![Copy {
                parent: None,
                set: 0,
                pieces: 0..0,
                call: 0,
            }],
            pieces: Vec::new(),
            length: 0,
        };
        let mut copy = 0;
        while copy < all.copies.len() {
            all.add_pieces(copy, body)?;
            copy += 1;
        }
        Some(all)
    }

    fn add_pieces(&mut self, copy: usize, body: &Body<'_>) -> Option<()> {
        let first = self.pieces.len();
        for (number, instruction) in body.instructions.iter().enumerate() {
            if self.owner(copy, number) != Some(copy) {
                continue;
            }
            let falls = opcode::falls_through(instruction.opcode);
            if falls && self.owner(copy, number + 1) != Some(copy) {
                return None; // into code of a caller, which lies elsewhere
            }
            let other = match instruction.opcode {
                opcode::JSR | opcode::JSR_W => self.add_copy(copy, body.target(instruction)?)?,
                opcode::RET => self.returned_from(copy, number)?,
                _ => 0,
            };
            self.pieces.push(Piece {
                copy,
                number,
                bci: self.length,
                other,
            });
            self.length += length(instruction, self.length);
            if self.length > MAX_CODE_LENGTH {
                return None;
            }
        }
        self.copies.get_mut(copy)?.pieces = first..self.pieces.len();
        Some(())
    }

    /// Creates a copy for the call in the next piece.
    fn add_copy(&mut self, parent: usize, first: usize) -> Option<usize> {
        let set = self.reach.subroutine(first)?;
        if self.with_parents(parent).any(|copy| copy.set == set) {
            return None;
        }
        self.copies.push(Copy {
            parent: Some(parent),
            set,
            pieces: 0..0,
            call: self.pieces.len(),
        });
        Some(self.copies.len() - 1)
    }

    /// Returns the copy, its caller, and so on.
    fn with_parents(&self, copy: usize) -> impl Iterator<Item = &Copy> {
        let get = |copy: usize| self.copies.get(copy);
        std::iter::successors(get(copy), move |copy| get(copy.parent?))
    }

    /// Returns the copy and its callers that reach an instruction.
    fn reaching(&self, copy: usize, number: usize) -> impl Iterator<Item = usize> {
        let parent = |copy: &usize| self.copies.get(*copy)?.parent;
        let all = std::iter::successors(Some(copy), parent);
        all.filter(move |copy| {
            let copy = self.copies.get(*copy);
            copy.is_some_and(|copy| self.reach.reaches(copy.set, number))
        })
    }

    /// Returns the copy that owns an instruction reached by `copy`: the outermost, if several subroutines share it.
    fn owner(&self, copy: usize, number: usize) -> Option<usize> {
        let mut reaching = self.reaching(copy, number);
        let own = reaching.next().filter(|found| *found == copy)?;
        match self.reach.is_shared(number) {
            true => Some(reaching.last().unwrap_or(own)),
            false => Some(own),
        }
    }

    /// Returns the copy that ends with this `ret`; the method itself never does.
    fn returned_from(&self, copy: usize, number: usize) -> Option<usize> {
        let outermost = self.reaching(copy, number).last()?;
        self.copies.get(outermost)?.parent.map(|_| outermost)
    }

    /// Returns the new bci of the first instruction of a copy with this number or a higher one, or that of the copy's
    /// end.
    fn place(&self, copy: usize, number: usize) -> Option<usize> {
        let range = self.copies.get(copy)?.pieces.clone();
        let own = self.pieces.get(range.clone())?;
        let after = own.partition_point(|piece| piece.number < number);
        let next = self.pieces.get(range.start + after);
        Some(next.map_or(self.length, |piece| piece.bci))
    }

    /// Returns the new bci of the target of a jump in a copy.
    fn target(&self, copy: usize, number: usize) -> Option<usize> {
        self.place(self.owner(copy, number)?, number)
    }

    /// Returns the contents of the `Code` attribute.
    pub(super) fn code_attribute(
        &self,
        code: &Code<'_, '_>,
        body: &Body<'_>,
        class: &[u8],
    ) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        out.extend_from_slice(&code.max_stack().to_be_bytes());
        out.extend_from_slice(&code.max_locals().to_be_bytes());
        out.extend_from_slice(&u32::try_from(self.length).ok()?.to_be_bytes());
        for piece in &self.pieces {
            self.write(piece, body, &mut out)?;
        }
        self.write_handlers(body, &mut out)?;
        let mut tables: Vec<(u16, Vec<u8>)> = Vec::new();
        for attribute in code.attributes() {
            let name = attribute.name_index(class).0;
            let rows = attribute.bytes.get(2..).unwrap_or_default();
            let rows = match attribute.name.as_bytes() {
                b"LineNumberTable" => self.lines(body, rows.as_chunks().0)?,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => {
                    self.variables(body, rows.as_chunks().0)?
                }
                _ => continue,
            };
            tables.push((name, rows));
        }
        out.extend_from_slice(&u16::try_from(tables.len()).ok()?.to_be_bytes());
        for (name, rows) in tables {
            out.extend_from_slice(&name.to_be_bytes());
            out.extend_from_slice(&u32::try_from(rows.len()).ok()?.to_be_bytes());
            out.extend_from_slice(&rows);
        }
        Some(out)
    }

    fn write(&self, piece: &Piece, body: &Body<'_>, out: &mut Vec<u8>) -> Option<()> {
        let instruction = body.instructions.get(piece.number)?;
        let target = |number: usize| self.target(piece.copy, number);
        match instruction.opcode {
            opcode::JSR | opcode::JSR_W => {
                out.push(opcode::ACONST_NULL);
                let first = body.target(instruction)?;
                let place = self.target(piece.other, first)?;
                write_wide(out, opcode::GOTO_W, piece.bci + 1, place)
            }
            opcode::RET => {
                let call = self.copies.get(piece.other)?.call;
                let place = self.pieces.get(call)?.bci + CALL;
                write_wide(out, opcode::GOTO_W, piece.bci, place)
            }
            found if opcode::is_switch(found) => self.write_switch(piece, instruction, body, out),
            found if opcode::is_branch(found) => {
                let place = target(body.target(instruction)?)?;
                match opcode::form(found) {
                    Form::BranchWide => write_wide(out, found, piece.bci, place),
                    _ => write_short(out, found, piece.bci, place),
                }
            }
            _ => {
                out.extend_from_slice(instruction.bytes());
                Some(())
            }
        }
    }

    fn write_switch(
        &self,
        piece: &Piece,
        instruction: &Instruction<'_>,
        body: &Body<'_>,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let place = |bci: Option<Bci>| {
            let number = body.number(u32::from(bci?.0))?;
            distance(piece.bci, self.target(piece.copy, number)?)
        };
        let switch = instruction.switch()?;
        out.push(instruction.opcode);
        out.resize(out.len() + padding(piece.bci), 0);
        out.extend_from_slice(&place(switch.default_target())?.to_be_bytes());
        let is_table = instruction.opcode == opcode::TABLESWITCH;
        let keys: Vec<i32> = switch.cases().map(|(key, _)| key).collect();
        if is_table {
            // The range is that of the instruction, even without cases.
            let header = padding(instruction.bci.0.into()) + 5;
            out.extend_from_slice(instruction.bytes().get(header..header + 8)?);
        } else {
            out.extend_from_slice(&i32::try_from(keys.len()).ok()?.to_be_bytes());
        }
        for (key, target) in switch.cases() {
            if !is_table {
                out.extend_from_slice(&key.to_be_bytes());
            }
            out.extend_from_slice(&place(target)?.to_be_bytes());
        }
        Some(())
    }

    fn write_handlers(&self, body: &Body<'_>, out: &mut Vec<u8>) -> Option<()> {
        let mut rows = Vec::new();
        let mut count = 0_u16;
        for copy in 0..self.copies.len() {
            for handler in &body.handlers {
                let (start, end) = (
                    self.place(copy, handler.start)?,
                    self.place(copy, handler.end)?,
                );
                if start >= end {
                    continue;
                }
                count = count.checked_add(1)?;
                for place in [start, end, self.target(copy, handler.target)?] {
                    rows.extend_from_slice(&u16::try_from(place).ok()?.to_be_bytes());
                }
                rows.extend_from_slice(&handler.catch_type.0.to_be_bytes());
            }
        }
        out.extend_from_slice(&count.to_be_bytes());
        out.extend_from_slice(&rows);
        Some(())
    }

    /// Returns a `LineNumberTable` (JVMS 4.7.12).
    fn lines(&self, body: &Body<'_>, lines: &[[u8; 4]]) -> Option<Vec<u8>> {
        let mut of_instruction: Vec<(usize, [u8; 2])> = Vec::new();
        for [b0, b1, line @ ..] in lines {
            let bci = u32::from(u16::from_be_bytes([*b0, *b1]));
            of_instruction.extend(body.number(bci).map(|number| (number, *line)));
        }
        of_instruction.sort_by_key(|(number, _)| *number);
        let mut rows = Rows::default();
        for piece in &self.pieces {
            let first = of_instruction.partition_point(|(number, _)| *number < piece.number);
            let found = of_instruction.iter().skip(first);
            for (_, line) in found.take_while(|(number, _)| *number == piece.number) {
                rows.add(&[&u16::try_from(piece.bci).ok()?.to_be_bytes(), line])?;
            }
        }
        Some(rows.bytes)
    }

    /// Returns a `LocalVariableTable` or `LocalVariableTypeTable` (JVMS 4.7.13, 4.7.14).
    fn variables(&self, body: &Body<'_>, variables: &[[u8; 10]]) -> Option<Vec<u8>> {
        let mut rows = Rows::default();
        for copy in 0..self.copies.len() {
            for [s0, s1, l0, l1, rest @ ..] in variables {
                let start = u32::from(u16::from_be_bytes([*s0, *s1]));
                let end = start + u32::from(u16::from_be_bytes([*l0, *l1]));
                let (Some(start), Some(end)) = (body.number(start), body.number(end)) else {
                    continue;
                };
                let (start, end) = (self.place(copy, start)?, self.place(copy, end)?);
                if start < end {
                    let [start, length] = [start, end - start].map(u16::try_from);
                    let (start, length) = (start.ok()?, length.ok()?);
                    rows.add(&[&start.to_be_bytes(), &length.to_be_bytes(), rest])?;
                }
            }
        }
        Some(rows.bytes)
    }
}

/// A table with the number of its rows first.
#[derive(Debug)]
struct Rows {
    bytes: Vec<u8>,
}

impl Default for Rows {
    fn default() -> Self {
        Self { bytes: vec![0, 0] }
    }
}

impl Rows {
    fn add(&mut self, parts: &[&[u8]]) -> Option<()> {
        let (count, _) = self.bytes.split_first_chunk_mut::<2>()?;
        *count = u16::from_be_bytes(*count).checked_add(1)?.to_be_bytes();
        parts
            .iter()
            .for_each(|part| self.bytes.extend_from_slice(part));
        Some(())
    }
}

/// Returns the bytes of an instruction's replacement at a bci.
fn length(instruction: &Instruction<'_>, bci: usize) -> usize {
    match instruction.opcode {
        opcode::JSR | opcode::JSR_W => CALL,
        opcode::RET => RETURN,
        found if opcode::is_switch(found) => {
            let own = padding(instruction.bci.0.into());
            instruction.bytes().len() - own + padding(bci)
        }
        _ => instruction.bytes().len(),
    }
}

/// Returns the bytes between the opcode of a switch and its operands.
fn padding(bci: usize) -> usize {
    (bci | 3) - bci
}

fn distance(from: usize, to: usize) -> Option<i32> {
    Some(i32::try_from(to).ok()? - i32::try_from(from).ok()?)
}

/// Writes a 32-bit branch.
fn write_wide(out: &mut Vec<u8>, opcode: u8, from: usize, to: usize) -> Option<()> {
    out.push(opcode);
    out.extend_from_slice(&distance(from, to)?.to_be_bytes());
    Some(())
}

/// Writes a 16-bit branch. Fails if its target is too far.
fn write_short(out: &mut Vec<u8>, opcode: u8, from: usize, to: usize) -> Option<()> {
    let distance = i16::try_from(distance(from, to)?).ok()?;
    out.push(opcode);
    out.extend_from_slice(&distance.to_be_bytes());
    Some(())
}
