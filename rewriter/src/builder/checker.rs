//! Checks the edits of a plan against the class.

use crate::class::{ClassFile, Code, Instruction, Instructions, begins, branch_offset};
use crate::edits::{Change, ClassEdit};
use crate::index::{Bci, MethodIndex};
use crate::plan::{Action, Edit, EditPlan, InsertionPoint, Location, PlanError, SkipReason};
use crate::replace::ChangedMethod;
use crate::snippet::Snippet;
use crate::splice::Analysis;
use crate::structure::{ClassChecker, allowed, fits};
use crate::typing::Hierarchy;
use jvms::opcode;

/// Checks edits against one class; caches the last method.
#[derive(Debug)]
pub struct PlanChecker<'c, 'a> {
    class: &'c ClassFile<'a>,
    current: Option<(MethodIndex, Code<'c, 'a>)>,
    /// Instruction starts by bci, see [`begins`].
    starts: Vec<u8>,
    /// The class edits checked so far.
    class_edits: Option<ClassChecker<'c, 'a>>,
}

impl<'c, 'a> PlanChecker<'c, 'a> {
    /// Creates a checker for `class`.
    #[must_use]
    pub fn new(class: &'c ClassFile<'a>) -> Self {
        Self::with(class, Vec::new())
    }

    /// Does the same as [`PlanChecker::new`] with the memory of an earlier checker.
    #[must_use]
    pub fn with(class: &'c ClassFile<'a>, memory: Vec<u8>) -> Self {
        PlanChecker {
            class,
            current: None,
            starts: memory,
            class_edits: None,
        }
    }

    /// Returns its memory for the next checker and discards the cached checks.
    #[must_use]
    pub fn take_memory(&mut self) -> Vec<u8> {
        self.current = None;
        self.class_edits = None;
        std::mem::take(&mut self.starts)
    }

    /// Checks that `point` exists.
    ///
    /// # Errors
    /// Names the missing item.
    pub fn check(&mut self, point: InsertionPoint) -> Result<(), PlanError> {
        let method = point.method;
        let code = self.select(method)?;
        if self.is_common(code.bytes(), point.location) {
            return Ok(());
        }
        self.check_decoded(&code, point)
    }

    /// Checks the point by decoding its instruction.
    fn check_decoded(&self, code: &Code<'c, 'a>, point: InsertionPoint) -> Result<(), PlanError> {
        let method = point.method;
        match point.location {
            Location::Entry | Location::Unwind => Ok(()),
            Location::Before(bci) | Location::At(bci) => {
                self.instruction(method, code, bci).map(drop)
            }
            Location::FallThrough(bci) => {
                let instruction = self.instruction(method, code, bci)?;
                let next = instruction.next() as usize;
                if opcode::falls_through(instruction.opcode) && next < code.bytes().len() {
                    return Ok(());
                }
                Err(PlanError::NoFallThrough {
                    method,
                    bci,
                    mnemonic: instruction.mnemonic(),
                })
            }
            Location::Jump { source, target } => {
                let instruction = self.instruction(method, code, source)?;
                if jumps_to(&instruction, target) && self.begins(target) {
                    return Ok(());
                }
                let mnemonic = instruction.mnemonic();
                Err(PlanError::NoJump {
                    method,
                    bci: source,
                    mnemonic,
                    target,
                })
            }
        }
    }

    /// Checks for a common location without decoding the instruction, which takes longer.
    fn is_common(&self, code: &[u8], location: Location) -> bool {
        let opcode = |bci: Bci| code.get(usize::from(bci)).copied();
        match location {
            Location::FallThrough(bci) if self.begins(bci) => opcode(bci).is_some_and(|opcode| {
                let length = usize::from(opcode::length(opcode));
                let next = usize::from(bci) + length;
                length > 0 && opcode::falls_through(opcode) && next < code.len()
            }),
            Location::Jump { source, target } if self.begins(source) && self.begins(target) => {
                let distance = i32::from(target.0) - i32::from(source.0);
                opcode(source).is_some_and(opcode::is_conditional)
                    && branch_offset(code, usize::from(source)) == Some(distance)
            }
            Location::Before(bci) | Location::At(bci) => self.begins(bci),
            _ => false,
        }
    }

