//! The bundled patch plugin: fault injection by rules, without code.
//!
//! `rule` parses the rules of `[plugin.config]`, and `code` generates the inserted code. A rule for
//! one class that has no effect in it rejects the class with an error that names the rule's place.
//! A rule for several classes, by wildcards, adds a note to each method that it does not fit, and
//! the other rules stay effective.

mod code;
mod nearest;
mod rule;
mod throwables;

use classhook_sdk::descriptor::MethodDescriptor;
use classhook_sdk::names;
use classhook_sdk::opcode::{INVOKEINTERFACE, INVOKEVIRTUAL, is_return};
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

use code::Stack;
use rule::{Action, Rule, Settings, Where};

/// Inserts code by rules.
pub struct Patch {
    rules: Vec<Rule>,
}

impl Transformer for Patch {
    type Config = Settings;

    fn new(config: Settings) -> Result<Self> {
        let rules = config.rules()?;
        for rule in &rules {
            suits_its_descriptor(rule).map_err(|(key, text)| {
                Error::Message(format!("rule[{}].{key}: {text}", rule.number))
            })?;
        }
        Ok(Self { rules })
    }

    fn select(&self) -> Vec<String> {
        let mut classes: Vec<String> = self
            .rules
            .iter()
            .flat_map(|rule| rule.method.selectors.clone())
            .collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
        let name = class.name();
        let rules: Vec<&Rule> = self
            .rules
            .iter()
            .filter(|rule| rule.method.matches_class(&name))
            .collect();
        if rules.is_empty() {
            return Ok(());
        }
        let mut effects = vec![Effect::default(); rules.len()];
        for method in class.methods().filter(Method::has_code) {
            for (rule, effect) in rules.iter().zip(&mut effects) {
                if rule
                    .method
                    .matches_method(method.name(), method.descriptor())
                {
                    effect.add(apply(rule, &method, plan)?);
                }
            }
        }
        let without = rules.iter().zip(&effects).filter(|(_, it)| !it.is_there);
        for (rule, effect) in without {
            // A wildcard may also match classes that lack the method.
            if rule.method.only_class.is_some() {
                return Err(Error::Message(no_effect(rule, class, effect)));
            }
        }
        Ok(())
    }
}

/// Checks the constant against the return type in the rule's descriptor, if the rule has a complete
/// descriptor.
fn suits_its_descriptor(rule: &Rule) -> Applied {
    let written = rule.method.written_descriptor.as_deref();
    let Some(written) = written.filter(|text| !text.contains(['*', '?'])) else {
        return Ok(());
    };
    let descriptor = written.replace('.', "/");
    let parsed = MethodDescriptor::parse(descriptor.as_bytes()).map_err(|_| {
        let text = format!(
            "`{written}` is no descriptor of a method; expected one such as `(Ljava.lang.String;I)V`, or a beginning of it and `*`"
        );
        ("method", text)
    })?;
    let made = code::code(rule, Stack::Nothing, parsed.return_type());
    made.map(drop).map_err(|text| ("what.return", text))
}

/// The effect of a rule in a class.
#[derive(Default, Clone)]
struct Effect {
    is_there: bool,
    /// The rule's key and the reason, for the first matching method that the rule does not fit.
    misfit: Option<(&'static str, String)>,
}

impl Effect {
    fn add(&mut self, applied: Applied) {
        match applied {
            Ok(()) => self.is_there = true,
            Err(misfit) => drop(self.misfit.get_or_insert(misfit)),
        }
    }
}

/// The result of a rule in a method; the error has the key at fault and the reason.
type Applied = std::result::Result<(), (&'static str, String)>;

/// Returns the reason why a rule has no effect in its only class, with the rule's place.
fn no_effect(rule: &Rule, class: &Class<'_>, effect: &Effect) -> String {
    let number = rule.number;
    if let Some((key, text)) = &effect.misfit {
        return format!("rule[{number}].{key}: {text}");
    }
    let methods: Vec<String> = class
        .methods()
        .filter(Method::has_code)
        .map(|method| format!("{}{}", method.name(), method.descriptor()))
        .collect();
    let written = rule.method.written_descriptor.as_deref();
    let wanted = format!("{}{}", rule.method.member, written.unwrap_or_default());
    let nearest = names_like(&wanted, methods.iter().map(String::as_str));
    let name = names::binary(&class.name());
    format!(
        "rule[{number}].method: {name} has no method `{wanted}` with code of its own{nearest}; for one that it inherits, name the class that has the code"
    )
}

/// Formats `; nearest: a, b`, or an empty text.
fn names_like<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> String {
    let nearest = nearest::nearest(wanted, names);
    match nearest.is_empty() {
        true => String::new(),
        false => format!("; nearest: {}", nearest.join(", ")),
    }
}

/// Applies one rule to one method.
fn apply(rule: &Rule, method: &Method<'_>, plan: &mut Plan<'_>) -> Result<Applied> {
    let (at, stack) = match &rule.place {
        Where::Entry => (vec![method.entry()], Stack::Nothing),
        Where::Return => (returns(method)?, Stack::Returned),
        Where::Throw => (vec![method.unwind()], Stack::Thrown),
        Where::Call(called) => (calls(method, called)?, Stack::Nothing),
    };
    if at.is_empty() {
        let missing = match rule.place {
            Where::Call(_) => "makes no such call",
            _ => "has no such place",
        };
        return Ok(Err(("where", format!("{} {missing}", method.name()))));
    }
    let descriptor = MethodDescriptor::parse(method.descriptor().as_bytes());
    let returned = descriptor.ok().and_then(|found| found.return_type());
    let misfit = match code::code(rule, stack, returned) {
        Ok(_) if is_half_made(rule, method) => {
            "a constructor cannot return before it has called that of its super class".to_owned()
        }
        Ok(code) => {
            plan.insert(&at, &code)?;
            return Ok(Ok(()));
        }
        Err(misfit) => misfit,
    };
    plan.note(method.entry(), &format!("no effect: {misfit}"));
    Ok(Err(("what", misfit)))
}

/// Checks for a return at the entry of a constructor, where the object is uninitialized.
fn is_half_made(rule: &Rule, method: &Method<'_>) -> bool {
    method.name() == names::INIT
        && matches!(rule.action, Action::Return(_))
        && rule.place == Where::Entry
}

/// Returns the sites before the return instructions.
fn returns(method: &Method<'_>) -> Result<Vec<InsertionPoint>> {
    let all = method.instructions()?;
    let at = all.iter().filter(|it| is_return(it.opcode));
    let at: Vec<u16> = at.map(|it| it.bci).collect();
    Ok(method.before(&at))
}

/// Returns the sites before the calls of methods that match the pattern.
fn calls(method: &Method<'_>, called: &Pattern) -> Result<Vec<InsertionPoint>> {
    let all = method.instructions()?;
    let calls = all
        .iter()
        .filter(|it| (INVOKEVIRTUAL..=INVOKEINTERFACE).contains(&it.opcode));
    let meant = calls.filter(|it| {
        let index = u16::try_from(it.operand).unwrap_or(0);
        method.member(index).is_some_and(|member| {
            called.matches_class(&member.owner)
                && called.matches_method(&member.name, &member.descriptor)
        })
    });
    let at: Vec<u16> = meant.map(|it| it.bci).collect();
    Ok(method.before(&at))
}

classhook_sdk::export!(Patch);
