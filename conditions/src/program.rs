//! A condition as branches that only go forward.

use std::collections::HashMap;

use crate::condition::{
    Comparison, Condition, Function, Literal, Operand, Path, Root, Show, Test, Value, Watch,
};

/// Where a branch leads to: the number of a branch that was made before it, or an end.
pub(crate) type Target = u16;
/// The call is kept.
pub(crate) const KEPT: Target = u16::MAX;
/// The call is left out.
pub(crate) const LEFT_OUT: Target = u16::MAX - 1;

/// What is asked of the calls of a method, as it is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Each leads to lower numbers only.
    pub(crate) branches: Box<[Branch]>,
    pub(crate) start: Target,
    slots: Box<[Slot]>,
    stack: Option<u8>,
    arguments: bool,
    watch: Watch,
}

/// A value that is read from the objects of a call before the condition is evaluated.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// Which value.
    pub path: Path,
    /// Whether as much as possible is kept of a text, because it is compared.
    pub is_compared: bool,
}

/// One test, and where it leads to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Branch {
    pub test: CompiledTest,
    pub then: Target,
    pub otherwise: Target,
}

/// A [`Test`] whose values have numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CompiledTest {
    Holds(Source),
    Compare(Source, Comparison, Source),
    Text(Source, Function, Source),
}

/// Where a value comes from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Literal(Literal),
    Duration,
    Threw,
    Thread,
    Depth,
    Arguments,
    /// What was returned, or read from it: not there if an exception left the method.
    Returned(u8),
    /// The exception, or what was read from it: not there if the method returned.
    Thrown(u8),
    Slot(u8),
}

impl Program {
    /// Compiles what is asked.
    #[must_use]
    pub fn of(watch: &Watch) -> Self {
        let mut compiler = Compiler::default();
        for path in watch.paths() {
            compiler.slot(path, false);
        }
        let start = match &watch.when {
            Some(condition) => compiler.condition(condition, KEPT, LEFT_OUT),
            None => KEPT,
        };
        let stack = watch.show.iter().filter_map(|show| match show {
            Show::Stack(frames) => Some(*frames),
            _ => None,
        });
        Self {
            branches: compiler.branches.into(),
            start,
            slots: compiler.slots.into(),
            stack: stack.max(),
            arguments: watch.show.contains(&Show::Arguments),
            watch: watch.clone(),
        }
    }

    /// What it was made of.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The values that it reads from objects.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The values that are read from one object, with their numbers.
    pub fn slots_of(&self, root: Root) -> impl Iterator<Item = (u8, &Slot)> {
        let numbered = (0..).zip(&self.slots);
        numbered.filter(move |(_, slot)| slot.path.root == root)
    }

    /// Whether anything is read from this object.
    #[must_use]
    pub fn reads(&self, root: Root) -> bool {
        self.slots_of(root).next().is_some()
    }

    /// How many frames of the call stack are shown, if any are.
    #[must_use]
    pub fn stack(&self) -> Option<u8> {
        self.stack
    }

    /// Whether every argument is shown.
    #[must_use]
    pub fn shows_arguments(&self) -> bool {
        self.arguments
    }
}

#[derive(Default)]
struct Compiler {
    branches: Vec<Branch>,
    slots: Vec<Slot>,
    numbers: HashMap<Path, u8>,
}

impl Compiler {
    /// The number of a value.
    fn slot(&mut self, path: &Path, is_compared: bool) -> u8 {
        let number = *self.numbers.entry(path.clone()).or_insert_with(|| {
            self.slots.push(Slot {
                path: path.clone(),
                is_compared: false,
            });
            (self.slots.len() - 1) as u8 // at most MAX_SLOTS
        });
        if let Some(slot) = self.slots.get_mut(usize::from(number)) {
            slot.is_compared |= is_compared;
        }
        number
    }

    /// The first branch of a condition that leads to `then` where it holds.
    fn condition(&mut self, condition: &Condition, then: Target, otherwise: Target) -> Target {
        match condition {
            Condition::Not(part) => self.condition(part, otherwise, then),
            Condition::All(parts) => {
                let parts = parts.iter().rev();
                parts.fold(then, |then, part| self.condition(part, then, otherwise))
            }
            Condition::Any(parts) => {
                let parts = parts.iter().rev();
                parts.fold(otherwise, |otherwise, part| {
                    self.condition(part, then, otherwise)
                })
            }
            Condition::Test(test) => {
                let test = self.test(test);
                self.branches.push(Branch {
                    test,
                    then,
                    otherwise,
                });
                (self.branches.len() - 1) as Target // at most MAX_TESTS
            }
        }
    }

    fn test(&mut self, test: &Test) -> CompiledTest {
        match test {
            Test::Holds(value) => CompiledTest::Holds(self.value(value)),
            Test::Compare(left, comparison, right) => {
                CompiledTest::Compare(self.operand(left), *comparison, self.operand(right))
            }
            Test::Text(of, function, what) => {
                CompiledTest::Text(self.value(of), *function, self.operand(what))
            }
        }
    }

    fn operand(&mut self, operand: &Operand) -> Source {
        match operand {
            Operand::Literal(literal) => Source::Literal(literal.clone()),
            Operand::Value(value) => self.value(value),
        }
    }

    fn value(&mut self, value: &Value) -> Source {
        match value {
            Value::Duration => Source::Duration,
            Value::Threw => Source::Threw,
            Value::Thread => Source::Thread,
            Value::Depth => Source::Depth,
            Value::Arguments => Source::Arguments,
            Value::Path(path) => {
                let number = self.slot(path, true);
                match path.root {
                    Root::Returned => Source::Returned(number),
                    Root::Thrown => Source::Thrown(number),
                    Root::Argument(_) | Root::This => Source::Slot(number),
                }
            }
        }
    }
}
