//! Outcomes of decisions: the source construct that a branch of an instruction implements.
//!
//! Compilers negate conditions, so an opcode alone does not show which branch is `true`. The targets of neighbouring
//! conditions do.

use std::collections::HashMap;

use jvms::descriptor::{BaseType, FieldType, Parameters};
use jvms::{access_flags::ACC_STATIC, opcode};

use super::input::targets;
use crate::class::{CodeDescription, Constant, Dynamic, Instruction, MethodDescription, Operand};
use crate::filter::Replacement;
use crate::flow::InstructionKind;
use crate::model::Outcome;

/// Maximum number of steps through the conditions of one expression.
const LONGEST_EXPRESSION: usize = 64;
/// The class whose bootstrap methods find the case of a pattern.
const SWITCHES: &str = "java/lang/runtime/SwitchBootstraps";
/// Maximum number of named cases that share their code.
const MAX_CASES: usize = 8;
/// Maximum number of characters of a string.
const LONGEST_TEXT: usize = 40;

/// Determines the outcomes of one method's branches.
pub(super) struct Outcomes<'a> {
    pub(super) method: &'a MethodDescription<'a>,
    pub(super) code: &'a CodeDescription<'a>,
    pub(super) is_kotlin: bool,
}

/// The meaning of the keys of a `switch`.
enum Keys {
    /// Numbers of the source.
    Numbers,
    /// Characters of the source.
    Characters,
    /// Numbers that the compiler assigned to strings, classes or constants.
    Named(HashMap<i32, String>),
    /// Numbers defined in another class or at run time, such as those of enums.
    Unknown,
}

impl<'a> Outcomes<'a> {
    /// Returns the outcomes of an instruction's branches, by number; empty if it is no decision.
    pub(super) fn of(&self, index: usize) -> Vec<Outcome> {
        let Some(instruction) = self.code.instructions.get(index) else {
            return Vec::new();
        };
        match (
            InstructionKind::of(instruction.opcode),
            &instruction.operand,
        ) {
            (InstructionKind::Branch, Operand::Target(_)) => {
                self.of_jump(index, instruction.opcode).into()
            }
            (InstructionKind::Switch, Operand::Switch { default, cases }) => {
                self.of_switch(index, *default, cases)
            }
            _ => Vec::new(),
        }
    }

    /// Returns the outcomes of branches that a filter made from those of other instructions.
    pub(super) fn of_replacement(&self, index: usize, by: &Replacement) -> Vec<Outcome> {
        let is_null_check = matches!(self.opcode(index), Some(opcode::IFNULL | opcode::IFNONNULL));
        if is_null_check && by.branches().count() == 2 {
            return vec![Outcome::Null, Outcome::NotNull]; // the order of the safe call filter
        }
        if self.is_pattern(index, by) {
            return self.of(index); // the order of the record pattern filter
        }
        let is_switch =
            self.opcode(index).map(InstructionKind::of) == Some(InstructionKind::Switch);
        let of_group = |group: &[(usize, u32)]| {
            let outcomes = group
                .iter()
                .map(|&(at, branch)| match self.of_pair(at, branch) {
                    Outcome::Unknown if is_switch && at != index => self.of_case(at, branch),
                    outcome => outcome,
                });
            let known = outcomes.filter(|outcome| *outcome != Outcome::Unknown);
            let first = |first: Outcome, next| match next {
                Outcome::Default => next,
                _ => first,
            };
            known.reduce(first).unwrap_or(Outcome::Unknown)
        };
        by.branches().map(of_group).collect()
    }

    /// Checks whether the branches are those of a record pattern after `instanceof`.
    fn is_pattern(&self, index: usize, by: &Replacement) -> bool {
        let before = index.checked_sub(1).and_then(|before| self.opcode(before));
        let is_own = |group: &[(usize, u32)]| group.iter().any(|(at, _)| *at == index);
        before == Some(opcode::INSTANCEOF)
            && by.branches().count() == 2
            && by.branches().any(is_own)
    }

    /// Returns the outcome of a test of record components that leads to a case.
    fn of_case(&self, at: usize, branch: u32) -> Outcome {
        let target = match branch {
            0 => self.instruction(at + 1).map(|next| next.bci),
            _ => self.jump(at).map(|(_, target)| target),
        };
        let line = target.and_then(|target| self.line(target));
        line.map_or(Outcome::Unknown, Outcome::Line)
    }

