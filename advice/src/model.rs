//! Classes with advice, read from class files and checked.

use std::collections::{BTreeSet, HashMap};

use errors::{Error, codes};
use globs::Pattern;
use jvms::access_flags::{ACC_FINAL, ACC_INTERFACE, ACC_PRIVATE, ACC_STATIC};
use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::names;
use rewriter::{ClassFile, DeclaredValue, Method, PoolIndex};

use crate::annotations::Found;
use crate::api::PACKAGE;
use crate::places::Places;
use crate::rows::{self, Recorded};

/// Maximum number of methods with advice in one class, which the guard counts apart.
pub const MAX_HOOKS: usize = 64;

/// The descriptors of types that a setting may have, and their names in Java.
pub(crate) const TYPES: [(&str, &str); 9] = [
    ("Z", "boolean"),
    ("B", "byte"),
    ("C", "char"),
    ("S", "short"),
    ("I", "int"),
    ("J", "long"),
    ("F", "float"),
    ("D", "double"),
    ("Ljava/lang/String;", "String"),
];

/// A class with `@Advice`.
#[derive(Debug, Clone, PartialEq)]
pub struct AdviceClass {
    /// Internal name.
    pub name: String,
    /// File and line of its declaration.
    pub at: String,
    /// The patterns of the methods.
    pub patterns: Vec<String>,
    /// The methods that run in those of the program.
    pub hooks: Vec<Hook>,
    /// The fields that settings change.
    pub settings: Vec<Setting>,
    /// The rows and counts that it records.
    pub recorded: Recorded,
    /// Its class file and those of the classes that it needs, supertypes first.
    pub classes: Vec<Vec<u8>>,
}

/// A field with `@Setting`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its name.
    pub name: String,
    /// Its descriptor.
    pub descriptor: String,
    /// File and line.
    pub at: String,
}

/// The end of a call at which a method of the advice runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// `@OnEntry`.
    Entry,
    /// `@OnExit`.
    Exit,
}

/// The use of a method's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// No result.
    None,
    /// `@FromEntry` reads it.
    Keep,
    /// The body is skipped if it is true: `@OnEntry(skipIf = SkipIf.TRUE)`.
    SkipIfTrue,
    /// The body is skipped if it is not null, and it becomes the result: `@OnEntry(skipIf = SkipIf.NOT_NULL)`.
    SkipIfNotNull,
    /// It becomes this argument: `@ReplaceArgument`.
    Argument(u8),
    /// It becomes the result: `@ReplaceReturned`.
    Returned,
    /// It becomes the exception: `@ReplaceThrown`.
    Thrown,
}

/// A method with `@OnEntry` or `@OnExit`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// Entry or exit.
    pub when: When,
    /// Its name.
    pub method: String,
    /// Its descriptor.
    pub descriptor: String,
    /// The descriptor of its result; `None` for `void`.
    pub result: Option<String>,
    /// The use of its result.
    pub effect: Effect,
    /// File and line.
    pub at: String,
    /// Its parameters, in order.
    pub bindings: Vec<Binding>,
    /// Exceptions reach the program.
    pub rethrow: bool,
    /// Runs where the advised method returns; only at the exit.
    pub on_return: bool,
    /// Runs where an exception leaves the advised method; only at the exit.
    pub on_throw: bool,
}

/// A parameter of a method with advice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binding {
    /// The value that it gets.
    pub value: Value,
    /// The descriptor of its type.
    pub descriptor: String,
}

/// A value of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// `@This`.
    This,
    /// `@Argument`.
    Argument(u8),
    /// `@AllArguments`.
    AllArguments,
    /// `@Returned`.
    Returned,
    /// `@Thrown`.
    Thrown,
    /// `@FromEntry`.
    FromEntry,
    /// `@Method`.
    Method,
}

impl Binding {
    /// Checks whether the type is primitive.
    #[must_use]
    pub fn is_primitive(&self) -> bool {
        !self.descriptor.starts_with(['L', '['])
    }

    /// Returns the slots of a value.
    #[must_use]
    pub fn slots(&self) -> u16 {
        match self.descriptor.as_str() {
            "J" | "D" => 2,
            _ => 1,
        }
    }
}

