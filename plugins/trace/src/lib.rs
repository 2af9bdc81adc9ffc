//! The bundled trace plugin: which methods are timed, and what is kept of their calls.
//!
//! Methods are chosen by patterns over class, name and descriptor, and by annotations of method or class. Classes
//! that no pattern can match are never shown to the plugin: the patterns' classes are its selectors.

mod follow;
mod places;

use classhook_sdk::access_flags::{ACC_BRIDGE, ACC_NATIVE, ACC_STATIC};
use classhook_sdk::names;
use classhook_sdk::opcode::{
    ALOAD_0, ALOAD_3, ARETURN, GETFIELD, GETSTATIC, ILOAD, IRETURN, PUTFIELD, PUTSTATIC, RETURN,
};
use classhook_sdk::pattern::{FieldPattern, Glob, Pattern};
use classhook_sdk::prelude::*;

/// The plugin's table in `classhook.toml`.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Which methods, `com.acme.**`, `com.acme.Service.find*(I*`; `!` in front excludes.
    methods: Vec<String>,
    /// Methods that have one of these annotations, or whose class has: `com.acme.Traced`, with the same wildcards.
    annotated: Vec<String>,
    /// What is kept of each call; only with `mode = "events"`.
    capture: Option<Vec<Captured>>,
    /// Longest text kept of one value, in bytes.
    limit: Option<u32>,
    /// What is recorded.
    mode: Mode,
    /// What is left out.
    skip: Option<Vec<Skip>>,
    /// Lines at which an event is recorded, in place of calls: `Orders.java:120`, `com.acme.Orders.total:120`.
    at: Vec<String>,
    /// Fields of which each write is recorded, in place of calls: `com.acme.Order.status`.
    fields: Vec<String>,
    /// Records the steps of tasks as well, in classes of the JDK.
    follow: bool,
}

/// What is kept of a call.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Captured {
    Arguments,
    Returned,
    Thrown,
}

/// What is recorded of a method.
#[derive(Deserialize, Default, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    /// Every call.
    #[default]
    Events,
    /// Number, times and errors of all calls together.
    Aggregate,
    /// Only how often it was entered.
    Count,
}

/// Methods that are left out unless somebody asks for them.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Skip {
    Constructors,
    StaticInitialisers,
    /// Made by the compiler, but for bridges and the bodies of lambdas.
    Synthetic,
    /// Made by the compiler to call the method that overrides another with other types.
    Bridges,
    Lambdas,
    /// Methods that only read or write a field.
    Accessors,
}

/// Asks for a span over every selected method.
pub struct Trace {
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
    annotated: Vec<Glob>,
    skip: Vec<Skip>,
    mode: Mode,
    capture: Capture,
    at: Vec<places::Line>,
    fields: Vec<FieldPattern>,
    event: Event,
    follow: bool,
}

