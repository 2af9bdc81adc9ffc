//! The bundled advice plugin: calls static methods of Java at the entries and exits of methods, and at calls in them.
//!
//! The command reads the annotations of the advice and prepares settings (`settings.rs`), with the class files
//! for the program. This plugin selects the methods (`targets.rs`) and generates the calls
//! (`code.rs`, and `calls.rs` for those at calls), and puts probes into the class that takes rows apart (`recorded.rs`). It calls a class that
//! catches the exceptions of the advice. A method of the advice
//! that does not fit a method of the program adds a note there; it is an error if its pattern names
//! that class, and it fits none of its methods.

mod calls;
mod code;
mod recorded;
mod settings;
mod targets;

use classhook_sdk::opcode::is_return;
use classhook_sdk::prelude::*;

use calls::{CallSite, Sites};
use code::{Advised, End, Misfit};
use settings::{Effect as Use, Hook, Probes, Settings, WrittenAdvice};
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
    /// Several methods give values from the entry to the exit.
    opens: bool,
    hooks: Vec<Hook>,
    probes: Option<Probes>,
}

/// Classes of the JDK in which no advice runs, because the guard calls them before it knows that the thread runs advice.
const OF_GUARD: [&str; 6] = [
    "java/lang/Object",
    "java/lang/Thread",
    "java/lang/ThreadLocal",
    "java/lang/ref/Reference",
    "java/lang/ref/WeakReference",
    "java/util/concurrent/atomic/AtomicInteger",
];