impl Hook {
    /// Checks whether it gets a value from the entry.
    #[must_use]
    pub fn reads_entry(&self) -> bool {
        let mut bindings = self.bindings.iter();
        bindings.any(|binding| binding.value == Value::FromEntry)
    }

    /// Returns the method as messages name it: `SlowSql.end`.
    #[must_use]
    pub fn called(&self, advice: &AdviceClass) -> String {
        let simple = advice.name.rsplit('/').next().unwrap_or_default();
        format!("{}.{}", simple.replace('$', "."), self.method)
    }
}

/// Reads the classes with `@Advice` among class files, with the sources of some of them, by the name of the file.
///
/// # Errors
/// `H0740` for a class file that cannot be read, no such class, or a mistake in one.
pub fn read(files: &[Vec<u8>], sources: &[(String, String)]) -> Result<Vec<AdviceClass>, Error> {
    let places = Places::new(sources);
    let mut classes = Vec::new();
    for bytes in files {
        let class = ClassFile::read(bytes).map_err(|error| {
            Error::mistake(codes::H0740, "a class file with advice is damaged")
                .with("found", error.to_string())
        })?;
        if !class.this_class().to_str_lossless().starts_with(PACKAGE) {
            classes.push(class);
        }
    }
    let mut found = Vec::new();
    for class in &classes {
        if let Some(advice) = Reader::new(class, &places).advice()? {
            let needed = needed(class, &classes)?;
            found.push(AdviceClass {
                recorded: rows::find(&needed)?,
                classes: needed.iter().map(|it| it.bytes().to_vec()).collect(),
                ..advice
            });
        }
    }
    match found.is_empty() {
        true => Err(nothing()),
        false => Ok(found),
    }
}

/// Returns the error for files without advice.
pub(crate) fn nothing() -> Error {
    Error::mistake(codes::H0740, "no class has advice").with(
        "expected",
        "a class with @Advice(\"CLASS#METHOD\") of io.github.classhook.advice",
    )
}

/// Returns the class and those of the others that it refers to, supertypes first.
fn needed<'c, 'a>(
    of: &ClassFile<'a>,
    all: &'c [ClassFile<'a>],
) -> Result<Vec<&'c ClassFile<'a>>, Error> {
    let name = |class: &ClassFile<'_>| class.this_class().to_str_lossless().into_owned();
    let by_name: HashMap<String, &'c ClassFile<'a>> =
        all.iter().map(|class| (name(class), class)).collect();
    let mut wanted = BTreeSet::new();
    let mut next = vec![name(of)];
    while let Some(name) = next.pop() {
        let Some(class) = by_name.get(&name) else {
            continue;
        };
        if wanted.insert(name) {
            let pool = class.pool();
            let named = (1..pool.count()).filter_map(|index| pool.class_name(PoolIndex(index)));
            next.extend(named.map(|found| {
                let name = found.to_str_lossless();
                let element = name.trim_start_matches('[');
                let element = element.strip_prefix('L').filter(|_| name.starts_with('['));
                let element = element.and_then(|it| it.strip_suffix(';'));
                element.unwrap_or(&name).to_owned()
            }));
        }
    }
    let mut ordered: Vec<&'c ClassFile<'a>> = Vec::new();
    let mut left: Vec<String> = wanted.into_iter().collect();
    while !left.is_empty() {
        let before = left.len();
        let waiting = left.clone();
        left.retain(|name| {
            let Some(class) = by_name.get(name) else {
                return false;
            };
            let mut supertypes = class.super_class().into_iter().chain(class.interfaces());
            let waits = supertypes.any(|it| waiting.contains(&it.to_str_lossless().into_owned()));
            if !waits {
                ordered.push(class);
            }
            waits
        });
        if left.len() == before {
            let text = "the supertypes of the classes of an advice form a circle";
            return Err(Error::mistake(codes::H0740, text).with("found", left.join(", ")));
        }
    }
    Ok(ordered)
}

struct Reader<'c, 'a> {
    class: &'c ClassFile<'a>,
    places: &'c Places,
    file: String,
    name: String,
    simple: String,
}