    /// Checks that all these points exist, and that the types of `snippet` fit there. The code of each method is
    /// analysed once, whatever the number of points.
    ///
    /// # Errors
    /// The first misfit in the first method that has one.
    pub fn check_snippets(
        &mut self,
        points: &[InsertionPoint],
        snippet: &Snippet,
    ) -> Result<(), PlanError> {
        let mut sorted = points.to_vec();
        sorted.sort_by_key(|point| point.method);
        for group in sorted.chunk_by(|a, b| a.method == b.method) {
            let mut plan = EditPlan::new();
            let action = Action::Insert(plan.keep(snippet.clone())?);
            for point in group {
                self.check(*point)?;
                let point = *point;
                plan.push(Edit { point, action })?;
            }
            self.analyse(&plan)?;
        }
        Ok(())
    }

    /// Checks the types of a plan's edits, which are in one method.
    fn analyse(&mut self, plan: &EditPlan) -> Result<(), PlanError> {
        let Some(Edit { point, .. }) = plan.edits().first().copied() else {
            return Ok(());
        };
        let code = self.select(point.method)?;
        let order: Vec<u64> = (0..plan.edits().len() as u64).collect();
        let analysed = Analysis::of(self.class, point.method, &code, plan, &order);
        analysed.map(drop).map_err(|reason| match reason {
            SkipReason::Snippet { location, error } => PlanError::Snippet {
                point: InsertionPoint { location, ..point },
                error,
            },
            SkipReason::Unreadable(error) => PlanError::Unreadable {
                method: point.method,
                error,
            },
            reason => PlanError::NotThere {
                point,
                reason: Box::new(reason),
            },
        })
    }

    /// Checks that a change suits all these instructions; as [`PlanChecker::check_snippets`].
    ///
    /// # Errors
    /// An instruction does not exist, or the change does not suit it.
    pub fn check_changes(
        &mut self,
        at: &[(MethodIndex, Bci)],
        change: &Change,
    ) -> Result<(), PlanError> {
        let mut sorted = at.to_vec();
        sorted.sort_by_key(|(method, _)| *method);
        for group in sorted.chunk_by(|a, b| a.0 == b.0) {
            let Some((method, _)) = group.first() else {
                continue;
            };
            self.changes(*method, group, change)?;
        }
        Ok(())
    }

    /// Checks changes in one method.
    fn changes(
        &mut self,
        method: MethodIndex,
        at: &[(MethodIndex, Bci)],
        change: &Change,
    ) -> Result<(), PlanError> {
        let code = self.select(method)?;
        let missing = PlanError::NoCode { method };
        let found = self.class.method(method).ok_or(missing)?;
        let known = Hierarchy::of(self.class);
        let target = ChangedMethod::new(self.class, &found, &code, &known);
        for (_, bci) in at {
            let bci = *bci;
            self.instruction(method, &code, bci)?;
            let resolved = target.resolve(bci, change).map(drop);
            resolved.map_err(|error| PlanError::Change { method, bci, error })?;
        }
        if !matches!(change, Change::Around(around) if around.is_branching()) {
            return Ok(());
        }
        let mut plan = EditPlan::new();
        for (_, bci) in at {
            plan.change(method, *bci, change.clone())?;
        }
        self.analyse(&plan)
    }

    /// Checks an edit of the class, after the edits checked before. `loaded` means that the JVM has loaded the class
    /// already.
    ///
    /// # Errors
    /// The edit does not suit the class, or the JVM would reject it.
    pub fn check_class_edit(&mut self, edit: &ClassEdit, loaded: bool) -> Result<(), PlanError> {
        fits(self.class, edit)?;
        if loaded {
            allowed(self.class, edit)?;
        }
        let class = self.class;
        let known = self
            .class_edits
            .get_or_insert_with(|| ClassChecker::new(class));
        Ok(known.check(edit)?)
    }