    /// Returns the outcome of one branch in a replacement; for a comparison with a string, its case.
    fn of_pair(&self, at: usize, branch: u32) -> Outcome {
        let outcome = match InstructionKind::of(self.opcode(at).unwrap_or_default()) {
            InstructionKind::Switch => self.of(at).into_iter().nth(branch as usize),
            InstructionKind::Branch => {
                let is_equal = (self.opcode(at) == Some(opcode::IFNE)) == (branch == 1);
                let text = self.compared_text(at).filter(|_| is_equal);
                text.map(|text| Outcome::Cases(quoted(text).into()))
            }
            _ => None,
        };
        outcome.unwrap_or(Outcome::Unknown)
    }

    /// Returns the outcomes for falling through and for jumping.
    fn of_jump(&self, index: usize, opcode: u8) -> [Outcome; 2] {
        let jumps_when_true = match opcode {
            opcode::IFNULL if self.is_kotlin => return [Outcome::NotNull, Outcome::Null],
            opcode::IFNONNULL if self.is_kotlin => return [Outcome::Null, Outcome::NotNull],
            _ => self.jumps_when_true(index),
        };
        match jumps_when_true {
            Some(true) => [Outcome::False, Outcome::True],
            Some(false) => [Outcome::True, Outcome::False],
            None => {
                let line = self.jump(index).and_then(|(_, target)| self.line(target));
                let back = line.map_or(Outcome::Unknown, Outcome::Back);
                [Outcome::On, back]
            }
        }
    }

    /// Checks whether a true condition jumps; `None` if the code does not show it.
    ///
    /// A false condition jumps over the code that it guards, and a true one jumps back to the start of a loop. In `a
    /// || b` the first condition jumps to the code that the last one guards. So its jump has the outcome with which
    /// the last one falls through; likewise in `a && b || c`.
    fn jumps_when_true(&self, mut index: usize) -> Option<bool> {
        let instructions = self.code.instructions;
        let mut is_negated = false;
        for _ in 0..LONGEST_EXPRESSION {
            let Some((from, target)) = self.jump(index) else {
                break;
            };
            if self.is_guard(index, target) {
                return Some(!is_negated);
            }
            if target <= from {
                let repeats = self.repeats_when_true(index, target)?;
                return Some(repeats != is_negated);
            }
            let behind = instructions.binary_search_by_key(&target, |at| at.bci);
            let last = behind.ok().and_then(|behind| behind.checked_sub(1));
            let Some(last) = last.filter(|last| *last > index) else {
                break;
            };
            if self.jump(last).is_none_or(|(_, beyond)| beyond <= target) {
                break;
            }
            (index, is_negated) = (last, !is_negated);
        }
        Some(is_negated)
    }

    /// Checks whether a true condition jumps back to the start of a loop, which is at `target`.
    ///
    /// It does at the end of the loop, as in `do … while (a)`. It does not in `for (;;) { if (a) break; }`, where a
    /// jump over the last statement of the loop leads back. If the program returns next, both are possible.
    fn repeats_when_true(&self, index: usize, target: u16) -> Option<bool> {
        let instructions = self.code.instructions;
        let goto = |at: usize| match (self.opcode(at)?, self.operand(at)?) {
            (opcode::GOTO | opcode::GOTO_W, Operand::Target(target)) => Some(*target),
            _ => None,
        };
        let begin = instructions.binary_search_by_key(&target, |at| at.bci);
        let before = begin.ok().and_then(|begin| begin.checked_sub(1));
        let bci = instructions.get(index)?.bci;
        // Compilers that test at the end jump over the body of a loop first.
        if before
            .and_then(goto)
            .is_some_and(|first| first > target && first <= bci)
        {
            return Some(true);
        }
        let behind = |at: usize| self.instruction(at).map(|behind| behind.bci);
        if goto(index + 1).is_some_and(|end| behind(index + 2) == Some(end)) {
            return Some(false);
        }
        let mut rest = index + 1..instructions.len();
        if rest.clone().any(|at| goto(at) == Some(target)) {
            return Some(false);
        }
        let jumps = |at: &usize| self.jump(*at).is_some_and(|(_, to)| to == target);
        if let Some(last) = rest.rfind(jumps)
            && !self.repeats_when_true(last, target)?
        {
            return Some(false);
        }
        let next = self.opcode(index + 1).map(InstructionKind::of);
        (next != Some(InstructionKind::Exit)).then_some(true)
    }