impl Transformer for Trace {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let (at, fields) = places(&settings)?;
        check_follow(&settings)?;
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        for text in &settings.methods {
            let (list, text) = match text.strip_prefix('!') {
                Some(rest) => (&mut exclude, rest),
                None => (&mut include, text.as_str()),
            };
            list.push(Pattern::parse(text).map_err(|error| error.to_string())?);
        }
        Ok(Self {
            include,
            exclude,
            annotated: annotations(&settings.annotated)?,
            capture: capture(&settings)?,
            mode: settings.mode,
            follow: settings.follow,
            at,
            fields,
            event: settings
                .limit
                .map_or_else(Event::default, |limit| Event::default().limit(limit)),
            skip: settings
                .skip
                .unwrap_or_else(|| vec![Skip::Synthetic, Skip::Bridges]),
        })
    }

    /// An annotation may be on any method, so with annotations every class must be looked at; and any class may write a field.
    fn select(&self) -> Vec<String> {
        if self.records_places() {
            let lines = self.at.iter().filter(|_| self.fields.is_empty());
            return lines.flat_map(places::Line::selectors).collect();
        }
        let whole = self.exclude.iter().filter(|pattern| pattern.whole_class);
        let excluded = whole.flat_map(|pattern| &pattern.selectors);
        let excluded = excluded.map(|selector| format!("!{selector}"));
        let included = self.include.iter().flat_map(|it| it.selectors.clone());
        let included = included.filter(|_| self.annotated.is_empty());
        let followed = follow::selectors().filter(|_| self.follow);
        included.chain(followed).chain(excluded).collect()
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        if self.records_places() {
            places::at_lines(&self.at, &self.event, class, plan)?;
            return places::at_writes(&self.fields, &self.event, class, plan);
        }
        if self.follow {
            follow::add(class, plan)?;
        }
        let class_name = class.name();
        let of_class = |patterns: &'_ [Pattern]| {
            let matching = patterns
                .iter()
                .filter(|pattern| pattern.matches_class(&class_name));
            matching.cloned().collect::<Vec<_>>()
        };
        let (include, exclude) = (of_class(&self.include), of_class(&self.exclude));
        let everything = (self.include.is_empty() && self.annotated.is_empty())
            || self.is_annotated(|| class.annotations());
        let mut entries = Vec::new();
        for method in class.methods() {
            let named = |patterns: &[Pattern]| {
                let (name, descriptor) = (method.name(), method.descriptor());
                patterns
                    .iter()
                    .any(|pattern| pattern.matches_method(name, descriptor))
            };
            let native = method.access_flags() & ACC_NATIVE != 0;
            if !(method.has_code() || native) || named(&exclude) {
                continue;
            }
            let by_name = named(&include);
            if !(everything || by_name || self.is_annotated(|| method.annotations())) {
                continue;
            }
            if self.skips(&method)? || self.skips_synthetic() && is_resumption(class, &method) {
                continue;
            }
            if self.mode == Mode::Count && !native && !suspends(class, &method) {
                entries.push(method.entry());
            } else {
                plan.span(&method, &self.capture, b"")?;
            }
        }
        if !entries.is_empty() {
            plan.count(&entries, b"")?;
        }
        Ok(())
    }
}

impl Trace {
    fn records_places(&self) -> bool {
        !(self.at.is_empty() && self.fields.is_empty())
    }

    /// Whether one of the annotations is asked for; they are only looked up if any is.
    fn is_annotated(&self, annotations: impl FnOnce() -> Vec<String>) -> bool {
        let name = |descriptor: &str| {
            let name = descriptor
                .strip_prefix('L')
                .and_then(|rest| rest.strip_suffix(';'));
            name.is_some_and(|name| self.annotated.iter().any(|glob| glob.matches(name)))
        };
        !self.annotated.is_empty() && annotations().iter().any(|descriptor| name(descriptor))
    }

    fn skips_synthetic(&self) -> bool {
        self.skip.iter().any(|skip| matches!(skip, Skip::Synthetic))
    }

