//! The syntax of rules, and their parsed form.
//!
//! ```toml
//! [[plugin.config.rule]]
//! method = "com.acme.Bank.transfer"
//! where = "entry"
//! what = { throw = "java.lang.IllegalStateException", message = "injected" }
//! probability = 0.1
//! ```

use classhook_sdk::edit::Member;
use classhook_sdk::pattern::Pattern;
use classhook_sdk::prelude::*;
use serde::de::{self, MapAccess, Visitor};
use std::fmt;

use crate::throwables;

/// The table `[plugin.config]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The rules in the order of application.
    #[serde(default)]
    rule: Vec<Written>,
}

/// One rule as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    method: String,
    r#where: Option<String>,
    what: WrittenAction,
    probability: Option<f64>,
}

/// The table `what`, or the word `return`.
struct WrittenAction {
    table: Table,
    /// The word alone, which means the default value of the return type.
    returns: bool,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct Table {
    r#return: Option<Constant>,
    throw: Option<String>,
    message: Option<String>,
    log: Option<String>,
    call: Option<String>,
    delay: Option<u64>,
}

/// A value for a method to return.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Constant {
    /// For `boolean` methods.
    Boolean(bool),
    /// For methods of an integral type, and floating-point ones.
    Integer(i64),
    /// For methods of a floating-point type.
    Number(f64),
    /// For methods that return a string, or a character.
    Text(String),
}

/// One rule.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// Its index among the rules, from 0.
    pub number: usize,
    /// The pattern of methods.
    pub method: Pattern,
    /// The place in the methods.
    pub place: Where,
    /// The action at the place.
    pub action: Action,
    /// The probability of the action, above 0 and at most 1.
    pub probability: f64,
}

/// The place of a rule in a method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Where {
    /// The entry of the method.
    Entry,
    /// The return of the method.
    Return,
    /// The point where an exception leaves the method.
    Throw,
    /// In front of each call of these methods.
    Call(Pattern),
}

/// The action of a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Returns this value; by default nothing, zero, false or null.
    Return(Option<Constant>),
    /// Throws an exception of this class (internal name) with this message.
    Throw(String, Option<String>),
    /// Prints a line on standard error.
    Log(String),
    /// Calls a static method without parameters and result.
    Call(Member),
    /// Delays the thread by this number of milliseconds.
    Delay(u64),
}

/// Maximum delay, an hour; a longer one is probably a typing error.
const MAX_DELAY: u64 = 3_600_000;

impl Settings {
    /// Checks and converts the rules.
    ///
    /// # Errors
    /// The place of the key in the table, with the expected and the found value.
    pub fn rules(self) -> Result<Vec<Rule>> {
        if self.rule.is_empty() {
            return Err(
                "rule: expected at least one rule, `[[plugin.config.rule]]` with `method` and `what`"
                    .into(),
            );
        }
        self.rule
            .into_iter()
            .enumerate()
            .map(|(number, written)| {
                let rule = written.rule(number);
                rule.map_err(|(key, text)| Error::Message(format!("rule[{number}].{key}: {text}")))
            })
            .collect()
    }
}