    /// Checks for the condition of a `case … when`: if it is false, the `switch` starts again after this case.
    fn is_guard(&self, index: usize, target: u16) -> bool {
        let [store, again] = [2, 3].map(|steps| self.instruction(index + steps));
        let Some(again) = again.filter(|again| again.opcode == opcode::GOTO) else {
            return false;
        };
        let is_skipped = self
            .instruction(index + 4)
            .is_some_and(|body| body.bci == target);
        let is_number = self.int(index + 1).is_some();
        let is_stored = store.is_some_and(|store| {
            matches!(
                store.opcode,
                opcode::ISTORE | opcode::ISTORE_0..=opcode::ISTORE_3
            )
        });
        is_skipped && is_number && is_stored && self.begins_switch(again)
    }

    /// Checks whether a jump leads to the code that finds the case of a pattern.
    fn begins_switch(&self, jump: &Instruction<'_>) -> bool {
        let Operand::Target(target) = jump.operand else {
            return false;
        };
        let instructions = self.code.instructions;
        let begin = instructions.binary_search_by_key(&target, |at| at.bci);
        let code = begin.map_or(&[][..], |begin| &instructions[begin..]);
        let site = code.iter().take(3).find_map(|at| match &at.operand {
            Operand::Dynamic(site) => Some(site),
            _ => None,
        });
        site.is_some_and(|site| site.bootstrap.owner == SWITCHES)
    }

    /// Returns bci and target of a conditional jump.
    fn jump(&self, index: usize) -> Option<(u16, u16)> {
        let instruction = self.code.instructions.get(index)?;
        match (
            InstructionKind::of(instruction.opcode),
            &instruction.operand,
        ) {
            (InstructionKind::Branch, Operand::Target(target)) => Some((instruction.bci, *target)),
            _ => None,
        }
    }

    /// Returns the outcomes for each target, the default first.
    fn of_switch(&self, index: usize, default: u16, cases: &[(i32, u16)]) -> Vec<Outcome> {
        let keys = self.keys(index);
        let mut of_target: HashMap<u16, Vec<i32>> = HashMap::new();
        let others = cases.iter().filter(|(_, target)| *target != default);
        others.for_each(|&(key, target)| of_target.entry(target).or_default().push(key));
        let mut outcomes = Vec::new();
        for target in targets(default, cases) {
            if target == default && outcomes.is_empty() {
                outcomes.push(Outcome::Default);
            } else if let Some(of_case) = of_target.remove(&target) {
                let names = of_case.iter().map(|key| keys.name(*key));
                let names: Option<Vec<String>> = names.collect();
                outcomes.push(match names {
                    Some(names) => Outcome::Cases(listed(&names).into()),
                    None => self.line(target).map_or(Outcome::Unknown, Outcome::Line),
                });
            }
        }
        outcomes
    }

    /// Determines the meaning of a `switch`'s keys from the instruction that pushes the value.
    fn keys(&self, index: usize) -> Keys {
        let Some(value) = index.checked_sub(1) else {
            return Keys::Numbers;
        };
        match (self.opcode(value), self.operand(value)) {
            (Some(opcode::IALOAD), _) => Keys::Unknown,
            (_, Some(Operand::Member(member))) if member.name == "ordinal" => Keys::Unknown,
            (_, Some(Operand::Member(member)))
                if (member.owner, member.name) == ("java/lang/String", "hashCode") =>
            {
                Keys::Unknown
            }
            (_, Some(Operand::Dynamic(site))) if site.bootstrap.owner == SWITCHES => {
                Keys::Named(labels(site))
            }
            (
                Some(opcode::ILOAD | opcode::ILOAD_0..=opcode::ILOAD_3),
                Some(Operand::Local(local)),
            ) => self.keys_of_local(value, *local),
            _ if self.is_character(value) => Keys::Characters,
            _ => Keys::Numbers,
        }
    }

    /// Determines the meaning of a local variable's keys from the preceding stores.
    fn keys_of_local(&self, before: usize, local: u16) -> Keys {
        let mut named = HashMap::new();
        for at in (1..before).rev() {
            if !self.stores(at, local) {
                continue;
            }
            match (self.int(at - 1), self.compared_text_before(at - 1)) {
                (Some(number), Some(text)) => {
                    named.insert(number, quoted(text));
                }
                (Some(-1), None) if !named.is_empty() => return Keys::Named(named),
                _ if self.is_character(at - 1) => return Keys::Characters,
                _ => return Keys::Numbers,
            }
        }
        match self.is_character_parameter(local) {
            true => Keys::Characters,
            false => Keys::Numbers,
        }
    }

    fn stores(&self, at: usize, local: u16) -> bool {
        matches!(
            self.opcode(at),
            Some(opcode::ISTORE | opcode::ISTORE_0..=opcode::ISTORE_3)
        ) && self.operand(at) == Some(&Operand::Local(local))
    }

