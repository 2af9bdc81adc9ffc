//! Classes with advice, read from class files and checked.

use std::collections::{BTreeSet, HashMap};

use errors::{Error, codes};
use globs::Pattern;
use jvms::access_flags::{ACC_FINAL, ACC_INTERFACE, ACC_PRIVATE, ACC_STATIC};
use jvms::descriptor::{FieldType, MethodDescriptor};
use jvms::names;
use rewriter::{ClassFile, DeclaredValue, Method};

use crate::annotations::Found;
use crate::api::PACKAGE;
use crate::places::Places;
use crate::rows::{self, Recorded};

/// The descriptor of the class of calls.
const CALL: &str = "Lio/github/classhook/advice/Call;";

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

/// The places at which a method of the advice runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// `@OnEntry`.
    Entry,
    /// `@OnExit`.
    Exit,
    /// `@BeforeCall`.
    BeforeCall,
    /// `@AfterCall`.
    AfterCall,
    /// `@Around`.
    Around,
}

/// The annotations of methods with advice.
const PLACES: [(&str, When); 5] = [
    ("OnEntry", When::Entry),
    ("OnExit", When::Exit),
    ("BeforeCall", When::BeforeCall),
    ("AfterCall", When::AfterCall),
    ("Around", When::Around),
];

impl When {
    /// Returns the name of the annotation.
    #[must_use]
    pub fn annotation(self) -> &'static str {
        let mut all = PLACES.iter();
        all.find(|(_, when)| *when == self).map_or("", |it| it.0)
    }

    /// Checks for places at calls in the advised methods.
    #[must_use]
    pub fn is_at_calls(self) -> bool {
        matches!(self, Self::BeforeCall | Self::AfterCall | Self::Around)
    }
}

/// The use of a method's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// No result.
    None,
    /// `@FromEntry` reads it.
    Keep,
    /// The body or call is skipped if it is true: `skipIf = SkipIf.TRUE`.
    SkipIfTrue,
    /// The body or call is skipped if it is not null, and it becomes the result: `skipIf = SkipIf.NOT_NULL`.
    SkipIfNotNull,
    /// It becomes this argument: `@ReplaceArgument`.
    Argument(u8),
    /// It becomes this operand of the call: `@ReplaceOperand`.
    Operand(u8),
    /// It becomes the result of the call: `@Around`.
    Call,
    /// It becomes the result: `@ReplaceReturned`.
    Returned,
    /// It becomes the exception: `@ReplaceThrown`.
    Thrown,
}

/// A method with `@OnEntry`, `@OnExit`, `@BeforeCall`, `@AfterCall` or `@Around`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hook {
    /// The place.
    pub when: When,
    /// The patterns of the called methods; only at calls.
    pub calls: Vec<String>,
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
#[derive(Debug, Clone, PartialEq, Eq)]
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
    /// `@FromEntry`, with the name of the method with `@OnEntry`, or an empty one.
    FromEntry(String),
    /// `@Method`.
    Method,
    /// `@Field`.
    Field(String),
    /// `@Line`.
    Line,
    /// `@Loader`.
    Loader,
    /// `@Operand`.
    Operand(u8),
    /// `@Called`.
    Called,
    /// A parameter of type `Call`.
    Call,
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

impl AdviceClass {
    /// Returns the methods whose results others read by `@FromEntry`, in order.
    pub fn givers(&self) -> impl Iterator<Item = &Hook> {
        let hooks = self.hooks.iter();
        hooks.filter(|hook| hook.effect == Effect::Keep)
    }

    /// Checks whether advice runs in place of calls.
    #[must_use]
    pub fn is_around_calls(&self) -> bool {
        self.hooks.iter().any(|hook| hook.when == When::Around)
    }
}