impl<'c, 'a> Reader<'c, 'a> {
    fn new(class: &'c ClassFile<'a>, places: &'c Places) -> Self {
        let name = class.this_class().to_str_lossless().into_owned();
        let outer = name.split('$').next().unwrap_or_default();
        let file = class.source_file().map_or_else(
            || format!("{outer}.class"),
            |file| file.to_str_lossless().into_owned(),
        );
        let simple = name.rsplit(['/', '$']).next().unwrap_or_default();
        Self {
            class,
            places,
            file,
            simple: simple.to_owned(),
            name,
        }
    }

    fn wrong(&self, at: &str, text: &str) -> Error {
        Error::mistake(codes::H0740, format!("{at}: {text}"))
    }

    fn line_of(&self, method: &Method<'_, '_>) -> String {
        let code = method.code().ok().flatten();
        let line = code.and_then(|code| code.lines().map(|line| line.number).min());
        let name = method.name().to_str_lossless();
        match line {
            Some(line) => self.places.above(&self.file, line, &name, "("),
            None => self.places.first(&self.file, &name, "("),
        }
    }

    /// Reads the class. Returns `None` without `@Advice`.
    fn advice(&self) -> Result<Option<AdviceClass>, Error> {
        let marks = Found::all(self.class.attributes().annotations());
        let mark = marks.iter().find(|found| found.name == "Advice");
        let hooks = self.hooks(mark.is_some())?;
        let settings = self.settings()?;
        let at = self.places.first(&self.file, &self.simple, "{ei");
        let Some(mark) = mark else {
            return Ok(None);
        };
        if self.class.access_flags() & ACC_INTERFACE != 0 {
            return Err(self.wrong(&at, "@Advice belongs to a class, not to an interface"));
        }
        let patterns = mark.texts();
        if patterns.iter().all(|pattern| pattern.starts_with('!')) {
            let text = "@Advice names no methods; expected a pattern such as `com.acme.Shop#find*`";
            return Err(self.wrong(&at, text));
        }
        for pattern in &patterns {
            check_pattern(pattern).map_err(|text| self.wrong(&at, &text))?;
        }
        if hooks.is_empty() {
            let text = "the advice has no method with @OnEntry or @OnExit";
            return Err(self.wrong(&at, text));
        }
        if hooks.len() > MAX_HOOKS {
            let text = format!(
                "expected at most {MAX_HOOKS} methods with @OnEntry and @OnExit, found {}",
                hooks.len()
            );
            return Err(self.wrong(&at, &text));
        }
        self.check_pairs(&hooks)?;
        Ok(Some(AdviceClass {
            name: self.name.clone(),
            at,
            patterns,
            hooks,
            settings,
            recorded: Recorded::default(),
            classes: Vec::new(),
        }))
    }

    fn hooks(&self, is_advice: bool) -> Result<Vec<Hook>, Error> {
        let mut hooks = Vec::new();
        for method in self.class.methods() {
            let marks = Found::all(method.attributes().annotations());
            let named = |name: &str| marks.iter().find(|found| found.name == name);
            let (entry, exit) = (named("OnEntry"), named("OnExit"));
            let (when, mark) = match (entry, exit) {
                (None, None) => continue,
                (Some(mark), None) => (When::Entry, mark),
                (None, Some(mark)) => (When::Exit, mark),
                (Some(_), Some(_)) => {
                    let text = "@OnEntry and @OnExit exclude each other; write two methods";
                    return Err(self.wrong(&self.line_of(&method), text));
                }
            };
            let hook = self.hook(&method, when, mark, &marks)?;
            if !is_advice {
                let text = format!("@{} belongs into a class with @Advice", mark.name);
                return Err(self.wrong(&hook.at, &text));
            }
            // A result that replaces both a result and an exception is used in two ways.
            if hook.effect == Effect::Returned && hook.on_return && hook.on_throw {
                hooks.push(Hook {
                    on_throw: false,
                    ..hook.clone()
                });
                hooks.push(Hook {
                    on_return: false,
                    ..hook
                });
            } else {
                hooks.push(hook);
            }
        }
        Ok(hooks)
    }