/// Checks whether the guard calls this class, or a class nested in it.
fn is_of_guard(class: &str) -> bool {
    let outer = class.split_once('$').map_or(class, |(outer, _)| outer);
    OF_GUARD.contains(&outer)
}

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
        if self.advice.iter().any(|advice| advice.probes.is_some()) {
            selectors.push(recorded::SELECTOR.to_owned());
        }
        selectors.sort_unstable();
        selectors.dedup();
        selectors
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        if recorded::is_row_class(&class.name()) {
            let probes = self.advice.iter().filter_map(|it| it.probes.as_ref());
            return probes
                .into_iter()
                .try_for_each(|it| recorded::add(it, class, plan));
        }
        let name = class.name();
        let methods: Vec<Method<'_>> = class.methods().filter(Method::has_code).collect();
        let fields = class.fields();
        let all: Vec<&Method<'_>> = methods.iter().collect();
        let mut sites = Sites::new();
        for advice in &self.advice {
            if let Some(targets) = advice.targets.of_class(class) {
                let advised: Vec<Advised<'_, '_>> = methods
                    .iter()
                    .filter(|method| targets.matches(method))
                    .filter_map(|method| Advised::new(method, &name, (&fields, &all)))
                    .collect();
                advice.add(&targets, class, &advised, &mut sites, plan)?;
            }
        }
        sites.apply(plan)
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
            opens: written.opens,
            hooks: written.hooks,
            probes: written.probes,
            patterns: written.methods.join(", "),
            at,
        })
    }

    /// Adds the calls of advice to the methods of a class. Those at calls in them are collected.
    fn add<'a, 'c>(
        &'a self,
        targets: &OfClass<'_>,
        class: &Class<'_>,
        methods: &[Advised<'a, 'c>],
        sites: &mut Sites<'a, 'c>,
        plan: &mut Plan<'_>,
    ) -> Result {
        let class_name = class.name();
        if methods.is_empty() {
            return match targets.naming {
                Some(pattern) => Err(self.nothing_matches(class, &pattern.member)),
                None => Ok(()),
            };
        }
        if is_of_guard(&class_name) {
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
        let call_class = names.len().checked_sub(3).and_then(|at| names.get(at));
        let call_class = call_class.map_or("", String::as_str);
        let mut effects = vec![Effect::default(); self.hooks.len()];
        for advised in methods {
            self.advise(advised, (guard, calls), &mut effects, plan)?;
            let hooks = self.hooks.iter().zip(effects.iter_mut());
            for (hook, effect) in hooks.filter(|(hook, _)| hook.is_at_calls()) {
                let found = self.at_calls(hook, advised, (calls, call_class), sites, plan)?;
                effect.add(advised, found);
            }
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

    /// Collects the calls in a method at which a method of the advice runs. Returns the reason for a method without such calls.
    fn at_calls<'a, 'c>(
        &'a self,
        hook: &'a Hook,
        advised: &Advised<'a, 'c>,
        (calls, call_class): (&str, &str),
        sites: &mut Sites<'a, 'c>,
        plan: &mut Plan<'_>,
    ) -> Result<std::result::Result<(), Misfit>> {
        let patterns = hook.calls.iter().map(|text| calls::pattern(text));
        let patterns = patterns.collect::<std::result::Result<Vec<_>, _>>();
        let patterns = patterns.map_err(|text| Error::Message(format!("{}: {text}", hook.at)))?;
        let all = advised.method.calls(|_| true)?;
        let wanted = all.iter().filter(|call| {
            let mut patterns = patterns.iter();
            patterns.any(|pattern| calls::matches(pattern, &call.target))
        });
        let mut found = Err(format!(
            "the method has no call of `{}`{}",
            hook.calls.join(", "),
            calls::nearest_calls(&all)
        ));
        let Hook { name, at, .. } = hook;
        for call in wanted {
            let Some(site) = CallSite::new(advised, call) else {
                continue;
            };
            match site.check(hook) {
                Ok(()) => {
                    sites.add(site, hook, (calls, call_class));
                    found = Ok(());
                }
                Err(misfit) => {
                    let text = format!("no call of {name} ({at}): {misfit}");
                    let point = advised.method.before(&[call.bci]);
                    for point in point {
                        plan.leave_out(point, &text);
                    }
                    if found.is_err() {
                        found = Err(misfit);
                    }
                }
            }
        }
        Ok(found)
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
        let mut given: Vec<&str> = Vec::new();
        let mut givers = self
            .hooks
            .iter()
            .filter(|hook| hook.keyed && hook.is_at_entry());
        let fits = |hook: &Hook| advised.call(hook, End::Entry, calls, 0).is_ok();
        if self.opens && givers.any(fits) {
            plan.insert(&[advised.method.entry()], &advised.open_call(guard))?;
            is_pushed = true;
        }
        for phase in Phase::ALL {
            if phase == Phase::Exit && is_pushed {
                self.drop_unread(advised, (guard, calls), plan)?;
            }
            let hooks = self.hooks.iter().zip(effects.iter_mut());
            for (hook, effect) in hooks.filter(|(hook, _)| Phase::of(hook) == Some(phase)) {
                for (at, end) in ends(hook).iter().enumerate() {
                    let is_without = hook.keyed && !hook.is_at_entry() && !is_pushed
                        || hook
                            .reads
                            .iter()
                            .any(|name| !given.contains(&name.as_str()));
                    let line = match end {
                        End::Entry => advised.method.line_at(0),
                        _ => 0,
                    };
                    let mut code = match is_without {
                        true => Err(
                            "@FromEntry has no value: the method with @OnEntry does not fit"
                                .to_owned(),
                        ),
                        false => advised.call(hook, *end, calls, line),
                    };
                    if phase == Phase::Skip {
                        let ends = self.ends_of_skipped(advised, (guard, calls), is_pushed);
                        code = code.and_then(|mut code| {
                            advised.skip(&mut code, hook, &ends)?;
                            Ok(code)
                        });
                    }
                    let applied = match code {
                        Ok(_) if *end == End::Return && hook.reads_line() => {
                            apply_with_lines(hook, advised, calls, plan)?
                        }
                        Ok(code) => apply(hook, *end, advised, &code, plan)?,
                        Err(misfit) => Err(misfit),
                    };
                    if let Err(misfit) = &applied {
                        let Hook { name, at, .. } = hook;
                        let text = format!("no call of {name} ({at}): {misfit}");
                        plan.leave_out(advised.method.entry(), &text);
                    } else if hook.keyed && hook.is_at_entry() {
                        is_pushed = true;
                        given.push(&hook.name);
                    }
                    let is_failed = applied.is_err();
                    effect.add(advised, applied);
                    if is_failed && at == 0 {
                        break; // the other end has the same values
                    }
                }
            }
        }
        Ok(())
    }

    /// Ends calls whose value no advice reads.
    fn drop_unread(
        &self,
        advised: &Advised<'_, '_>,
        (guard, calls): (&str, &str),
        plan: &mut Plan<'_>,
    ) -> Result {
        for end in [End::Return, End::Throw] {
            let at = points(advised.method, end)?;
            if !self.is_read(advised, calls, end) && !at.is_empty() {
                plan.insert(&at, &advised.drop_call(guard))?;
            }
        }
        Ok(())
    }

    /// Checks whether advice reads the value from the entry at this end.
    fn is_read(&self, advised: &Advised<'_, '_>, calls: &str, end: End) -> bool {
        let readers = self.hooks.iter();
        let mut readers = readers.filter(|hook| hook.keyed && !hook.is_at_entry());
        readers.any(|hook| ends(hook).contains(&end) && advised.call(hook, end, calls, 0).is_ok())
    }

    /// Returns the code at the end of a call whose body is skipped: that of advice at returns.
    fn ends_of_skipped(
        &self,
        advised: &Advised<'_, '_>,
        (guard, calls): (&str, &str),
        is_pushed: bool,
    ) -> Vec<Snippet> {
        let mut ends = Vec::new();
        if is_pushed && !self.is_read(advised, calls, End::Return) {
            ends.push(advised.drop_call(guard));
        }
        let hooks = self.hooks.iter().filter(|hook| {
            !hook.is_at_entry()
                && self::ends(hook).contains(&End::Return)
                && (is_pushed || !hook.keyed)
        });
        ends.extend(hooks.filter_map(|hook| advised.call(hook, End::Return, calls, 0).ok()));
        ends
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

/// The order in which methods of an advice run in one method of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// At the entry, with a value for the exit.
    Keep,
    /// At the entry.
    Entry,
    /// At the entry; the method may return there.
    Skip,
    /// At an end.
    Exit,
    /// At an exception that leaves the method; the method returns instead.
    Recover,
}

impl Phase {
    const ALL: [Self; 5] = [
        Self::Keep,
        Self::Entry,
        Self::Skip,
        Self::Exit,
        Self::Recover,
    ];

    /// Returns the phase of a method at the entry or exit.
    fn of(hook: &Hook) -> Option<Self> {
        if hook.is_at_calls() {
            return None;
        }
        Some(match (hook.is_at_entry(), hook.effect) {
            (true, Use::SkipIfTrue | Use::SkipIfNotNull) => Self::Skip,
            (true, _) if hook.keyed => Self::Keep,
            (true, _) => Self::Entry,
            (false, Use::Returned) if hook.on_throw => Self::Recover,
            (false, _) => Self::Exit,
        })
    }
}

/// Returns the ends of a call at which a method of the advice runs.
fn ends(hook: &Hook) -> &'static [End] {
    if hook.is_at_calls() {
        return &[];
    }
    match (hook.is_at_entry(), hook.on_return, hook.on_throw) {
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
    code: &Snippet,
    plan: &mut Plan<'_>,
) -> Result<std::result::Result<(), Misfit>> {
    let at = points(advised.method, end)?;
    apply_at(hook, (end, at), code, plan)
}

/// Adds the calls before the return instructions, each with its line.
fn apply_with_lines(
    hook: &Hook,
    advised: &Advised<'_, '_>,
    calls: &str,
    plan: &mut Plan<'_>,
) -> Result<std::result::Result<(), Misfit>> {
    for bci in returns(advised.method)? {
        let line = advised.method.line_at(bci);
        let code = match advised.call(hook, End::Return, calls, line) {
            Ok(code) => code,
            Err(misfit) => return Ok(Err(misfit)),
        };
        let at = advised.method.before(&[bci]);
        if let Err(misfit) = apply_at(hook, (End::Return, at), &code, plan)? {
            return Ok(Err(misfit));
        }
    }
    Ok(Ok(()))
}

fn apply_at(
    hook: &Hook,
    (end, at): (End, Vec<InsertionPoint>),
    code: &Snippet,
    plan: &mut Plan<'_>,
) -> Result<std::result::Result<(), Misfit>> {
    if at.is_empty() {
        return Ok(Ok(()));
    }
    if let Err(refused) = plan.insert(&at, code) {
        return Ok(Err(refused.message));
    }
    let when = match end {
        End::Entry => "at the entry",
        End::Return => "before it returns",
        End::Throw => "where an exception leaves it",
        End::Within => "at an instruction",
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
        End::Return => method.before(&returns(method)?),
        End::Within => Vec::new(),
    })
}

/// Returns the places of the return instructions.
fn returns(method: &Method<'_>) -> Result<Vec<u16>> {
    let all = method.instructions()?;
    let at = all.iter().filter(|it| is_return(it.opcode));
    Ok(at.map(|it| it.bci).collect())
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
