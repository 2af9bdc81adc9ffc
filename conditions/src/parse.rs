//! Parses conditions and lists.

use std::collections::HashSet;

use crate::condition::{
    About, Comparison, Condition, Function, Literal, Operand, Path, Root, Show, Step, Test, Value,
    Watch,
};
use crate::lexer::{self, Span, Token};
use crate::limits::{MAX_DEPTH, MAX_SLOTS, MAX_STACK, MAX_STEPS, MAX_TESTS};
use crate::mistake::{Mistake, quoted};
use crate::value_type::{ValueType, named};

const VALUES: &str = "the name of a parameter, `duration`, `threw`, `thrown`, `arg[0]`, `args.length`, `returned`, `this`, `thread` or `depth`";
const SHOWN: &str = "the name of a parameter, `arg`, `arg[0]`, `returned`, `this`, `thrown`, `thread`, `depth` or `stack(10)`";
const VALUES_HERE: &str =
    "the name of a local variable, `this`, `arg[0]`, `args.length` or `thread`";
const SHOWN_HERE: &str = "the name of a local variable, `locals`, `this`, `arg[0]` or `stack(10)`";
const VALUES_OF_WRITE: &str = "`old`, `new`, `object`, `this`, `arg[0]`, `args.length` or `thread`";
const SHOWN_OF_WRITE: &str = "`old`, `new`, `object`, `this`, `arg[0]` or `stack(10)`";
const IN_QUOTES: &str = "put names of classes and other texts in double quotes";
/// Reserved names that are not parameters.
const OF_EVERY_CALL: [&str; 4] = ["this", "thread", "arg", "args"];
/// Values that exist only for calls.
const OF_CALLS: [&str; 5] = ["duration", "threw", "thrown", "returned", "depth"];
const FUNCTIONS: &str =
    "`contains`, `startsWith`, `endsWith` or `matches`, with a text in parentheses";
const NUMBER_OF_ARGUMENT: &str = "the number of an argument, from 0 to 254";

const COMPARISONS: [(&str, Comparison); 6] = [
    ("==", Comparison::Equal),
    ("!=", Comparison::NotEqual),
    ("<", Comparison::Less),
    ("<=", Comparison::LessOrEqual),
    (">", Comparison::Greater),
    (">=", Comparison::GreaterOrEqual),
];

impl Condition {
    /// Parses a condition over calls.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse(text: &str) -> Result<Self, Mistake> {
        Self::parse_about(text, About::Calls)
    }

    /// Parses a condition.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse_about(text: &str, about: About) -> Result<Self, Mistake> {
        let mut parser = Parser::new(text, about)?;
        let condition = parser.any()?;
        parser.expect_end("`&&`, `||` or the end")?;
        Ok(condition)
    }
}

impl Show {
    /// Parses a list of shown values of calls, separated by commas.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, Mistake> {
        Self::parse_list_about(text, About::Calls)
    }

    /// Parses a list, separated by commas.
    ///
    /// # Errors
    /// The first mistake.
    pub fn parse_list_about(text: &str, about: About) -> Result<Vec<Self>, Mistake> {
        let mut parser = Parser::new(text, about)?;
        let mut list = vec![parser.show()?];
        while parser.takes(",") {
            list.push(parser.show()?);
        }
        parser.expect_end("`,` or the end")?;
        Ok(list)
    }
}

impl Watch {
    /// Adds a list of shown values to a condition.
    ///
    /// # Errors
    /// The first mistake in the list, or too many values in both together (`MAX_SLOTS`).
    pub fn showing(self, text: &str) -> Result<Self, Mistake> {
        let show = Show::parse_list_about(text, self.about)?;
        let both = Self { show, ..self };
        let paths: HashSet<&Path> = both.paths().collect();
        if paths.len() > MAX_SLOTS {
            let expected = format!("at most {MAX_SLOTS} values in condition and list together");
            let found = paths.len().to_string();
            return Err(Mistake::new(text, (0, text.len()), expected, found));
        }
        Ok(both)
    }

    /// Returns the highest index of a used parameter: 7 for `arg[7].name`.
    #[must_use]
    pub fn last_argument(&self) -> Option<u8> {
        let index = |path: &Path| match path.root {
            Root::Argument(index) => Some(index),
            _ => None,
        };
        self.paths().filter_map(index).max()
    }

