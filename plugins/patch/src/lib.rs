//! The bundled patch plugin: faults by rules, so that fault injection needs no code.
//!
//! `rule` reads the rules of `[plugin.config]`, `code` says what is inserted. A rule that cannot take effect in a method it names says so in a note, and the others do.

mod code;
mod rule;

use classhook_sdk::descriptor::MethodDescriptor;
use classhook_sdk::names;
use classhook_sdk::opcode::{INVOKEINTERFACE, INVOKEVIRTUAL, is_return};
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;

use code::Stack;
use rule::{Action, Rule, Settings, Where};

/// Inserts what the rules say.
pub struct Patch {
    rules: Vec<Rule>,
}

impl Transformer for Patch {
    type Config = Settings;

    fn new(config: Settings) -> Result<Self> {
        Ok(Self {
            rules: config.rules()?,
        })
    }

    fn select(&self) -> Vec<String> {
        let mut classes: Vec<String> = self
            .rules
            .iter()
            .map(|rule| rule.method.selector.clone())
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
        for method in class.methods().filter(Method::has_code) {
            for rule in &rules {
                if rule
                    .method
                    .matches_method(method.name(), method.descriptor())
                {
                    apply(rule, &method, plan)?;
                }
            }
        }
        Ok(())
    }
}

/// Inserts one rule into one method.
fn apply(rule: &Rule, method: &Method<'_>, plan: &mut Plan<'_>) -> Result {
    let (at, stack) = match &rule.place {
        Where::Entry => (vec![method.entry()], Stack::Nothing),
        Where::Return => (returns(method)?, Stack::Returned),
        Where::Throw => (vec![method.unwind()], Stack::Thrown),
        Where::Call(called) => (calls(method, called)?, Stack::Nothing),
    };
    if at.is_empty() {
        return Ok(());
    }
    let descriptor = MethodDescriptor::parse(method.descriptor().as_bytes());
    let returned = descriptor.ok().and_then(|found| found.return_type());
    let misfit = match code::code(rule, stack, returned) {
        Ok(_) if is_half_made(rule, method) => {
            "a constructor cannot return before it has called that of its super class".to_owned()
        }
        Ok(code) => return Ok(plan.insert(&at, &code)?),
        Err(misfit) => misfit,
    };
    plan.note(method.entry(), &format!("no effect: {misfit}"));
    Ok(())
}

/// At the entry of a constructor there is no object yet that could be returned.
fn is_half_made(rule: &Rule, method: &Method<'_>) -> bool {
    method.name() == names::INIT
        && matches!(rule.action, Action::Return(_))
        && rule.place == Where::Entry
}

/// Before the return instructions.
fn returns(method: &Method<'_>) -> Result<Vec<Site>> {
    let all = method.instructions()?;
    let at = all.iter().filter(|it| is_return(it.opcode));
    let at: Vec<u16> = at.map(|it| it.bci).collect();
    Ok(method.before(&at)?)
}

/// Before the calls of a method that the pattern names.
fn calls(method: &Method<'_>, called: &Pattern) -> Result<Vec<Site>> {
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
    Ok(method.before(&at)?)
}

classhook_sdk::export!(Patch);