    fn hook(
        &self,
        method: &Method<'_, '_>,
        when: When,
        mark: &Found<'_>,
        marks: &[Found<'_>],
    ) -> Result<Hook, Error> {
        let at = self.line_of(method);
        let name = method.name().to_str_lossless().into_owned();
        let annotation = &mark.name;
        if method.access_flags() & ACC_STATIC == 0 {
            let text = format!("the method {name} with @{annotation} has to be static");
            return Err(self.wrong(&at, &text));
        }
        if method.access_flags() & ACC_PRIVATE != 0 {
            let text = format!(
                "the method {name} with @{annotation} is private; the code that calls it is in another class of its package"
            );
            return Err(self.wrong(&at, &text));
        }
        let descriptor = method.descriptor().to_str_lossless().into_owned();
        let result = result_of(&descriptor);
        let bindings = self.bindings(method, when, &at)?;
        let effect = effect_of(when, mark, marks, &name, result.as_deref());
        let effect = effect.map_err(|text| self.wrong(&at, &text))?;
        let on_return = mark.switch("onReturn", effect != Effect::Thrown);
        let on_throw = mark.switch("onThrow", effect != Effect::Returned);
        if effect == Effect::Thrown && on_return {
            let text = format!("{name} replaces an exception, so onReturn has to be false");
            return Err(self.wrong(&at, &text));
        }
        if when == When::Exit && !on_return && !on_throw {
            let text = format!("{name} never runs: both onReturn and onThrow are false");
            return Err(self.wrong(&at, &text));
        }
        Ok(Hook {
            when,
            method: name,
            descriptor,
            result,
            effect,
            at,
            bindings,
            rethrow: mark.switch("rethrow", false),
            on_return,
            on_throw,
        })
    }

    fn bindings(
        &self,
        method: &Method<'_, '_>,
        when: When,
        at: &str,
    ) -> Result<Vec<Binding>, Error> {
        let marks = Found::all(method.attributes().parameter_annotations());
        let descriptor = method.descriptor();
        let Ok(parsed) = MethodDescriptor::parse(descriptor.as_bytes()) else {
            return Err(self.wrong(at, "the descriptor of the method is malformed"));
        };
        let mut bindings = Vec::new();
        for (number, found) in parsed.parameters().enumerate() {
            let own = marks
                .iter()
                .filter(|it| usize::from(it.parameter) == number);
            let own: Vec<&Found<'_>> = own.collect();
            let java = found.to_java(names::binary);
            let mark = match own.as_slice() {
                [mark] => mark,
                [] => {
                    let text = format!(
                        "parameter {number} of type {java} has no annotation; expected one of @This, @Argument, @AllArguments, @Returned, @Thrown, @FromEntry, @Method"
                    );
                    return Err(self.wrong(at, &text));
                }
                [one, other, ..] => {
                    let text = format!(
                        "parameter {number} has @{} and @{}; a parameter gets one value",
                        one.name, other.name
                    );
                    return Err(self.wrong(at, &text));
                }
            };
            let value = value(mark).map_err(|text| self.wrong(at, &text))?;
            if let Some(text) = misuse(value, found, when) {
                return Err(self.wrong(at, &text));
            }
            bindings.push(Binding {
                value,
                descriptor: descriptor_of(found),
            });
        }
        Ok(bindings)
    }

    /// Checks the value that the entry gives to the exit.
    fn check_pairs(&self, hooks: &[Hook]) -> Result<(), Error> {
        let mut givers = hooks.iter().filter(|hook| hook.effect == Effect::Keep);
        let giver = givers.next();
        if let Some(other) = givers.next() {
            let text = format!(
                "two methods with @OnEntry have a result, {} and this one; @FromEntry reads one",
                giver.map_or("", |hook| &hook.method)
            );
            return Err(self.wrong(&other.at, &text));
        }
        let given = giver.and_then(|hook| hook.result.as_deref());
        let mut is_read = false;
        for hook in hooks {
            for binding in &hook.bindings {
                if binding.value != Value::FromEntry {
                    continue;
                }
                is_read = true;
                let Some(given) = given else {
                    let text = "@FromEntry has no value: no method with @OnEntry has a result";
                    return Err(self.wrong(&hook.at, text));
                };
                let is_reference = !binding.is_primitive() && given.starts_with(['L', '[']);
                if binding.descriptor != given && !is_reference {
                    let text = format!(
                        "@FromEntry has the type {}, and the method with @OnEntry returns {}",
                        java(&binding.descriptor),
                        java(given)
                    );
                    return Err(self.wrong(&hook.at, &text));
                }
            }
        }
        for (end, runs) in [
            ("returns", (|hook| hook.on_return) as fn(&Hook) -> bool),
            ("throws", |hook| hook.on_throw),
        ] {
            let mut readers = hooks.iter().filter(|hook| hook.reads_entry() && runs(hook));
            if let (Some(one), Some(other)) = (readers.next(), readers.next()) {
                let text = format!(
                    "two methods with @FromEntry run where the advised method {end}, {} and this one; the value is read once",
                    one.method
                );
                return Err(self.wrong(&other.at, &text));
            }
        }
        match giver {
            Some(hook) if !is_read => {
                let text = format!(
                    "nobody reads the result of {}: no method with @OnExit has @FromEntry",
                    hook.method
                );
                Err(self.wrong(&hook.at, &text))
            }
            _ => Ok(()),
        }
    }

    fn settings(&self) -> Result<Vec<Setting>, Error> {
        let mut settings = Vec::new();
        for field in self.class.fields() {
            let marks = Found::all(field.attributes().annotations());
            if marks.iter().all(|found| found.name != "Setting") {
                continue;
            }
            let name = field.name().to_str_lossless().into_owned();
            let descriptor = field.descriptor().to_str_lossless().into_owned();
            let at = self.places.first(&self.file, &name, "=;");
            let flags = field.access_flags();
            let is_open = flags & ACC_STATIC != 0 && flags & (ACC_FINAL | ACC_PRIVATE) == 0;
            if !is_open || TYPES.iter().all(|(known, _)| *known != descriptor) {
                let text = format!(
                    "the field {name} with @Setting has to be static, neither final nor private, and a number, boolean, char or String"
                );
                return Err(self.wrong(&at, &text));
            }
            settings.push(Setting {
                name,
                descriptor,
                at,
            });
        }
        Ok(settings)
    }
}

/// Checks a pattern, as the plugin parses it.
fn check_pattern(text: &str) -> Result<(), String> {
    let rest = text.strip_prefix('!').unwrap_or(text);
    let marked = ["<:", "@"]
        .into_iter()
        .find_map(|mark| rest.strip_prefix(mark));
    let rest = marked.unwrap_or(rest);
    if rest.starts_with('#') || rest.ends_with('#') {
        return Err(format!(
            "the pattern `{text}` names nothing; expected `CLASS#METHOD`, such as `com.acme.Shop#find*`"
        ));
    }
    let parsed = Pattern::parse(&rest.replacen('#', ".", 1));
    parsed.map(drop).map_err(|error| error.to_string())
}

/// Returns the use of a method's result, from its annotations.
fn effect_of(
    when: When,
    mark: &Found<'_>,
    marks: &[Found<'_>],
    name: &str,
    result: Option<&str>,
) -> Result<Effect, String> {
    let skip = match mark.value("skipIf") {
        Some(DeclaredValue::Enum(_, constant)) => constant.to_str_lossless().into_owned(),
        _ => String::new(),
    };
    let mut found = Vec::new();
    match skip.as_str() {
        "TRUE" => found.push(Effect::SkipIfTrue),
        "NOT_NULL" => found.push(Effect::SkipIfNotNull),
        _ => {}
    }
    for mark in marks {
        found.push(match mark.name.as_str() {
            "ReplaceArgument" => match value_of_argument(mark)? {
                Value::Argument(position) => Effect::Argument(position),
                _ => continue,
            },
            "ReplaceReturned" => Effect::Returned,
            "ReplaceThrown" => Effect::Thrown,
            _ => continue,
        });
    }
    let effect = match (found.as_slice(), result) {
        ([], None) => return Ok(Effect::None),
        ([], Some(_)) if when == When::Entry => return Ok(Effect::Keep),
        ([], Some(_)) => {
            return Err(format!(
                "nobody reads the result of {name}; a method with @OnExit is void, or has @ReplaceReturned or @ReplaceThrown"
            ));
        }
        ([one], Some(_)) => *one,
        ([_], None) => return Err(format!("{name} is void, so it has no value to use")),
        ([_, _, ..], _) => return Err(format!("the result of {name} is used in two ways")),
    };
    let is_of_entry = matches!(
        effect,
        Effect::SkipIfTrue | Effect::SkipIfNotNull | Effect::Argument(_)
    );
    if is_of_entry != (when == When::Entry) {
        let expected = if is_of_entry { "@OnEntry" } else { "@OnExit" };
        return Err(format!(
            "the result of {name} can be used so with {expected} alone"
        ));
    }
    let result = result.unwrap_or_default();
    let expected = match effect {
        Effect::SkipIfTrue if result != "Z" => "boolean",
        Effect::SkipIfNotNull if !result.starts_with(['L', '[']) => "an object",
        Effect::Thrown if !result.starts_with('L') => "an exception",
        _ => return Ok(effect),
    };
    Err(format!(
        "{name} returns {}; expected {expected}",
        java(result)
    ))
}

fn value_of_argument(mark: &Found<'_>) -> Result<Value, String> {
    let name = &mark.name;
    match mark.value("value") {
        Some(DeclaredValue::Integer(number)) => u8::try_from(number)
            .map(Value::Argument)
            .map_err(|_| format!("@{name}({number}): expected a position from 0 to 254")),
        _ => Err(format!("@{name} names no position")),
    }
}

fn value(mark: &Found<'_>) -> Result<Value, String> {
    Ok(match mark.name.as_str() {
        "This" => Value::This,
        "AllArguments" => Value::AllArguments,
        "Returned" => Value::Returned,
        "Thrown" => Value::Thrown,
        "FromEntry" => Value::FromEntry,
        "Method" => Value::Method,
        "Argument" => value_of_argument(mark)?,
        other => return Err(format!("@{other} does not belong to a parameter")),
    })
}

/// Returns the mistake in a parameter with this value and type.
fn misuse(value: Value, found: FieldType<'_>, when: When) -> Option<String> {
    let java = found.to_java(names::binary);
    let name = java.as_str();
    let (annotation, expected) = match value {
        Value::This if !found.is_reference() => ("This", "a class"),
        Value::AllArguments if !matches!(name, "java.lang.Object[]" | "java.lang.Object") => {
            ("AllArguments", "Object[]")
        }
        Value::Thrown if !matches!(name, "java.lang.Throwable" | "java.lang.Object") => {
            ("Thrown", "Throwable")
        }
        Value::Method
            if !matches!(
                name,
                "java.lang.String" | "java.lang.Object" | "java.lang.CharSequence"
            ) =>
        {
            ("Method", "String")
        }
        Value::Returned | Value::Thrown | Value::FromEntry if when == When::Entry => {
            let annotation = match value {
                Value::Returned => "Returned",
                Value::Thrown => "Thrown",
                _ => "FromEntry",
            };
            return Some(format!(
                "@{annotation} has no value at the entry; only a method with @OnExit gets it"
            ));
        }
        _ => return None,
    };
    Some(format!(
        "the parameter with @{annotation} has the type {java}; expected {expected}"
    ))
}

/// Returns the descriptor of a method's result; `None` for `void`.
fn result_of(descriptor: &str) -> Option<String> {
    let parsed = MethodDescriptor::parse(descriptor.as_bytes()).ok()?;
    parsed.return_type()?;
    descriptor
        .rsplit_once(')')
        .map(|(_, result)| result.to_owned())
}

fn descriptor_of(found: FieldType<'_>) -> String {
    match found {
        FieldType::Base(base) => char::from(base.letter()).to_string(),
        FieldType::Class(name) => {
            let name = jvms::modified_utf8::Utf8::new(name).to_str_lossless();
            format!("L{name};")
        }
        FieldType::Array(descriptor) => {
            let text = jvms::modified_utf8::Utf8::new(descriptor).to_str_lossless();
            text.into_owned()
        }
    }
}

fn java(descriptor: &str) -> String {
    let parsed = FieldType::parse(descriptor.as_bytes());
    parsed.map_or_else(
        |_| descriptor.to_owned(),
        |found| found.to_java(names::binary),
    )
}