impl Hook {
    /// Checks whether it gets a value from the entry.
    #[must_use]
    pub fn reads_entry(&self) -> bool {
        let mut bindings = self.bindings.iter();
        bindings.any(|binding| matches!(binding.value, Value::FromEntry(_)))
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
            for one in &needed {
                Reader::new(one, &places).expect_own_supertypes(&needed)?;
            }
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
            next.extend(class.pool().class_names().map(|found| {
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

    /// Checks that the supertypes are of the JDK's `java.` packages or of the advice itself: the others are defined
    /// before the program has those of its own.
    fn expect_own_supertypes(&self, needed: &[&ClassFile<'_>]) -> Result<(), Error> {
        let known: Vec<_> = needed.iter().map(|class| class.this_class()).collect();
        let supertypes = self.class.super_class().into_iter();
        for supertype in supertypes.chain(self.class.interfaces()) {
            let name = supertype.to_str_lossless();
            if name.starts_with("java/") || known.contains(&supertype) {
                continue;
            }
            let text = format!(
                "{} has the supertype {}, a class of the program or of a library; expected one of a `java.` package or of the advice itself, since the class is defined before the program's own",
                names::binary(&self.name),
                names::binary(&name)
            );
            let at = self.places.first(&self.file, &self.simple, "{ei");
            return Err(self.wrong(&at, &text));
        }
        Ok(())
    }

    /// Reads the class. Returns `None` without `@Advice`.
    fn advice(&self) -> Result<Option<AdviceClass>, Error> {
        let marks = Found::all(self.class.attributes().annotations());
        let mark = marks.iter().find(|found| found.name == "Advice");
        let mut hooks = self.hooks(mark.is_some())?;
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
            let text = "the advice has no method with @OnEntry or @OnExit, @BeforeCall, @AfterCall or @Around";
            return Err(self.wrong(&at, text));
        }
        if hooks.len() > MAX_HOOKS {
            let text = format!(
                "expected at most {MAX_HOOKS} methods with @OnEntry, @OnExit, @BeforeCall, @AfterCall and @Around, found {}",
                hooks.len()
            );
            return Err(self.wrong(&at, &text));
        }
        self.check_pairs(&mut hooks)?;
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
            let mut places = PLACES.iter().filter_map(|(name, when)| {
                let mut marks = marks.iter();
                Some((*when, marks.find(|found| found.name == *name)?))
            });
            let Some((when, mark)) = places.next() else {
                continue;
            };
            if let Some((other, _)) = places.next() {
                let (one, other) = (when.annotation(), other.annotation());
                let text = format!("@{one} and @{other} exclude each other; write two methods");
                return Err(self.wrong(&self.line_of(&method), &text));
            }
            let hook = self.hook(&method, when, mark, &marks)?;
            if !is_advice {
                let text = format!("@{} belongs into a class with @Advice", mark.name);
                return Err(self.wrong(&hook.at, &text));
            }
            // A result that replaces both a result and an exception is used in two ways.
            let is_at_exit = hook.when == When::Exit && hook.effect == Effect::Returned;
            if is_at_exit && hook.on_return && hook.on_throw {
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
        let on_throw = mark.switch("onThrow", effect != Effect::Returned && !when.is_at_calls());
        let calls = match when.is_at_calls() {
            true => mark.texts(),
            false => Vec::new(),
        };
        let checked = calls.iter().try_for_each(|text| check_call_pattern(text));
        checked.map_err(|text| self.wrong(&at, &text))?;
        let calls_of = |binding: &&Binding| binding.value == Value::Call;
        if when == When::Around && bindings.iter().filter(calls_of).count() != 1 {
            let text = format!(
                "{name} with @Around needs one parameter of type Call, whose proceed() runs the call"
            );
            return Err(self.wrong(&at, &text));
        }
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
            calls,
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
                [] if descriptor_of(found) == CALL => {
                    if when != When::Around {
                        let text = "a parameter of type Call belongs to a method with @Around";
                        return Err(self.wrong(at, text));
                    }
                    bindings.push(Binding {
                        value: Value::Call,
                        descriptor: CALL.to_owned(),
                    });
                    continue;
                }
                [] => {
                    let text = format!(
                        "parameter {number} of type {java} has no annotation; expected one of @This, @Argument, @AllArguments, @Field, @Returned, @Thrown, @FromEntry, @Method, @Line, @Loader, and at calls @Operand, @Called"
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
            if let Some(text) = misuse(&value, mark, found, when) {
                return Err(self.wrong(at, &text));
            }
            bindings.push(Binding {
                value,
                descriptor: descriptor_of(found),
            });
        }
        Ok(bindings)
    }

    /// Checks the values that the entry gives to the exit, and names their methods in the bindings.
    fn check_pairs(&self, hooks: &mut [Hook]) -> Result<(), Error> {
        let givers = hooks.iter().filter(|hook| hook.effect == Effect::Keep);
        let givers: Vec<Hook> = givers.cloned().collect();
        let known = givers.iter().map(|hook| hook.method.as_str());
        let known = known.collect::<Vec<_>>().join(", ");
        for (number, giver) in givers.iter().enumerate() {
            let mut before = givers.iter().take(number);
            if before.any(|other| other.method == giver.method) {
                let text = format!(
                    "two methods with @OnEntry and a result have the name {}; @FromEntry(\"NAME\") needs different names",
                    giver.method
                );
                return Err(self.wrong(&giver.at, &text));
            }
        }
        let mut read = BTreeSet::new();
        for hook in &mut *hooks {
            let at = hook.at.clone();
            for binding in &mut hook.bindings {
                let primitive = binding.is_primitive();
                let Value::FromEntry(name) = &mut binding.value else {
                    continue;
                };
                let giver = match (name.as_str(), givers.as_slice()) {
                    (_, []) => {
                        let text = "@FromEntry has no value: no method with @OnEntry has a result";
                        return Err(self.wrong(&at, text));
                    }
                    ("", [giver]) => giver,
                    ("", _) => {
                        let text = format!(
                            "several methods with @OnEntry have a result ({known}); @FromEntry(\"NAME\") names one of them"
                        );
                        return Err(self.wrong(&at, &text));
                    }
                    (name, _) => match givers.iter().find(|hook| hook.method == name) {
                        Some(giver) => giver,
                        None => {
                            let text = format!(
                                "@FromEntry(\"{name}\"): no method with @OnEntry and a result has this name; there are {known}"
                            );
                            return Err(self.wrong(&at, &text));
                        }
                    },
                };
                let given = giver.result.as_deref().unwrap_or_default();
                let is_reference = !primitive && given.starts_with(['L', '[']);
                if binding.descriptor != given && !is_reference {
                    let text = format!(
                        "@FromEntry has the type {}, and the method with @OnEntry returns {}",
                        java(&binding.descriptor),
                        java(given)
                    );
                    return Err(self.wrong(&at, &text));
                }
                read.insert(giver.method.clone());
                name.clone_from(&giver.method);
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
        match givers.iter().find(|hook| !read.contains(&hook.method)) {
            Some(hook) => {
                let text = format!(
                    "nobody reads the result of {}: no method with @OnExit has @FromEntry for it",
                    hook.method
                );
                Err(self.wrong(&hook.at, &text))
            }
            None => Ok(()),
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
    if !rest.contains('#') && rest != "**" && !rest.ends_with(".**") {
        let class = rest.trim_end_matches('*').trim_end_matches('.');
        return Err(format!(
            "the pattern `{text}` names no methods; expected `{class}#*` for those of a class, or `{class}.**` for all classes of a package"
        ));
    }
    let parsed = Pattern::parse(&rest.replacen('#', ".", 1));
    parsed.map(drop).map_err(|error| error.to_string())
}

/// Checks a pattern of called methods.
fn check_call_pattern(text: &str) -> Result<(), String> {
    let example = "expected `CLASS#METHOD`, such as `java.net.http.HttpClient#send`";
    if text.starts_with("<:") || text.starts_with('@') || text.starts_with('!') {
        return Err(format!(
            "the pattern `{text}` of calls: a call names one class, which may be an interface; {example}"
        ));
    }
    match text.split_once('#') {
        Some((class, method)) if !class.is_empty() && !method.is_empty() => {
            if method.starts_with('<') {
                return Err(format!(
                    "the pattern `{text}`: no advice runs at calls of constructors; use @OnEntry and @OnExit with `{text}` in @Advice"
                ));
            }
            let parsed = Pattern::parse(&format!("{class}.{method}"));
            parsed.map(drop).map_err(|error| error.to_string())
        }
        _ => Err(format!("the pattern `{text}` names no methods; {example}")),
    }
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
            "ReplaceArgument" => Effect::Argument(position(mark)?),
            "ReplaceOperand" => Effect::Operand(position(mark)?),
            "ReplaceReturned" => Effect::Returned,
            "ReplaceThrown" => Effect::Thrown,
            _ => continue,
        });
    }
    let effect = match (found.as_slice(), result) {
        ([], _) if when == When::Around => return Ok(Effect::Call),
        ([], None) => return Ok(Effect::None),
        ([], Some(_)) if when == When::Entry => return Ok(Effect::Keep),
        ([], Some(_)) => {
            let uses = match when {
                When::BeforeCall => "has @ReplaceOperand or skipIf",
                When::AfterCall => "has @ReplaceReturned",
                _ => "has @ReplaceReturned or @ReplaceThrown",
            };
            return Err(format!(
                "nobody reads the result of {name}; a method with @{} is void, or {uses}",
                when.annotation()
            ));
        }
        ([one], Some(_)) => *one,
        ([_], None) => return Err(format!("{name} is void, so it has no value to use")),
        ([_, _, ..], _) => return Err(format!("the result of {name} is used in two ways")),
    };
    let places: &[When] = match effect {
        Effect::SkipIfTrue | Effect::SkipIfNotNull => &[When::Entry, When::BeforeCall],
        Effect::Argument(_) => &[When::Entry],
        Effect::Operand(_) => &[When::BeforeCall],
        Effect::Returned => &[When::Exit, When::AfterCall],
        _ => &[When::Exit],
    };
    if !places.contains(&when) {
        let places = places.iter().map(|when| format!("@{}", when.annotation()));
        let places: Vec<String> = places.collect();
        return Err(format!(
            "the result of {name} can be used so with {} alone",
            places.join(" and ")
        ));
    }
    let result = result.unwrap_or_default();
    let expected = match effect {
        Effect::SkipIfTrue if result != "Z" => "boolean",
        Effect::SkipIfNotNull if !result.starts_with(['L', '[']) => "an object",
        Effect::Thrown if !may_be_thrown(result) => "an exception",
        _ => return Ok(effect),
    };
    Err(format!(
        "{name} returns {}; expected {expected}",
        java(result)
    ))
}

/// Checks by its name whether a type may be an exception.
fn may_be_thrown(descriptor: &str) -> bool {
    let Some(name) = descriptor
        .strip_prefix('L')
        .and_then(|it| it.strip_suffix(';'))
    else {
        return false;
    };
    let ends = ["Exception", "Error", "Throwable", "ThreadDeath"];
    let is_of_jdk = name.starts_with("java/") || name.starts_with("javax/");
    !is_of_jdk || name == "java/lang/Object" || ends.iter().any(|end| name.ends_with(end))
}

fn position(mark: &Found<'_>) -> Result<u8, String> {
    let name = &mark.name;
    match mark.value("value") {
        Some(DeclaredValue::Integer(number)) => u8::try_from(number)
            .map_err(|_| format!("@{name}({number}): expected a position from 0 to 254")),
        _ => Err(format!("@{name} names no position")),
    }
}

fn value(mark: &Found<'_>) -> Result<Value, String> {
    let text = || mark.texts().into_iter().next().unwrap_or_default();
    Ok(match mark.name.as_str() {
        "This" => Value::This,
        "AllArguments" => Value::AllArguments,
        "Returned" => Value::Returned,
        "Thrown" => Value::Thrown,
        "FromEntry" => Value::FromEntry(text()),
        "Method" => Value::Method,
        "Field" => Value::Field(text()),
        "Line" => Value::Line,
        "Loader" => Value::Loader,
        "Called" => Value::Called,
        "Argument" => Value::Argument(position(mark)?),
        "Operand" => Value::Operand(position(mark)?),
        other => return Err(format!("@{other} does not belong to a parameter")),
    })
}

/// Returns the mistake in a parameter with this value and type.
fn misuse(value: &Value, mark: &Found<'_>, found: FieldType<'_>, when: When) -> Option<String> {
    let java = found.to_java(names::binary);
    let annotation = &mark.name;
    let places: &[When] = match value {
        Value::Returned => &[When::Exit, When::AfterCall],
        Value::Thrown | Value::FromEntry(_) => &[When::Exit],
        Value::Operand(_) | Value::Called => &[When::BeforeCall, When::AfterCall, When::Around],
        _ => &[when],
    };
    if !places.contains(&when) {
        let place = match when {
            When::Entry => "at the entry",
            When::Exit => "at the exit",
            When::BeforeCall => "before a call",
            When::AfterCall => "behind a call",
            When::Around => "around a call",
        };
        let places = places.iter().map(|when| format!("@{}", when.annotation()));
        let places: Vec<String> = places.collect();
        return Some(format!(
            "@{annotation} has no value {place}; only a method with {} gets it",
            places.join(" or ")
        ));
    }
    let texts = [
        "java.lang.String",
        "java.lang.Object",
        "java.lang.CharSequence",
    ];
    let (expected, types): (&str, &[&str]) = match value {
        Value::This if !found.is_reference() => ("a class", &[]),
        Value::AllArguments => ("Object[]", &["java.lang.Object[]", "java.lang.Object"]),
        Value::Thrown => ("Throwable", &["java.lang.Throwable", "java.lang.Object"]),
        Value::Method | Value::Called => ("String", &texts),
        Value::Line => ("int", &["int", "java.lang.Object"]),
        Value::Loader => (
            "ClassLoader",
            &["java.lang.ClassLoader", "java.lang.Object"],
        ),
        _ => return None,
    };
    (!types.contains(&java.as_str())).then(|| {
        format!("the parameter with @{annotation} has the type {java}; expected {expected}")
    })
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
