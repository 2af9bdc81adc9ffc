//! Rules in TOML: JaCoCo's rules, with globs as in selectors.

use std::ops::Range;

use coverage::model::CounterKind;
use globs::Glob;
use serde::Deserialize;
use toml::{Spanned, Value as TomlValue};

use super::decimal::Decimal;
use super::document::{Document, Mistake};
use super::rule::{Element, Limit, Names, Rule, Value};
use super::xml_form::bound;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    rule: Vec<Spanned<RuleTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    element: Option<Spanned<String>>,
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    limit: Vec<Spanned<LimitTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LimitTable {
    counter: Spanned<String>,
    value: Option<Spanned<String>>,
    minimum: Option<Spanned<TomlValue>>,
    maximum: Option<Spanned<TomlValue>>,
}

/// Reads the rules of a document.
///
/// # Errors
/// If it is no TOML, holds no rules, or has an unknown word.
pub fn read(document: &Document) -> Result<Vec<Rule>, Mistake> {
    let text = document.text();
    let file: File = toml::from_str(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        Mistake::new(span, error.message().trim().to_owned(), "")
    })?;
    if file.rule.is_empty() {
        return Err(Mistake::new(
            0..0,
            "there is no rule",
            "at least one table `[[rule]]`",
        ));
    }
    file.rule
        .iter()
        .map(|table| rule(table, document))
        .collect()
}

fn rule(table: &Spanned<RuleTable>, document: &Document) -> Result<Rule, Mistake> {
    let rule = table.get_ref();
    let element = match &rule.element {
        Some(word) => of(word, "element", &Element::ALL)?,
        None => Element::Bundle,
    };
    let globs = |patterns: &[Spanned<String>]| -> Result<Vec<Glob>, Mistake> {
        patterns
            .iter()
            .map(|pattern| glob(pattern, element))
            .collect()
    };
    let limits = rule.limit.iter().map(|it| limit(it, document.text()));
    let limits: Vec<Limit> = limits.collect::<Result<_, _>>()?;
    if limits.is_empty() {
        return Err(Mistake::new(
            table.span(),
            "this rule limits nothing",
            "at least one limit",
        ));
    }
    Ok(Rule {
        element,
        names: Names::Globs {
            include: globs(&rule.include)?,
            exclude: globs(&rule.exclude)?,
        },
        limits,
        origin: document.line_of(table.span().start),
    })
}

fn limit(table: &Spanned<LimitTable>, text: &str) -> Result<Limit, Mistake> {
    let limit = table.get_ref();
    let counters = CounterKind::ALL.map(|kind| (kind.name(), kind));
    let value = match &limit.value {
        Some(word) => of(word, "value", &Value::ALL)?,
        None => Value::CoveredRatio,
    };
    let number = |number: &Option<Spanned<TomlValue>>| -> Result<Option<Decimal>, Mistake> {
        let Some(number) = number else {
            return Ok(None);
        };
        let written = match number.get_ref() {
            TomlValue::String(text) => text.as_str(),
            _ => text.get(number.span()).unwrap_or_default(),
        };
        let wrong = |expected| Mistake::new(number.span(), "this is no limit", expected);
        bound(&written.replace('_', ""), value)
            .map(Some)
            .map_err(wrong)
    };
    let (minimum, maximum) = (number(&limit.minimum)?, number(&limit.maximum)?);
    if minimum.is_none() && maximum.is_none() {
        return Err(Mistake::new(
            table.span(),
            "this limit limits nothing",
            "`minimum` or `maximum`",
        ));
    }
    Ok(Limit {
        counter: of(&limit.counter, "counter", &counters)?,
        value,
        minimum,
        maximum,
    })
}

/// Resolves a word: JaCoCo's names in lower case, `covered-ratio` for `COVEREDRATIO`.
fn of<T: Copy>(word: &Spanned<String>, what: &str, known: &[(&str, T)]) -> Result<T, Mistake> {
    let names = known.iter().map(|(name, value)| (lower(name), *value));
    let names: Vec<(String, T)> = names.collect();
    let found = names.iter().find(|(name, _)| name == word.get_ref());
    let listed = names.iter().map(|(name, _)| name.as_str());
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| Mistake::unknown(inside(word), what, word.get_ref(), listed))
}

fn lower(name: &str) -> String {
    let name = name.to_lowercase();
    let end = ["count", "ratio", "file"]
        .into_iter()
        .find(|end| name.ends_with(end));
    match end.and_then(|end| Some((name.strip_suffix(end)?, end))) {
        Some((start, end)) => format!("{start}-{end}"),
        None => name,
    }
}

/// Returns the bytes between the quotation marks.
fn inside(word: &Spanned<String>) -> Range<usize> {
    let span = word.span();
    match span.len() == word.get_ref().len() + 2 {
        true => span.start + 1..span.end - 1,
        false => span,
    }
}

fn glob(pattern: &Spanned<String>, element: Element) -> Result<Glob, Mistake> {
    let text = pattern.get_ref();
    let wrong = |problem: &str| {
        Mistake::new(
            inside(pattern),
            format!("`{text}` {problem}"),
            "a glob, such as com.acme.**",
        )
    };
    if matches!(element, Element::Bundle | Element::SourceFile) {
        return Glob::parse_path(text).map_err(wrong);
    }
    Glob::parse_class(text).map_err(wrong)
}
