//! The instructions that a method and each of its subroutines reach.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use jvms::opcode;

use rewriter::{Code, Instruction, PoolIndex};

/// A row of the exception table with instruction numbers instead of bcis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Handler {
    pub start: usize,
    /// The first instruction after the range, or the number of instructions.
    pub end: usize,
    pub target: usize,
    pub catch_type: PoolIndex,
}

/// The code of a method; its instructions are numbered in their order.
#[derive(Debug)]
pub(super) struct Body<'a> {
    pub instructions: Vec<Instruction<'a>>,
    pub handlers: Vec<Handler>,
    /// The number of the instruction at each bci; that of the end is the number of instructions.
    numbers: BTreeMap<u32, usize>,
}

impl<'a> Body<'a> {
    /// Reads the code. Fails if it is malformed.
    pub(super) fn read(code: &Code<'_, 'a>) -> Option<Self> {
        let instructions: Vec<_> = code.instructions().collect::<Result<_, _>>().ok()?;
        let begins = instructions.iter().map(|found| u32::from(found.bci.0));
        let end = instructions.last()?.next();
        let numbers = begins.chain([end]).zip(0..).collect();
        let mut body = Self {
            instructions,
            handlers: Vec::new(),
            numbers,
        };
        let rows = code.exception_table().map(|row| {
            Some(Handler {
                start: body.number(u32::from(row.start.0))?,
                end: body.number(u32::from(row.end))?,
                target: body.number(u32::from(row.handler.0))?,
                catch_type: row.catch_type,
            })
        });
        body.handlers = rows.collect::<Option<_>>()?;
        Some(body)
    }

    /// Returns the number of the instruction at a bci; the end of the code has one, too.
    pub(super) fn number(&self, bci: u32) -> Option<usize> {
        self.numbers.get(&bci).copied()
    }

    /// Returns the target of a branch, `goto` or `jsr`.
    pub(super) fn target(&self, instruction: &Instruction<'_>) -> Option<usize> {
        let target = self.number(u32::from(instruction.branch_target()?.0))?;
        (target < self.instructions.len()).then_some(target)
    }

    /// Adds the instructions that may follow in the same subroutine. Fails if a jump leaves the code.
    fn add_next(&self, number: usize, next: &mut Vec<usize>) -> Option<()> {
        let instruction = self.instructions.get(number)?;
        let found = instruction.opcode;
        let is_call = opcode::is_subroutine_call(found);
        if opcode::is_branch(found) && !is_call {
            next.push(self.target(instruction)?);
        }
        if let Some(switch) = instruction.switch() {
            for target in switch.targets() {
                next.push(self.number(u32::from(target.0))?);
            }
        }
        if opcode::falls_through(found) {
            next.push(number + 1);
        }
        Some(())
    }
}

/// Flags of the instructions that a subroutine, or the method itself, reaches without a `jsr`.
pub(super) type Reached = Vec<bool>;

/// The reach of the method and of its subroutines.
#[derive(Debug)]
pub(super) struct Reach {
    /// Sets by the first instruction of each subroutine; the method itself has set 0.
    subroutines: BTreeMap<usize, usize>,
    sets: Vec<Reached>,
    /// Instructions in more than one set.
    shared: Vec<bool>,
}

impl Reach {
    /// Follows the code. Fails if a path leaves it.
    pub(super) fn of(body: &Body<'_>) -> Option<Self> {
        let mut sets = vec![closure(body, 0)?];
        let mut subroutines = BTreeMap::new();
        for instruction in &body.instructions {
            if !opcode::is_subroutine_call(instruction.opcode) {
                continue;
            }
            let first = body.target(instruction)?;
            if let Entry::Vacant(entry) = subroutines.entry(first) {
                entry.insert(sets.len());
                sets.push(closure(body, first)?);
            }
        }
        let count = |number: usize| sets.iter().filter(|set| has(set, number)).count();
        let shared = (0..body.instructions.len()).map(|number| count(number) > 1);
        Some(Self {
            shared: shared.collect(),
            subroutines,
            sets,
        })
    }

    /// Returns the set of the subroutine that begins at an instruction.
    pub(super) fn subroutine(&self, first: usize) -> Option<usize> {
        self.subroutines.get(&first).copied()
    }

    /// Checks whether this set has an instruction.
    pub(super) fn reaches(&self, set: usize, number: usize) -> bool {
        self.sets.get(set).is_some_and(|set| has(set, number))
    }

    /// Checks whether several sets have an instruction.
    pub(super) fn is_shared(&self, number: usize) -> bool {
        has(&self.shared, number)
    }
}

fn has(set: &[bool], number: usize) -> bool {
    set.get(number).copied().unwrap_or(false)
}

/// Collects the instructions reachable from one, even through exception handlers.
fn closure(body: &Body<'_>, first: usize) -> Option<Reached> {
    let mut reached = vec![false; body.instructions.len()];
    let mut open = vec![first];
    loop {
        while let Some(number) = open.pop() {
            if !std::mem::replace(reached.get_mut(number)?, true) {
                body.add_next(number, &mut open)?;
            }
        }
        let covers = |range: &[bool]| range.contains(&true);
        let next = body.handlers.iter().find(|handler| {
            let range = reached.get(handler.start..handler.end);
            !has(&reached, handler.target) && range.is_some_and(covers)
        });
        match next {
            Some(handler) => open.push(handler.target),
            None => return Some(reached),
        }
    }
}
