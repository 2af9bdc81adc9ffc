//! Index of the instructions of a class: starts, jumps and exits, computed once.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::class::code::{CodeLayout, part};
use crate::class::instruction::{decode, undecodable};
use crate::class::instruction_map::{InstructionMap, LEADS, Marked, is_start, look_up, step};
use crate::class::jumps::{FoundJump, jump};
use crate::class::record::MethodRecord;
use crate::error::ReadError;
use crate::index::MethodIndex;
use jvms::opcode;

/// One method in the tables of a [`CodeIndex`].
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// Offset of its code in the class file.
    code: u32,
    /// Range of its bytes in the index.
    start: u32,
    end: u32,
    /// Range of its jumps.
    first_jump: u32,
    last_jump: u32,
    /// True if all its instructions can be decoded.
    decoded: bool,
    /// True if all its jumps lead into the code.
    inside: bool,
}

/// The instructions of all methods of a class.
#[derive(Debug, Default)]
pub(crate) struct CodeIndex {
    methods: Vec<Entry>,
    /// One byte for each bci; the methods follow one another.
    marks: Vec<u8>,
    jumps: Vec<FoundJump>,
}

impl CodeIndex {
    fn read(&mut self, bytes: &[u8], layouts: &[CodeLayout]) {
        self.methods.clear();
        self.marks.clear();
        self.jumps.clear();
        for layout in layouts {
            let start = self.marks.len() as u32;
            self.marks.extend(look_up(part(bytes, layout.code)));
            self.methods.push(Entry {
                code: layout.code.0,
                start,
                end: self.marks.len() as u32,
                decoded: true,
                inside: true,
                ..Entry::default()
            });
        }
        if !self.walk_together(bytes) {
            self.walk_each(bytes);
        }
        self.find_jumps(bytes);
    }

    /// Indexes one code array.
    #[cfg(test)]
    pub(crate) fn of(&mut self, code: &[u8]) -> Result<InstructionMap<'_>, ReadError> {
        let code_layout = CodeLayout {
            code: (0, code.len() as u32),
            ..CodeLayout::default()
        };
        self.read(code, &[code_layout]);
        self.method(MethodIndex(0), code)
    }

    /// Marks the starts of all instructions; returns false if one cannot be decoded.
    ///
    /// If all can be decoded, each method ends at the start of the next one, so one walk covers all methods. Each step
    /// depends on the one before, so two walks over the halves run side by side.
    fn walk_together(&mut self, bytes: &[u8]) -> bool {
        let end = self.marks.len();
        let half = (end >> 1) as u32;
        let index = self.methods.partition_point(|entry| entry.start < half);
        let middle = self
            .methods
            .get(index)
            .map_or(end, |entry| entry.start as usize);
        let (mut first, mut second) = (0, middle);
        while first < middle && second < end {
            first = self.step(first, bytes);
            second = self.step(second, bytes);
        }
        while first < middle {
            first = self.step(first, bytes);
        }
        while second < end {
            second = self.step(second, bytes);
        }
        let begins =
            |entry: &Entry| entry.start == entry.end || is_start(&self.marks, entry.start as usize);
        first == middle && second == end && self.methods.iter().all(begins)
    }

    /// Marks the instruction at `at` and returns the start of the next one.
    #[inline(always)]
    fn step(&mut self, at: usize, bytes: &[u8]) -> usize {
        match self.marks.get_mut(at).and_then(step) {
            Some(length) => at + length,
            None => self.step_over(at, bytes),
        }
    }

    /// Does the same for a switch or `wide`; returns a position far after the end for malformed code.
    #[cold]
    fn step_over(&self, at: usize, bytes: &[u8]) -> usize {
        let behind = self
            .methods
            .partition_point(|entry| entry.start as usize <= at);
        let entry = behind
            .checked_sub(1)
            .and_then(|index| self.methods.get(index));
        let length = entry.and_then(|entry| decode(entry.code(bytes), at - entry.start as usize));
        length.map_or(usize::MAX, |length| at + length)
    }

    /// Marks the instructions method by method, each up to the first that cannot be decoded.
    #[cold]
    fn walk_each(&mut self, bytes: &[u8]) {
        self.marks.clear();
        for entry in &mut self.methods {
            entry.decoded = walk(entry.code(bytes), &mut self.marks).is_ok();
        }
    }

    fn find_jumps(&mut self, bytes: &[u8]) {
        let mut found = Marked::new(&self.marks, LEADS).peekable();
        for entry in &mut self.methods {
            entry.first_jump = self.jumps.len() as u32;
            let code = entry.code(bytes);
            while let Some(at) = found.next_if(|at| *at < entry.end as usize) {
                match jump(code, at - entry.start as usize) {
                    Ok(jump) => self.jumps.push(jump),
                    Err(_) => entry.inside = false,
                }
            }
            entry.last_jump = self.jumps.len() as u32;
        }
    }

    /// Returns the instructions of a method whose jumps all lead into its code; `bytes` is the class file.
    pub(crate) fn method(
        &self,
        method: MethodIndex,
        bytes: &[u8],
    ) -> Result<InstructionMap<'_>, ReadError> {
        let entry = self
            .methods
            .get(usize::from(method))
            .copied()
            .unwrap_or_default();
        if !(entry.decoded && entry.inside)
            && let Some(error) = what_is_wrong(entry.code(bytes))
        {
            return Err(error);
        }
        let jumps = entry.first_jump as usize..entry.last_jump as usize;
        Ok(InstructionMap {
            marks: self.marks_of(&entry),
            jumps: self.jumps.get(jumps).unwrap_or_default(),
        })
    }

    /// Returns the marks of a method whose instructions can all be decoded.
    pub(crate) fn decoded(&self, method: MethodIndex) -> Option<&[u8]> {
        let entry = self.methods.get(usize::from(method))?;
        entry.decoded.then(|| self.marks_of(entry))
    }

    fn marks_of(&self, entry: &Entry) -> &[u8] {
        let marks = self.marks.get(entry.start as usize..entry.end as usize);
        marks.unwrap_or_default()
    }
}