    /// Checks whether the instruction pushes a character.
    fn is_character(&self, at: usize) -> bool {
        match (self.opcode(at), self.operand(at)) {
            (Some(opcode::CALOAD | opcode::I2C), _) => true,
            (_, Some(Operand::Member(member))) => {
                member.descriptor == "C" || member.descriptor.ends_with(")C")
            }
            _ => false,
        }
    }

    fn is_character_parameter(&self, local: u16) -> bool {
        let is_static = self.method.access_flags & ACC_STATIC != 0;
        let mut slot = u16::from(!is_static);
        for parameter in Parameters::of(self.method.descriptor.as_bytes()) {
            if slot == local {
                return parameter == FieldType::Base(BaseType::Char);
            }
            slot += parameter.slots();
        }
        false
    }

    /// Returns the string that the condition at `at` compares for equality.
    fn compared_text(&self, at: usize) -> Option<&'a str> {
        let [text, call] = [at.checked_sub(2)?, at.checked_sub(1)?];
        match (self.operand(text), self.operand(call)) {
            (Some(Operand::Constant(Constant::String(text))), Some(Operand::Member(called)))
                if (called.owner, called.name) == ("java/lang/String", "equals") =>
            {
                Some(text)
            }
            _ => None,
        }
    }

    /// Returns the string whose equality leads to the instruction at `at`.
    fn compared_text_before(&self, at: usize) -> Option<&'a str> {
        let condition = at.checked_sub(1)?;
        let is_skipped = self.opcode(condition) == Some(opcode::IFEQ);
        self.compared_text(condition).filter(|_| is_skipped)
    }

    /// Returns the `int` constant that the instruction pushes.
    fn int(&self, at: usize) -> Option<i32> {
        let instruction = self.code.instructions.get(at)?;
        match (instruction.opcode, &instruction.operand) {
            (code @ opcode::ICONST_M1..=opcode::ICONST_5, _) => {
                Some(i32::from(code) - i32::from(opcode::ICONST_0))
            }
            (opcode::BIPUSH | opcode::SIPUSH, Operand::Int(value)) => Some(*value),
            (_, Operand::Constant(Constant::Int(value))) => Some(*value),
            _ => None,
        }
    }

    /// Returns the line of the instruction at a bci.
    fn line(&self, bci: u16) -> Option<u32> {
        let lines = self.code.lines.iter().filter(|line| line.bci <= bci);
        let last = lines.max_by_key(|line| line.bci)?;
        Some(u32::from(last.number))
    }

    fn instruction(&self, at: usize) -> Option<&'a Instruction<'a>> {
        self.code.instructions.get(at)
    }

    fn opcode(&self, at: usize) -> Option<u8> {
        Some(self.instruction(at)?.opcode)
    }

    fn operand(&self, at: usize) -> Option<&'a Operand<'a>> {
        Some(&self.instruction(at)?.operand)
    }
}

impl Keys {
    /// Returns a key as it appears in the source.
    fn name(&self, key: i32) -> Option<String> {
        match self {
            Self::Numbers => Some(key.to_string()),
            Self::Characters => {
                let character = u32::try_from(key).ok().and_then(char::from_u32)?;
                Some(format!("'{}'", character.escape_debug()))
            }
            Self::Named(names) => names.get(&key).cloned(),
            Self::Unknown => None,
        }
    }
}

/// Returns the labels of a `switch` over patterns, by number (`java.lang.runtime.SwitchBootstraps`).
fn labels(site: &Dynamic<'_>) -> HashMap<i32, String> {
    let names = site.arguments.iter().map(|label| match label {
        Constant::Class(name) => Some(simple(name)),
        Constant::String(text) => Some(quoted(text)),
        Constant::Int(number) => Some(number.to_string()),
        _ => None,
    });
    let numbered = (0..).zip(names);
    let null = std::iter::once((-1, Some("null".to_owned())));
    let known = null
        .chain(numbered)
        .filter_map(|(key, name)| Some((key, name?)));
    known.collect()
}

fn simple(name: &str) -> String {
    let name = jvms::names::without_package(name);
    name.rsplit('$').next().unwrap_or(name).to_owned()
}

fn quoted(text: &str) -> String {
    let mut shown: String = text.chars().take(LONGEST_TEXT).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    format!("\"{}\"", shown.escape_debug())
}

/// Joins names as `1, 2`; only the first ones of a long list.
fn listed(names: &[String]) -> String {
    let first = names.iter().take(MAX_CASES).map(String::as_str);
    let first: Vec<&str> = first.collect();
    match names.len().saturating_sub(MAX_CASES) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