    fn skips(&self, method: &Method<'_>) -> Result<bool> {
        let bridge = method.access_flags() & ACC_BRIDGE != 0;
        let lambda = method.is_synthetic() && method.name().starts_with("lambda$");
        for skip in &self.skip {
            let skipped = match skip {
                Skip::Constructors => method.name() == names::INIT,
                Skip::StaticInitialisers => method.name() == names::CLINIT,
                Skip::Synthetic => method.is_synthetic() && !bridge && !lambda,
                Skip::Bridges => bridge,
                Skip::Lambdas => lambda,
                Skip::Accessors => is_accessor(method)?,
            };
            if skipped {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The lines and fields at which events are recorded, in place of calls.
fn places(settings: &Settings) -> Result<(Vec<places::Line>, Vec<FieldPattern>)> {
    let at = settings.at.iter().map(|text| places::Line::parse(text));
    let fields = settings.fields.iter().map(|text| {
        FieldPattern::parse(text).ok_or_else(|| {
            format!("`{text}` is no field; expected CLASS.FIELD, such as `com.acme.Order.status`")
                .into()
        })
    });
    let found = (
        at.collect::<Result<Vec<_>>>()?,
        fields.collect::<Result<Vec<_>>>()?,
    );
    let calls = !(settings.methods.is_empty() && settings.annotated.is_empty())
        || settings.capture.is_some()
        || settings.skip.is_some()
        || settings.mode != Mode::Events
        || settings.follow;
    match (found.0.is_empty(), found.1.is_empty(), calls) {
        (true, true, _) | (true, false, false) | (false, true, false) => Ok(found),
        (false, false, _) => Err("`at` and `fields` do not go together: record one of them".into()),
        _ => Err("`at` and `fields` record places in place of calls, so no setting of calls goes with them".into()),
    }
}

/// Tasks are followed to single calls, of methods that are named: a class of the JDK is not traced only because it is shown.
fn check_follow(settings: &Settings) -> Result {
    if settings.follow && settings.methods.iter().all(|text| text.starts_with('!')) {
        return Err(
            "`follow` needs `methods`: the calls that tasks are followed from and to".into(),
        );
    }
    if settings.follow && settings.mode != Mode::Events {
        return Err(
            "`follow` belongs to `mode = \"events\"`: the others keep no single calls".into(),
        );
    }
    Ok(())
}

fn annotations(texts: &[String]) -> Result<Vec<Glob>> {
    for text in texts {
        if text.is_empty() || text.contains([' ', '!', ';', '[', '@', '(']) {
            return Err(format!("`{text}` is no annotation; expected a name such as `com.acme.Traced` or `**.Traced`").into());
        }
    }
    Ok(texts.iter().map(|text| Glob::of_class(text)).collect())
}

/// What is kept of each call; by default the class of what is thrown.
fn capture(settings: &Settings) -> Result<Capture> {
    if settings.mode != Mode::Events {
        if settings.capture.is_some() || settings.limit.is_some() {
            return Err("`capture` and `limit` belong to `mode = \"events\"`: the others keep no single calls".into());
        }
        return Ok(Capture::default().sum_up());
    }
    let kept = settings.capture.as_deref().unwrap_or(&[Captured::Thrown]);
    let capture = kept
        .iter()
        .fold(Capture::default(), |capture, kept| match kept {
            Captured::Arguments => capture.arguments(),
            Captured::Returned => capture.returned(),
            Captured::Thrown => capture.thrown(),
        });
    match settings.limit {
        Some(limit @ 1..=1_024) => Ok(capture.limit(limit)),
        Some(other) => Err(format!("`limit` is {other}; expected 1 to 1024 bytes").into()),
        None => Ok(capture),
    }
}

/// The method with the code of a suspend lambda; of a suspend function, it enters the function again.
const INVOKE_SUSPEND: &str = "invokeSuspend";
/// The superclasses of the classes that enter suspend functions again, which are not marked as synthetic.
const RESUMPTIONS: [&str; 2] = [
    "kotlin/coroutines/jvm/internal/ContinuationImpl",
    "kotlin/coroutines/jvm/internal/RestrictedContinuationImpl",
];

/// Checks whether the method only enters a suspend function again.
fn is_resumption(class: &Class<'_>, method: &Method<'_>) -> bool {
    method.name() == INVOKE_SUSPEND
        && class
            .super_name()
            .is_some_and(|name| RESUMPTIONS.contains(&name.as_str()))
}

/// Checks whether calls of the method may suspend, so that it is entered more often than called.
fn suspends(class: &Class<'_>, method: &Method<'_>) -> bool {
    let descriptor = method.descriptor();
    descriptor.ends_with("Lkotlin/coroutines/Continuation;)Ljava/lang/Object;")
        || method.name() == INVOKE_SUSPEND
            && class
                .super_name()
                .is_some_and(|name| name.ends_with("SuspendLambda"))
}

/// Whether the method does nothing but return a field, or set one to its argument.
fn is_accessor(method: &Method<'_>) -> Result<bool> {
    const LONGEST: u32 = 8; // aload_0, load with index, putfield, return
    if method.code_length() > LONGEST {
        return Ok(false);
    }
    let instructions = method.instructions()?;
    let mut opcodes = instructions.iter().map(|instruction| instruction.opcode);
    let (field_read, field_written) = match method.access_flags() & ACC_STATIC {
        0 if opcodes.next() != Some(ALOAD_0) => return Ok(false),
        0 => (GETFIELD, PUTFIELD),
        _ => (GETSTATIC, PUTSTATIC),
    };
    let rest: Vec<u8> = opcodes.collect();
    Ok(match *rest {
        [read, end] => read == field_read && matches!(end, IRETURN..=ARETURN),
        [load, written, RETURN] => matches!(load, ILOAD..=ALOAD_3) && written == field_written,
        _ => false,
    })
}

classhook_sdk::export!(Trace);