impl Entry {
    fn code<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        part(bytes, (self.code, self.end - self.start))
    }
}

/// Appends the marks of a code array, up to the first instruction that cannot be decoded.
fn walk(code: &[u8], marks: &mut Vec<u8>) -> Result<(), ReadError> {
    let base = marks.len();
    marks.extend(look_up(code));
    let (mut at, mut last) = (0, opcode::NOP);
    while let Some(mark) = marks.get_mut(base + at) {
        last = code.get(at).copied().unwrap_or(opcode::NOP);
        let length = step(mark).or_else(|| decode(code, at));
        at += length.ok_or_else(|| undecodable(last, at, 0))?;
    }
    match at == code.len() {
        true => Ok(()),
        false => Err(undecodable(last, code.len(), 0)),
    }
}

/// Returns the first fault of a code array: an instruction that cannot be decoded, or a jump out of the code.
#[cold]
fn what_is_wrong(code: &[u8]) -> Option<ReadError> {
    let mut marks = Vec::new();
    let walked = walk(code, &mut marks);
    let mut jumps = Marked::new(&marks, LEADS).map(|at| jump(code, at));
    jumps.find_map(Result::err).or(walked.err())
}

/// Code layouts and [`CodeIndex`] of all methods, each computed on first use.
#[derive(Debug, Default)]
pub(super) struct LazyCode {
    layouts: OnceLock<Vec<CodeLayout>>,
    index: OnceLock<CodeIndex>,
    memory: Mutex<CodeMemory>,
}

impl Clone for LazyCode {
    /// A clone starts empty, because everything can be computed again.
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// Memory of an earlier [`LazyCode`].
#[derive(Debug, Default)]
pub(super) struct CodeMemory {
    layouts: Vec<CodeLayout>,
    index: CodeIndex,
}

impl LazyCode {
    pub(super) fn with(memory: CodeMemory) -> Self {
        LazyCode {
            memory: Mutex::new(memory),
            ..LazyCode::default()
        }
    }

    /// Returns its memory for the next one.
    pub(super) fn take_memory(&mut self) -> CodeMemory {
        let memory = self.memory.get_mut();
        let mut memory = std::mem::take(memory.unwrap_or_else(PoisonError::into_inner));
        if let Some(layouts) = self.layouts.take() {
            memory.layouts = layouts;
        }
        if let Some(index) = self.index.take() {
            memory.index = index;
        }
        memory
    }

    /// Takes a part of the memory.
    fn lent<T: Default>(&self, part: impl Fn(&mut CodeMemory) -> &mut T) -> T {
        let memory = self.memory.lock();
        std::mem::take(part(&mut memory.unwrap_or_else(PoisonError::into_inner)))
    }

    /// Returns the layouts by method; empty for a method without readable code.
    #[inline]
    pub(super) fn layouts(&self, bytes: &[u8], records: &[MethodRecord]) -> &[CodeLayout] {
        self.layouts.get_or_init(|| {
            let mut layouts = self.lent(|memory| &mut memory.layouts);
            layouts.clear();
            layouts.extend(records.iter().map(|record| match record.code {
                0 => CodeLayout::default(),
                _ => CodeLayout::read(bytes, record).unwrap_or_default(),
            }));
            layouts
        })
    }

