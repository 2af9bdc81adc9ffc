//! A condition as branches that only go forward.

use std::collections::HashMap;

use crate::condition::{
    About, Comparison, Condition, Function, Literal, NamedField, Operand, Path, Root, Show, Step,
    Test, Value, Watch,
};

/// The target of a branch: the number of an earlier branch, or an end.
pub(crate) type Target = u16;
/// The call is kept.
pub(crate) const KEPT: Target = u16::MAX;
/// The call is dropped.
pub(crate) const LEFT_OUT: Target = u16::MAX - 1;

/// A compiled [`Watch`].
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// Branches; each leads to lower numbers only.
    pub(crate) branches: Box<[Branch]>,
    pub(crate) start: Target,
    slots: Box<[Slot]>,
    variables: Box<[String]>,
    computed: Box<[Value]>,
    stack: Option<u8>,
    arguments: bool,
    watch: Watch,
}

/// A value that is read from the objects of a call before the evaluation.
#[derive(Debug, Clone, PartialEq)]
pub struct Slot {
    /// The path of the value.
    pub path: Path,
    /// The text form in conditions and lists.
    pub name: String,
    /// True if the value is compared, so that as much as possible of a text is kept.
    pub is_compared: bool,
    /// True for a value of the list.
    pub is_shown: bool,
}

/// An instruction that writes a field, in one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriteSite {
    /// The field, as in the operand of the instruction.
    pub field: NamedField,
    /// Set for a static field.
    pub is_static: bool,
    /// The classes that may declare the field: patterns with `*` and `?`, as of [`Function::Matches`].
    pub classes: Vec<String>,
}

/// One test and its two targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Branch {
    pub test: CompiledTest,
    pub then: Target,
    pub otherwise: Target,
}

/// A [`Test`] whose values are slot numbers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CompiledTest {
    Holds(Source),
    Compare(Source, Comparison, Source),
    Text(Source, Function, Source),
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    Literal(Literal),
    Duration,
    Threw,
    Thread,
    Depth,
    Arguments,
    /// The return value, or a value read from it; absent if an exception left the method.
    Returned(u8),
    /// The exception, or a value read from it; absent if the method returned.
    Thrown(u8),
    Slot(u8),
}

impl Program {
    /// Compiles a watch of calls or lines.
    #[must_use]
    pub fn of(watch: &Watch) -> Self {
        Self::compile(watch, watch.when.clone(), None)
    }

    /// Compiles a watch for one instruction that writes a field. Names of other fields match nothing. A write to `null`
    /// throws and matches nothing.
    #[must_use]
    pub fn of_write(watch: &Watch, site: &WriteSite) -> Self {
        let declared = site.is_declared();
        let when = match watch.when.clone() {
            Some(when) => declared.and(when),
            None => declared,
        };
        Self::compile(watch, Some(when), Some(site.clone()))
    }

    /// Compiles a watch for calls of a method with these parameter names; an empty name is unknown.
    #[must_use]
    pub fn of_method(watch: &Watch, parameters: &[String]) -> Self {
        let compiler = Compiler {
            parameters: parameters.to_vec(),
            ..Compiler::default()
        };
        Self::compiled(compiler, watch, watch.when.clone())
    }

    fn compile(watch: &Watch, when: Option<Condition>, write: Option<WriteSite>) -> Self {
        let compiler = Compiler {
            about: watch.about,
            write,
            ..Compiler::default()
        };
        Self::compiled(compiler, watch, when)
    }

    fn compiled(mut compiler: Compiler, watch: &Watch, when: Option<Condition>) -> Self {
        for path in watch.paths() {
            compiler.slot(path, false);
        }
        for show in &watch.show {
            if let Show::Value(path) = show {
                let number = compiler.slot(path, false);
                if let Some(slot) = compiler.slots.get_mut(usize::from(number)) {
                    slot.is_shown = true;
                }
            }
        }
        let start = match &when {
            Some(condition) => compiler.condition(condition, KEPT, LEFT_OUT),
            None => KEPT,
        };
        let stack = watch.show.iter().filter_map(|show| match show {
            Show::Stack(frames) => Some(*frames),
            _ => None,
        });
        let mut computed: Vec<Value> = Vec::new();
        for show in &watch.show {
            if let Show::Computed(value) = show
                && !computed.contains(value)
            {
                computed.push(value.clone());
            }
        }
        let mut variables: Vec<String> = Vec::new();
        for name in compiler.slots.iter().filter_map(|it| it.path.variable()) {
            if !variables.iter().any(|known| known == name) {
                variables.push(name.to_owned());
            }
        }
        Self {
            branches: compiler.branches.into(),
            start,
            slots: compiler.slots.into(),
            variables: variables.into(),
            computed: computed.into(),
            stack: stack.max(),
            arguments: watch.show.contains(&Show::Arguments),
            watch: watch.clone(),
        }
    }

    /// Returns the source of the program.
    #[must_use]
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Returns the values read from objects.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the shown values that are read from no object; their numbers follow those of the slots.
    pub fn computed(&self) -> impl Iterator<Item = (u8, &Value)> {
        let first = u8::try_from(self.slots.len()).unwrap_or(u8::MAX);
        (first..).zip(&self.computed)
    }

