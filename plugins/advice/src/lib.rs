//! The bundled advice plugin: calls static methods of Java at the entries and exits of methods.
//!
//! The command reads the annotations of the advice and prepares settings (`settings.rs`), with the class files
//! for the program. This plugin selects the methods (`targets.rs`) and generates the calls
//! (`code.rs`). It calls a class that catches the exceptions of the advice. A method of the advice
//! that does not fit a method of the program adds a note there; it is an error if its pattern names
//! that class, and it fits none of its methods.

mod code;
mod settings;
mod targets;

use classhook_sdk::descriptor::MethodDescriptor;
use classhook_sdk::opcode::is_return;
use classhook_sdk::prelude::*;

use code::{Advised, End, Misfit};
use settings::{Hook, Settings, WrittenAdvice};
use targets::{OfClass, Targets};

/// Calls advice.
pub struct AdviceCalls {
    advice: Vec<Advice>,
}

/// A class with advice.
struct Advice {
    at: String,
    patterns: String,
    targets: Targets,
    classes: Vec<Vec<u8>>,
    hooks: Vec<Hook>,
}

/// Classes of the JDK in which no advice runs, because the guard calls them.
const OF_GUARD: [&str; 4] = [
    "java/lang/ThreadLocal",
    "java/lang/ThreadLocal$ThreadLocalMap",
    "java/lang/Thread",
    "java/util/concurrent/atomic/AtomicIntegerArray",
];

impl Transformer for AdviceCalls {
    type Config = Settings;

    fn new(settings: Settings) -> Result<Self> {
        let advice = settings.advice.into_iter().map(Advice::new);
        Ok(Self {
            advice: advice.collect::<Result<_>>()?,
        })
    }

    fn select(&self) -> Vec<String> {
        let selectors = self.advice.iter().flat_map(|it| it.targets.selectors());
        let mut selectors: Vec<String> = selectors.collect();
        selectors.sort_unstable();
        selectors.dedup();
        selectors
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        for advice in &self.advice {
            if let Some(targets) = advice.targets.of_class(class) {
                advice.add(&targets, class, plan)?;
            }
        }
        Ok(())
    }
}

/// The effect of a method of the advice in a class.
#[derive(Default, Clone)]
struct Effect {
    is_there: bool,
    /// The first matching method that it does not fit, and the reason.
    misfit: Option<(String, Misfit)>,
}

impl Effect {
    fn add(&mut self, method: &Advised<'_, '_>, applied: std::result::Result<(), Misfit>) {
        match applied {
            Ok(()) => self.is_there = true,
            Err(misfit) => drop(self.misfit.get_or_insert_with(|| (method.text(), misfit))),
        }
    }
}

impl Advice {
    fn new(written: WrittenAdvice) -> Result<Self> {
        let at = written.at;
        let wrong = |text: &str| Error::Message(format!("{at}: {text}"));
        let targets = Targets::parse(&written.methods).map_err(|text| wrong(&text))?;
        let classes = written.classes.iter();
        let classes = classes.map(|text| settings::decode(text));
        let classes: Option<Vec<Vec<u8>>> = classes.collect();
        let classes = classes.filter(|classes| classes.len() > 2);
        let Some(classes) = classes else {
            let text = format!("the class files of {} are no Base64", written.name);
            return Err(wrong(&text));
        };
        Ok(Self {
            targets,
            classes,
            hooks: written.hooks,
            patterns: written.methods.join(", "),
            at,
        })
    }

    /// Adds the calls to the methods of a class.
    fn add(&self, targets: &OfClass<'_>, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let class_name = class.name();
        let methods: Vec<Method<'_>> = class
            .methods()
            .filter(|method| method.has_code() && targets.matches(method))
            .collect();
        if methods.is_empty() {
            return match targets.naming {
                Some(pattern) => Err(self.nothing_matches(class, &pattern.member)),
                None => Ok(()),
            };
        }
        if OF_GUARD.contains(&class_name.as_str()) {
            let text = format!(
                "no advice runs in {}: the code around each advice calls it",
                class.dotted_name()
            );
            return Err(Error::Message(format!("{}: {text}", self.at)));
        }
        let files: Vec<&[u8]> = self.classes.iter().map(Vec::as_slice).collect();
        let names = plan.helpers(&files)?;
        let [.., guard, calls] = names.as_slice() else {
            return Ok(());
        };
        let mut effects = vec![Effect::default(); self.hooks.len()];
        for method in &methods {
            let Ok(descriptor) = MethodDescriptor::parse(method.descriptor().as_bytes()) else {
                continue;
            };
            let advised = Advised {
                method,
                descriptor,
                class: &class_name,
            };
            self.advise(&advised, (guard, calls), &mut effects, plan)?;
        }
        let without = self
            .hooks
            .iter()
            .zip(&effects)
            .filter(|(_, it)| !it.is_there);
        for (hook, effect) in without {
            if let (Some(_), Some((method, misfit))) = (targets.naming, &effect.misfit) {
                let Hook { at, name, .. } = hook;
                let text = format!("{at}: {name} does not fit {method}: {misfit}");
                return Err(Error::Message(text));
            }
        }
        Ok(())
    }