    /// Returns the names of used parameters or local variables, each once.
    #[must_use]
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for name in self.paths().filter_map(Path::variable) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the values read from objects, in the order of their mention.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let mut found = Vec::new();
        if let Some(condition) = &self.when {
            condition.collect_paths(&mut found);
        }
        let shown = self.show.iter().filter_map(|show| match show {
            Show::Value(path) => Some(path),
            _ => None,
        });
        found.into_iter().chain(shown)
    }
}

impl Condition {
    fn collect_paths<'c>(&'c self, found: &mut Vec<&'c Path>) {
        let mut value = |value: &'c Value| {
            if let Value::Path(path) = value {
                found.push(path);
            }
        };
        let mut operand = |operand: &'c Operand| {
            if let Operand::Value(it) = operand {
                value(it);
            }
        };
        match self {
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().for_each(|part| part.collect_paths(found));
            }
            Self::Not(part) => part.collect_paths(found),
            Self::Test(Test::Holds(it)) => value(it),
            Self::Test(Test::Compare(left, _, right)) => {
                operand(left);
                operand(right);
            }
            Self::Test(Test::Text(of, _, what)) => {
                if let Operand::Value(it) = what {
                    value(it);
                }
                value(of);
            }
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    about: About,
    tokens: Vec<(Token, Span)>,
    at: usize,
    depth: usize,
    tests: usize,
    paths: HashSet<Path>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, about: About) -> Result<Self, Mistake> {
        Ok(Self {
            text,
            about,
            tokens: lexer::tokens(text)?,
            at: 0,
            depth: 0,
            tests: 0,
            paths: HashSet::new(),
        })
    }

    fn peek(&self) -> &Token {
        self.tokens.get(self.at).map_or(&Token::End, |it| &it.0)
    }

    fn span(&self) -> Span {
        let end = (self.text.len(), self.text.len());
        self.tokens.get(self.at).map_or(end, |it| it.1)
    }

    /// Returns the span from `from` to the last consumed token.
    fn span_from(&self, from: usize) -> Span {
        let last = self.at.checked_sub(1).and_then(|at| self.tokens.get(at));
        (from, last.map_or(from, |it| it.1.1))
    }

    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at += 1;
        token
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.peek(), Token::Symbol(found) if *found == symbol)
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = self.is(symbol);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, symbol: &str) -> Result<(), Mistake> {
        if self.takes(symbol) {
            return Ok(());
        }
        Err(self.unexpected(format!("`{symbol}`")))
    }

    fn expect_end(&self, expected: &str) -> Result<(), Mistake> {
        match self.peek() {
            Token::End => Ok(()),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// Creates the mistake for an unexpected next token.
    fn unexpected(&self, expected: impl Into<String>) -> Mistake {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            _ => {
                let (from, to) = self.span();
                let found = self.text.get(from..to).unwrap_or_default();
                quoted(found)
            }
        };
        Mistake::new(self.text, self.span(), expected, found)
    }

    fn any(&mut self) -> Result<Condition, Mistake> {
        let mut parts = vec![self.all()?];
        while self.takes("||") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Condition::Any))
    }

    fn all(&mut self) -> Result<Condition, Mistake> {
        let mut parts = vec![self.part(true)?];
        while self.takes("&&") {
            parts.push(self.part(true)?);
        }
        Ok(one_or(parts, Condition::All))
    }

    /// Parses a test, a condition in parentheses, or the negation of one. A negated comparison needs parentheses.
    fn part(&mut self, may_compare: bool) -> Result<Condition, Mistake> {
        let from = self.span().0;
        let is_negated = self.is("!");
        if !is_negated && !self.is("(") {
            return self.test(may_compare).map(Condition::Test);
        }
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let expected = format!("at most {MAX_DEPTH} `(` and `!` around a test");
            return Err(self.unexpected(expected));
        }
        self.at += 1;
        let part = if is_negated {
            Condition::Not(Box::new(self.part(false)?))
        } else {
            let inner = self.any()?;
            self.expect(")")?;
            inner
        };
        self.depth -= 1;
        if self.comparison().is_some() {
            let span = self.span_from(from);
            let found = "a condition".to_owned();
            return Err(
                Mistake::new(self.text, span, "a value to be compared", found).with_help(
                    "put the negated comparison in parentheses, `!(a == b)`; a compared value has no `!`",
                ),
            );
        }
        Ok(part)
    }

    fn test(&mut self, may_compare: bool) -> Result<Test, Mistake> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            return Err(self.unexpected(format!("at most {MAX_TESTS} tests")));
        }
        let from = self.span();
        let left = self.operand()?;
        let left_span = self.span_from(from.0);
        if let Operand::Value(value) = &left
            && self.is(".")
        {
            return self.function(value.clone(), left_span);
        }
        match self.comparison() {
            Some(comparison) if may_compare => self.compare(left, left_span, comparison),
            Some(_) => Err(Mistake::new(
                self.text,
                left_span,
                "parentheses around the negated comparison",
                named(&left),
            )
            .with_help("write `!(a == b)`")),
            None => self.truth_test(left),
        }
    }

    fn truth_test(&self, operand: Operand) -> Result<Test, Mistake> {
        match operand {
            Operand::Value(value)
                if matches!(
                    ValueType::of_value(&value),
                    ValueType::Any | ValueType::Truth
                ) =>
            {
                Ok(Test::Holds(value))
            }
            other => {
                let mistake = self.unexpected("`==`, `!=`, `<`, `<=`, `>` or `>=`");
                Err(mistake.with_help(format!("{} alone is no condition", named(&other))))
            }
        }
    }

    fn comparison(&self) -> Option<Comparison> {
        let symbol = COMPARISONS.iter().find(|(symbol, _)| self.is(symbol));
        symbol.map(|(_, comparison)| *comparison)
    }

    fn compare(
        &mut self,
        left: Operand,
        left_span: Span,
        comparison: Comparison,
    ) -> Result<Test, Mistake> {
        let kind = ValueType::of(&left);
        let symbol = comparison.symbol();
        let Some(partner) = kind.partner(comparison) else {
            let expected = format!("a number or a duration before `{symbol}`");
            return Err(Mistake::new(self.text, left_span, expected, named(&left)));
        };
        self.at += 1;
        let from = self.span().0;
        let right = self.operand()?;
        if self.comparison().is_some() {
            return Err(self.unexpected("`&&`, `||` or the end"));
        }
        let span = self.span_from(from);
        if is_class_of_thrown(&left) && is_name(&right) {
            let found = quoted(self.text.get(span.0..span.1).unwrap_or_default());
            let mistake = Mistake::new(self.text, span, partner, found);
            return Err(mistake.with_help(IN_QUOTES));
        }
        if kind.is_comparable_with(ValueType::of(&right), comparison) {
            return Ok(Test::Compare(left, comparison, right));
        }
        let mistake = Mistake::new(self.text, span, partner, named(&right));
        Err(match (kind, ValueType::of(&right)) {
            (ValueType::Text, ValueType::Null) => {
                mistake.with_help("use `!threw` for calls without an exception")
            }
            (ValueType::Any, ValueType::Duration) => {
                mistake.with_help("only `duration` is compared with a duration")
            }
            _ => mistake,
        })
    }

    /// Parses `.startsWith(…)` after a value.
    fn function(&mut self, of: Value, span: Span) -> Result<Test, Mistake> {
        self.expect(".")?;
        let named_so = |name: &str| Function::ALL.into_iter().find(|it| it.name() == name);
        let function = match self.peek() {
            Token::Name(name) => named_so(name),
            _ => None,
        };
        let Some(function) = function else {
            return Err(self
                .unexpected(FUNCTIONS)
                .with_help("conditions call no methods; read fields by their names"));
        };
        self.at += 1;
        if !matches!(ValueType::of_value(&of), ValueType::Any | ValueType::Text) {
            let expected = format!("a text before `.{}`", function.name());
            let found = named(&Operand::Value(of));
            return Err(Mistake::new(self.text, span, expected, found));
        }
        self.expect("(")?;
        let from = self.span().0;
        let what = self.operand()?;
        if !matches!(ValueType::of(&what), ValueType::Any | ValueType::Text) {
            let span = self.span_from(from);
            let expected = "a text such as \"x\"";
            return Err(Mistake::new(self.text, span, expected, named(&what)));
        }
        self.expect(")")?;
        Ok(Test::Text(of, function, what))
    }

    fn operand(&mut self) -> Result<Operand, Mistake> {
        let literal = match self.peek().clone() {
            Token::Text(text) => Literal::Text(text),
            Token::Char(unit) => Literal::Char(unit),
            Token::Duration(nanos) => Literal::Duration(nanos),
            Token::Integer(_) | Token::Float(_) | Token::Symbol("-") => {
                return self.number().map(Operand::Literal);
            }
            Token::Name(name) => match name.as_str() {
                "null" => Literal::Null,
                "true" => Literal::Truth(true),
                "false" => Literal::Truth(false),
                _ => return self.value().map(Operand::Value),
            },
            Token::Symbol(_) | Token::End => {
                return Err(self.unexpected("a value, a number, a duration or a text"));
            }
        };
        self.at += 1;
        Ok(Operand::Literal(literal))
    }

    fn number(&mut self) -> Result<Literal, Mistake> {
        let from = self.span().0;
        let is_negative = self.takes("-");
        let number = match self.peek() {
            Token::Integer(number) => {
                let number = i128::from(*number);
                let signed = if is_negative { -number } else { number };
                i64::try_from(signed).ok().map(Literal::Integer)
            }
            Token::Float(number) if is_negative => Some(Literal::Float(-number)),
            Token::Float(number) => Some(Literal::Float(*number)),
            _ => return Err(self.unexpected("a number after `-`")),
        };
        self.at += 1;
        number.ok_or_else(|| {
            let span = self.span_from(from);
            let found = self.text.get(span.0..span.1).unwrap_or_default();
            Mistake::new(self.text, span, "a number below 2^63", quoted(found))
        })
    }

    fn value(&mut self) -> Result<Value, Mistake> {
        let root = match self.peek() {
            Token::Name(name) => name.clone(),
            _ => return Err(self.unexpected(self.values())),
        };
        if self.is_local(&root) {
            self.at += 1;
            return self.path_from(Path::local(&root)).map(Value::Path);
        }
        if self.about == About::Writes && OF_CALLS.contains(&root.as_str()) {
            return Err(self.unexpected(self.values()));
        }
        let simple = match root.as_str() {
            "duration" => Some(Value::Duration),
            "threw" => Some(Value::Threw),
            "thread" => Some(Value::Thread),
            "depth" => Some(Value::Depth),
            _ => None,
        };
        if let Some(value) = simple {
            self.at += 1;
            return Ok(value);
        }
        let root = match root.as_str() {
            "args" => return self.number_of_arguments(),
            "arg" => {
                self.at += 1;
                self.expect("[")?;
                let index = self.index(254, NUMBER_OF_ARGUMENT)?;
                Root::Argument(u8::try_from(index).unwrap_or(u8::MAX))
            }
            "returned" => Root::Returned,
            "this" => Root::This,
            "thrown" => Root::Thrown,
            _ => return Err(self.unexpected(self.values())),
        };
        if !matches!(root, Root::Argument(_)) {
            self.at += 1;
        }
        self.path(root).map(Value::Path)
    }

    fn values(&self) -> &'static str {
        match self.about {
            About::Calls => VALUES,
            About::Places => VALUES_HERE,
            About::Writes => VALUES_OF_WRITE,
        }
    }

    fn shown(&self) -> &'static str {
        match self.about {
            About::Calls => SHOWN,
            About::Places => SHOWN_HERE,
            About::Writes => SHOWN_OF_WRITE,
        }
    }

    /// Checks whether a name is a parameter, a local variable, or a value of a write. A local variable may be called
    /// `arg` or `args`, too, followed by its fields.
    fn is_local(&self, name: &str) -> bool {
        let ahead = |by: usize| self.tokens.get(self.at + by).map(|it| &it.0);
        let is_followed = |symbol| ahead(1) == Some(&Token::Symbol(symbol));
        match (self.about, name) {
            (About::Calls, name) => !OF_EVERY_CALL.contains(&name) && !OF_CALLS.contains(&name),
            (_, "this" | "thread") => false,
            (About::Writes, name) => ["old", "new", "object"].contains(&name),
            (About::Places, "arg") => !is_followed("["),
            (About::Places, "args") => {
                let is_length = matches!(ahead(2), Some(Token::Name(name)) if name == "length");
                !(is_followed(".") && is_length)
            }
            (About::Places, _) => true,
        }
    }

    fn number_of_arguments(&mut self) -> Result<Value, Mistake> {
        self.at += 1;
        self.expect(".")?;
        match self.peek() {
            Token::Name(name) if name == "length" => {
                self.at += 1;
                Ok(Value::Arguments)
            }
            _ => Err(self.unexpected("`length`")),
        }
    }

    /// Parses a number and `]`.
    fn index(&mut self, most: u64, expected: &str) -> Result<u64, Mistake> {
        match *self.peek() {
            Token::Integer(index) if index <= most => {
                self.at += 1;
                self.expect("]")?;
                Ok(index)
            }
            _ => Err(self.unexpected(expected)),
        }
    }

    fn path(&mut self, root: Root) -> Result<Path, Mistake> {
        self.path_from(Path {
            root,
            steps: Vec::new(),
        })
    }

    fn path_from(&mut self, mut path: Path) -> Result<Path, Mistake> {
        while let Some(step) = self.step()? {
            if path.from_root().len() == MAX_STEPS {
                self.at -= 1;
                return Err(self.unexpected(format!("at most {MAX_STEPS} steps from an object")));
            }
            let is_last = step == Step::Class;
            path.steps.push(step);
            if is_last {
                break;
            }
        }
        if path.root == Root::Thrown && path.steps.is_empty() {
            path = Path::thrown_class();
        }
        self.paths.insert(path.clone());
        if self.paths.len() > MAX_SLOTS {
            self.at -= 1;
            return Err(self.unexpected(format!("at most {MAX_SLOTS} different values")));
        }
        Ok(path)
    }

    /// Parses the next step; `None` at the end, or before a function of texts.
    fn step(&mut self) -> Result<Option<Step>, Mistake> {
        if self.takes("[") {
            let most = i32::MAX as u64;
            let index = self.index(most, "the number of an element, from 0")?;
            return Ok(Some(Step::Element(
                u32::try_from(index).unwrap_or(u32::MAX),
            )));
        }
        if !self.is(".") {
            return Ok(None);
        }
        let ahead = |by: usize| self.tokens.get(self.at + by).map(|it| &it.0);
        let is_function = matches!(ahead(2), Some(Token::Symbol("(")));
        let name = match ahead(1) {
            Some(Token::Name(_)) if is_function => return Ok(None),
            Some(Token::Name(name)) => name.clone(),
            _ => {
                self.at += 1;
                return Err(self.unexpected("the name of a field, `length` or `class`"));
            }
        };
        self.at += 2;
        Ok(Some(match name.as_str() {
            "length" => Step::Length,
            "class" => Step::Class,
            _ => Step::Field(name),
        }))
    }

    fn show(&mut self) -> Result<Show, Mistake> {
        let Token::Name(name) = self.peek() else {
            return Err(self.unexpected(self.shown()));
        };
        let ahead = self.tokens.get(self.at + 1).map(|it| &it.0);
        if self.about != About::Calls && !(name == "stack" && ahead == Some(&Token::Symbol("("))) {
            return self.shown_here(&name.clone());
        }
        match name.as_str() {
            "arg" if ahead != Some(&Token::Symbol("[")) => {
                self.at += 1;
                Ok(Show::Arguments)
            }
            "args" if ahead != Some(&Token::Symbol(".")) => {
                self.at += 1;
                Ok(Show::Arguments)
            }
            "stack" => {
                self.at += 1;
                self.expect("(")?;
                let frames = match self.next() {
                    Token::Integer(frames @ 1..) => u8::try_from(frames).ok(),
                    _ => None,
                };
                let Some(frames) = frames.filter(|frames| *frames <= MAX_STACK) else {
                    self.at -= 1;
                    return Err(self.unexpected(format!("a number of frames, 1 to {MAX_STACK}")));
                };
                self.expect(")")?;
                Ok(Show::Stack(frames))
            }
            _ => self.shown_value(),
        }
    }

    /// Parses a shown value of a line or a write. The name of the thread is always shown, so `thread` is a local
    /// variable here.
    fn shown_here(&mut self, name: &str) -> Result<Show, Mistake> {
        let ahead = self.tokens.get(self.at + 1).map(|it| &it.0);
        let is_alone = matches!(ahead, Some(Token::End | Token::Symbol(",")));
        match (self.about, name) {
            (About::Places, "locals") if is_alone => {
                self.at += 1;
                Ok(Show::Locals)
            }
            (About::Places, "thread") => {
                self.at += 1;
                self.path_from(Path::local(name)).map(Show::Value)
            }
            _ => self.shown_value(),
        }
    }

    fn shown_value(&mut self) -> Result<Show, Mistake> {
        Ok(match self.value()? {
            Value::Path(path) => Show::Value(path),
            other => Show::Computed(other),
        })
    }
}

/// Checks whether an operand is the class of the exception.
fn is_class_of_thrown(operand: &Operand) -> bool {
    matches!(operand, Operand::Value(Value::Path(path)) if *path == Path::thrown_class())
}

/// Checks whether an operand is a parameter by its name.
fn is_name(operand: &Operand) -> bool {
    matches!(operand, Operand::Value(Value::Path(path)) if path.root == Root::Local)
}

/// Returns the only part, or joins all parts.
fn one_or(mut parts: Vec<Condition>, join: fn(Vec<Condition>) -> Condition) -> Condition {
    match parts.pop() {
        Some(only) if parts.is_empty() => only,
        last => {
            parts.extend(last);
            join(parts)
        }
    }
}