    /// Returns the text forms of all values by their numbers.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let slots = self.slots.iter().map(|slot| slot.name.clone());
        slots.chain(self.computed.iter().map(Value::to_string))
    }

    /// Returns the values read from one object, with their numbers.
    pub fn slots_of(&self, root: Root) -> impl Iterator<Item = (u8, &Slot)> {
        let numbered = (0..).zip(&self.slots);
        numbered.filter(move |(_, slot)| slot.path.root == root)
    }

    /// Returns the local variables, or values of a write, from which values are read.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// Returns the values read from the variable with this index, with their numbers.
    pub fn slots_of_variable(&self, index: u8) -> impl Iterator<Item = (u8, &Slot)> {
        let name = self.variables.get(usize::from(index)).map(String::as_str);
        let numbered = (0..).zip(&self.slots);
        numbered.filter(move |(_, slot)| name.is_some() && slot.path.variable() == name)
    }

    /// Checks whether the list shows every local variable.
    #[must_use]
    pub fn shows_locals(&self) -> bool {
        self.watch.show.contains(&Show::Locals)
    }

    /// Checks whether a value is read from this object.
    #[must_use]
    pub fn reads(&self, root: Root) -> bool {
        self.slots_of(root).next().is_some()
    }

    /// Returns the number of shown stack frames, if any.
    #[must_use]
    pub fn stack(&self) -> Option<u8> {
        self.stack
    }

    /// Returns the levels of nested objects that are shown with their fields.
    #[must_use]
    pub fn depth(&self) -> u8 {
        self.watch.depth
    }

    /// Checks whether the list shows every argument.
    #[must_use]
    pub fn shows_arguments(&self) -> bool {
        self.arguments
    }
}

/// Returns the path of a value that a location passes. All values are variables there, even `this` and arguments.
fn as_variable(path: &Path) -> Path {
    let mut variable = match path.root {
        Root::This => Path::local("this"),
        Root::Argument(index) => Path::local(&format!("arg[{index}]")),
        _ => return path.clone(),
    };
    variable.steps.extend_from_slice(&path.steps);
    variable
}

impl WriteSite {
    /// Returns the name of the object that the declaring class is read from; a class for a static field.
    #[must_use]
    pub fn owner(&self) -> &'static str {
        if self.is_static { "class" } else { "object" }
    }

    /// Returns the path of a value of a write. The location passes the value of a static field.
    fn place(&self, path: &Path) -> Path {
        match path.variable() {
            Some("old") if !self.is_static => {
                let mut steps = Path::local("object").steps;
                steps.push(Step::Written(self.field.clone()));
                steps.extend_from_slice(path.from_root());
                Path {
                    root: Root::Local,
                    steps,
                }
            }
            _ => path.clone(),
        }
    }

    /// Creates the condition that one of the classes declares the field, and that the object exists.
    fn is_declared(&self) -> Condition {
        let owner = Path::local(self.owner());
        let mut declarer = owner.clone();
        declarer.steps.push(Step::Declarer(self.field.clone()));
        let matches = |class: &String| {
            let class = Operand::Literal(Literal::Text(class.clone()));
            let declarer = Value::Path(declarer.clone());
            Condition::Test(Test::Text(declarer, Function::Matches, class))
        };
        let mut matching: Vec<Condition> = self.classes.iter().map(matches).collect();
        let is_one = match (matching.len(), matching.pop()) {
            (1, Some(only)) => only,
            (_, last) => {
                matching.extend(last);
                Condition::Any(matching)
            }
        };
        if self.is_static {
            return is_one;
        }
        let object = Operand::Value(Value::Path(owner));
        let null = Operand::Literal(Literal::Null);
        Condition::Test(Test::Compare(object, Comparison::NotEqual, null)).and(is_one)
    }
}

/// Returns the path of a value that begins with a parameter name. The path of an unknown name has no value.
fn of_parameter(path: &Path, parameters: &[String]) -> Path {
    let index = path.variable().and_then(|name| {
        let index = parameters.iter().position(|known| known == name)?;
        u8::try_from(index).ok()
    });
    match index {
        None => path.clone(),
        Some(index) => Path {
            root: Root::Argument(index),
            steps: path.from_root().to_vec(),
        },
    }
}

#[derive(Default)]
struct Compiler {
    about: About,
    /// The names of the method's parameters.
    parameters: Vec<String>,
    write: Option<WriteSite>,
    branches: Vec<Branch>,
    slots: Vec<Slot>,
    numbers: HashMap<Path, u8>,
}

impl Compiler {
    /// Returns the number of a value, allocated on first use.
    fn slot(&mut self, path: &Path, is_compared: bool) -> u8 {
        let (about, write) = (self.about, self.write.as_ref());
        let number = *self.numbers.entry(path.clone()).or_insert_with(|| {
            let path_there = match (about, write) {
                (About::Calls, _) => of_parameter(path, &self.parameters),
                (_, None) => as_variable(path),
                (_, Some(write)) => write.place(&as_variable(path)),
            };
            self.slots.push(Slot {
                path: path_there,
                name: path.to_string(),
                is_compared: false,
                is_shown: false,
            });
            (self.slots.len() - 1) as u8 // at most MAX_SLOTS
        });
        if let Some(slot) = self.slots.get_mut(usize::from(number)) {
            slot.is_compared |= is_compared;
        }
        number
    }

    /// Compiles a condition that continues at `then` if it holds. Returns its first branch.
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
                    Root::Argument(_) | Root::This | Root::Local => Source::Slot(number),
                }
            }
        }
    }
}