/// A key of a rule, and a description of its error.
type Wrong = (&'static str, String);

impl Written {
    fn rule(self, number: usize) -> std::result::Result<Rule, Wrong> {
        let method = pattern(&self.method, "method")?;
        let place = place(self.r#where.as_deref().unwrap_or("entry"))?;
        let action = self.what.action()?;
        let returns = matches!(action, Action::Return(_));
        if returns && matches!(place, Where::Call(_)) {
            let text = "a call cannot be made to return something; name the method that is called as `method`";
            return Err(("what", text.to_owned()));
        }
        let probability = self.probability.unwrap_or(1.0);
        if !(probability > 0.0 && probability <= 1.0) {
            let text = format!("expected a number above 0 and at most 1, found {probability}");
            return Err(("probability", text));
        }
        Ok(Rule {
            number,
            method,
            place,
            action,
            probability,
        })
    }
}

fn pattern(text: &str, key: &'static str) -> std::result::Result<Pattern, Wrong> {
    Pattern::parse(text).map_err(|error| (key, error.to_string()))
}

fn place(text: &str) -> std::result::Result<Where, Wrong> {
    match text {
        "entry" => Ok(Where::Entry),
        "return" => Ok(Where::Return),
        "throw" => Ok(Where::Throw),
        _ => match text.strip_prefix("call ") {
            Some(method) => pattern(method.trim(), "where").map(Where::Call),
            None => Err((
                "where",
                format!(
                    "unknown place `{text}`, expected one of `entry`, `return`, `throw`, `call CLASS.METHOD`"
                ),
            )),
        },
    }
}

impl WrittenAction {
    fn action(self) -> std::result::Result<Action, Wrong> {
        let Table {
            r#return,
            throw,
            message,
            log,
            call,
            delay,
        } = self.table;
        let mut actions = Vec::new();
        if self.returns {
            actions.push(Action::Return(None));
        }
        actions.extend(r#return.map(|value| Action::Return(Some(value))));
        let has_throw = throw.is_some();
        if let Some(class) = throw {
            let name = class_name(&class)?;
            throwables::check(&name.replace('/', "."), message.is_some())
                .map_err(|text| ("what.throw", text))?;
            actions.push(Action::Throw(name, message.clone()));
        }
        actions.extend(log.map(Action::Log));
        if let Some(call) = call {
            actions.push(Action::Call(static_method(&call)?));
        }
        if let Some(delay) = delay {
            if delay > MAX_DELAY {
                let text = format!("expected at most {MAX_DELAY} milliseconds, found {delay}");
                return Err(("what.delay", text));
            }
            actions.push(Action::Delay(delay));
        }
        if message.is_some() && !has_throw {
            return Err(("what.message", "only an exception has a message".to_owned()));
        }
        let count = actions.len();
        match (actions.pop(), count) {
            (Some(action), 1) => Ok(action),
            _ => Err((
                "what",
                format!(
                    "expected one of `return`, `throw`, `log`, `call`, `delay`, found {count}; several rules may name one method"
                ),
            )),
        }
    }
}

/// Converts a class name with dots or slashes to an internal name.
fn class_name(text: &str) -> std::result::Result<String, Wrong> {
    let name = text.replace('.', "/");
    let bad = |part: &str| part.is_empty() || part.contains([';', '[', ' ', '(', ')']);
    if name.split('/').any(bad) {
        let text = format!("expected a class such as `java.io.IOException`, found `{text}`");
        return Err(("what.throw", text));
    }
    Ok(name)
}

/// Parses a static method, such as `com.acme.Faults.hit`.
fn static_method(text: &str) -> std::result::Result<Member, Wrong> {
    let wrong = || {
        let text = format!(
            "expected a static method without parameters and result, such as `com.acme.Faults.hit`, found `{text}`"
        );
        ("what.call", text)
    };
    let name = text.strip_suffix("()").unwrap_or(text);
    let (class, method) = name.rsplit_once('.').ok_or_else(wrong)?;
    let class = class_name(class).map_err(|_| wrong())?;
    if method.is_empty() || method.contains(['(', ')', '<', '>', '/', ' ']) {
        return Err(wrong());
    }
    Ok(Member::of_class(&class, method, "()V"))
}

impl<'de> Deserialize<'de> for WrittenAction {
    fn deserialize<D: de::Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<Self, D::Error> {
        deserializer.deserialize_any(WhatVisitor)
    }
}

struct WhatVisitor;

impl<'de> Visitor<'de> for WhatVisitor {
    type Value = WrittenAction;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table such as `{ throw = \"java.io.IOException\" }`, or the word \"return\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> std::result::Result<WrittenAction, E> {
        if text != "return" {
            return Err(E::invalid_value(de::Unexpected::Str(text), &self));
        }
        Ok(WrittenAction {
            table: Table::default(),
            returns: true,
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<WrittenAction, A::Error> {
        let table = Table::deserialize(de::value::MapAccessDeserializer::new(map))?;
        Ok(WrittenAction {
            table,
            returns: false,
        })
    }
}