    /// Returns the index of the class with these bytes and methods.
    #[inline]
    pub(super) fn index(&self, bytes: &[u8], records: &[MethodRecord]) -> &CodeIndex {
        self.index.get_or_init(|| {
            let layouts = self.layouts(bytes, records);
            let mut index = self.lent(|memory| &mut memory.index);
            index.read(bytes, layouts);
            index
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::Instructions;
    use crate::class::instruction_map::begins;
    use crate::index::Bci;
    use jvms::opcode::{
        GOTO, GOTO_W, IFEQ, ILOAD, INVOKEINTERFACE, JSR, LOOKUPSWITCH, NOP, RETURN, SIPUSH,
        TABLESWITCH, WIDE, is_switch,
    };
    use proptest::prelude::*;

    /// Generates bytes most of which are valid instructions.
    fn code() -> impl Strategy<Value = Vec<u8>> {
        let switch = |opcode: u8| {
            let behind = vec![
                opcode, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4,
            ];
            Just(behind)
        };
        let piece = prop_oneof![
            8 => Just(vec![NOP]),
            4 => Just(vec![SIPUSH, RETURN, GOTO]),
            2 => (-9_i8..12).prop_map(|by| vec![IFEQ, if by < 0 { 0xFF } else { 0 }, by as u8]),
            1 => (0_u8..20).prop_map(|by| vec![GOTO, 0, by]),
            1 => Just(vec![JSR, 0, 3]),
            1 => Just(vec![GOTO_W, 0, 0, 0, 5]),
            1 => Just(vec![INVOKEINTERFACE, 0, 1, 1, 0]),
            1 => Just(vec![WIDE, ILOAD, 0, 1]),
            1 => Just(vec![RETURN]),
            1 => switch(TABLESWITCH),
            1 => switch(LOOKUPSWITCH),
            1 => any::<u8>().prop_map(|byte| vec![byte]),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    /// Starts of instructions; starts and targets of jumps.
    type Decoded = (Vec<u16>, Vec<(u32, u32)>);

    /// Decodes instruction by instruction, as a reference. `None` if that fails, or a jump leads out of the code.
    fn decoded(code: &[u8]) -> Option<Decoded> {
        let (mut starts, mut jumps) = (Vec::new(), Vec::new());
        for instruction in Instructions::new(code, 0) {
            let instruction = instruction.ok()?;
            starts.push(instruction.bci.0);
            let inside = |target: Bci| usize::from(target) < code.len();
            if is_switch(instruction.opcode) {
                let switch = instruction.switch()?;
                let mut targets = switch.cases().map(|(_, target)| target);
                let whole = switch.default_target().is_some_and(inside)
                    && targets.all(|target| target.is_some_and(inside));
                whole.then_some(())?;
                jumps.push((u32::from(instruction.bci.0), 0));
            } else if matches!(
                opcode::form(instruction.opcode),
                opcode::Form::Branch | opcode::Form::BranchWide
            ) {
                let target = instruction
                    .branch_target()
                    .filter(|target| inside(*target))?;
                jumps.push((u32::from(instruction.bci.0), u32::from(target.0)));
            }
        }
        Some((starts, jumps))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The index of a method does not depend on its neighbours.
        #[test]
        fn index_equals_decoded_instructions(codes in prop::collection::vec(code(), 0..6)) {
            let bytes = codes.concat();
            let mut start = 0;
            let layouts: Vec<CodeLayout> = codes.iter().map(|code| {
                let found = (start, code.len() as u32);
                start += found.1;
                CodeLayout { code: found, ..CodeLayout::default() }
            }).collect();
            let mut index = CodeIndex::default();
            index.read(&bytes, &layouts);
            for (number, code) in codes.iter().enumerate() {
                let method = MethodIndex(number as u16);
                let found = index.method(method, &bytes).ok().map(|found| {
                    let starts = (0..code.len() as u16).filter(|bci| begins(found.marks, Bci(*bci)));
                    let jumps = found.jumps.iter().map(|jump| (jump.bci, jump.target));
                    (starts.collect(), jumps.collect())
                });
                prop_assert_eq!(&found, &decoded(code));
                if found.is_some() {
                    prop_assert!(index.decoded(method).is_some());
                }
                let whole = Instructions::new(code, 0).all(|instruction| instruction.is_ok());
                prop_assert_eq!(index.decoded(method).is_some(), whole);
            }
        }
    }
}