    /// Adds the calls to one method.
    fn advise(
        &self,
        advised: &Advised<'_, '_>,
        (guard, calls): (&str, &str),
        effects: &mut [Effect],
        plan: &mut Plan<'_>,
    ) -> Result {
        let mut is_pushed = false;
        let mut popped = (false, false);
        for is_entry in [true, false] {
            let hooks = self.hooks.iter().zip(effects.iter_mut());
            for (hook, effect) in hooks.filter(|(hook, _)| hook.entry == is_entry) {
                for (at, end) in ends(hook).iter().enumerate() {
                    let applied = match hook.keyed && !is_entry && !is_pushed {
                        true => Err(
                            "@FromEntry has no value: the method with @OnEntry does not fit"
                                .to_owned(),
                        ),
                        false => apply(hook, *end, advised, calls, plan)?,
                    };
                    if let Err(misfit) = &applied {
                        let Hook { name, at, .. } = hook;
                        let text = format!("no call of {name} ({at}): {misfit}");
                        plan.note(advised.method.entry(), &text);
                    } else if hook.keyed {
                        match end {
                            End::Entry => is_pushed = true,
                            End::Return => popped.0 = true,
                            End::Throw => popped.1 = true,
                        }
                    }
                    let is_failed = applied.is_err();
                    effect.add(advised, applied);
                    if is_failed && at == 0 {
                        break; // the other end has the same values
                    }
                }
            }
        }
        if is_pushed {
            for (end, popped) in [(End::Return, popped.0), (End::Throw, popped.1)] {
                let at = points(advised.method, end)?;
                if !popped && !at.is_empty() {
                    plan.insert(&at, &advised.drop_call(guard))?;
                }
            }
        }
        Ok(())
    }

    fn nothing_matches(&self, class: &Class<'_>, member: &str) -> Error {
        let methods: Vec<String> = class
            .methods()
            .filter(Method::has_code)
            .map(|method| format!("{}{}", method.name(), method.descriptor()))
            .collect();
        let near = nearest(member, &methods);
        let near = match near.is_empty() {
            true => String::new(),
            false => format!("; nearest: {}", near.join(", ")),
        };
        let Self { at, patterns, .. } = self;
        Error::Message(format!(
            "{at}: {} has no method for `{patterns}` with code of its own{near}; for one that it inherits, name the class that has the code",
            class.dotted_name()
        ))
    }
}

/// Returns the ends of a call at which a method of the advice runs.
fn ends(hook: &Hook) -> &'static [End] {
    match (hook.entry, hook.on_return, hook.on_throw) {
        (true, ..) => &[End::Entry],
        (_, true, true) => &[End::Return, End::Throw],
        (_, true, false) => &[End::Return],
        _ => &[End::Throw],
    }
}

/// Adds the calls of one method of the advice at one end of a method of the program.
fn apply(
    hook: &Hook,
    end: End,
    advised: &Advised<'_, '_>,
    calls: &str,
    plan: &mut Plan<'_>,
) -> Result<std::result::Result<(), Misfit>> {
    let code = match advised.call(hook, end, calls) {
        Ok(code) => code,
        Err(misfit) => return Ok(Err(misfit)),
    };
    let at = points(advised.method, end)?;
    if at.is_empty() {
        return Ok(Ok(()));
    }
    if let Err(refused) = plan.insert(&at, &code) {
        return Ok(Err(refused.message));
    }
    let when = match end {
        End::Entry => "at the entry",
        End::Return => "before it returns",
        End::Throw => "where an exception leaves it",
    };
    for point in at {
        plan.note(point, &format!("calls {} ({}) {when}", hook.name, hook.at));
    }
    Ok(Ok(()))
}

/// Returns the points of an end. A method that never returns has none for that.
fn points(method: &Method<'_>, end: End) -> Result<Vec<InsertionPoint>> {
    Ok(match end {
        End::Entry => vec![method.entry()],
        End::Throw => vec![method.unwind()],
        End::Return => {
            let all = method.instructions()?;
            let at = all.iter().filter(|it| is_return(it.opcode));
            let at: Vec<u16> = at.map(|it| it.bci).collect();
            method.before(&at)
        }
    })
}

/// Returns at most three methods whose names begin or end like the wanted one, or are almost equal.
fn nearest<'m>(wanted: &str, methods: &'m [String]) -> Vec<&'m str> {
    let wanted = wanted.trim_matches(['*', '?']);
    let mut near: Vec<(usize, usize, &str)> = Vec::new();
    for method in methods {
        let name = method.split('(').next().unwrap_or_default();
        let distance = distance(wanted, name);
        if distance <= 1 + wanted.len() / 3 {
            let common = wanted.bytes().zip(name.bytes());
            let common = common.take_while(|(one, other)| one == other).count();
            near.push((distance, usize::MAX - common, method));
        }
    }
    near.sort_unstable();
    near.into_iter().take(3).map(|(.., name)| name).collect()
}

/// Computes the number of insertions, deletions and replacements of bytes between two texts
/// (Levenshtein).
fn distance(one: &str, other: &str) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, wanted) in one.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], at + 1);
        for (column, found) in other.bytes().enumerate() {
            let replaced = diagonal + usize::from(wanted != found);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

classhook_sdk::export!(AdviceCalls);