    /// Begins a new plan: discards the class edits checked before.
    pub fn begin(&mut self) {
        self.class_edits = None;
    }

    fn begins(&self, bci: Bci) -> bool {
        begins(&self.starts, bci)
    }

    fn instruction(
        &self,
        method: MethodIndex,
        code: &Code<'c, 'a>,
        bci: Bci,
    ) -> Result<Instruction<'a>, PlanError> {
        let missing = PlanError::NotAnInstruction { method, bci };
        if !self.begins(bci) {
            return Err(missing);
        }
        let found = Instructions::from(code.bytes(), usize::from(bci), 0).next();
        found.and_then(Result::ok).ok_or(missing)
    }

    /// Reads the method and marks the starts of its instructions.
    fn select(&mut self, method: MethodIndex) -> Result<Code<'c, 'a>, PlanError> {
        if let Some((current, code)) = &self.current
            && *current == method
        {
            return Ok(*code);
        }
        self.current = None;
        let count = self.class.methods().len() as u32;
        let found = self
            .class
            .method(method)
            .ok_or(PlanError::NoSuchMethod { method, count })?;
        let unreadable = |error| PlanError::Unreadable { method, error };
        let code = found
            .code()
            .map_err(unreadable)?
            .ok_or(PlanError::NoCode { method })?;
        self.starts.clear();
        match self.class.decoded_map(method) {
            Some(marks) => self.starts.extend_from_slice(marks),
            None => code.visit_opcodes(|_, _| {}).map_err(unreadable)?,
        }
        self.current = Some((method, code));
        Ok(code)
    }
}

/// Checks whether the branch or switch can jump to `target`. A `jsr` is a call, not a jump, and has no edge of its own.
fn jumps_to(instruction: &Instruction<'_>, target: Bci) -> bool {
    !opcode::is_subroutine_call(instruction.opcode)
        && instruction.targets().any(|found| found == target)
}

impl EditPlan {
    /// Checks that every insertion point exists in `class`.
    ///
    /// # Errors
    /// The first missing point.
    pub fn check(&self, class: &ClassFile<'_>) -> Result<(), PlanError> {
        let mut checker = PlanChecker::new(class);
        self.edits()
            .iter()
            .try_for_each(|edit| checker.check(edit.point))
    }

    /// Returns this plan, if every insertion point exists in `class`.
    ///
    /// # Errors
    /// The first missing point.
    pub fn checked(self, class: &ClassFile<'_>) -> Result<Self, PlanError> {
        self.check(class).map(|()| self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPES: &[u8] = include_bytes!("../../tests/fixtures/release25/Shapes.class");

    /// Tests every location between any two bcis of short methods.
    #[test]
    fn common_locations_exist_and_most_locations_are_common() {
        let class = ClassFile::read(SHAPES).unwrap();
        let mut checker = PlanChecker::new(&class);
        let (mut common, mut others) = (0, 0);
        for method in class.methods().filter(|method| method.has_code()) {
            let method = method.index();
            let code = checker.select(method).unwrap();
            let length = code.bytes().len().min(120) as u16 + 2;
            let bcis = (0..length).map(Bci);
            let jumps = bcis.clone().flat_map(|source| {
                let target = move |target| Location::Jump { source, target };
                (0..length).map(Bci).map(target)
            });
            let places = bcis.flat_map(|bci| {
                [
                    Location::Before(bci),
                    Location::At(bci),
                    Location::FallThrough(bci),
                ]
            });
            for location in jumps.chain(places) {
                let is_common = checker.is_common(code.bytes(), location);
                let point = InsertionPoint { method, location };
                let exists = checker.check_decoded(&code, point).is_ok();
                assert!(exists || !is_common, "{point}");
                common += usize::from(is_common);
                others += usize::from(exists && !is_common);
            }
        }
        assert!(
            common > 500 && others > 0 && others < common / 10,
            "{common} {others}"
        );
    }
}
