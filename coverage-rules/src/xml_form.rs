//! JaCoCo's `<rules>`, alone or in the configuration of its plugin in a `pom.xml`.

use std::collections::BTreeMap;

use coverage::model::CounterKind;

use super::decimal::Decimal;
use super::document::{Document, Mistake};
use super::elements::{self, Element};
use super::rule::{self, Limit, Names, Rule, Value};

/// Properties of a `pom.xml`, by name.
type Properties<'x> = BTreeMap<&'x str, &'x str>;

/// Reads the rules of a document.
///
/// # Errors
/// If it is not well-formed, holds no rules, or has an element unknown to JaCoCo.
pub fn read(document: &Document) -> Result<Vec<Rule>, Mistake> {
    let root = elements::read(document.text())?;
    let (found, properties) = match root.name.as_str() {
        "rules" => (vec![&root], Properties::new()),
        "project" => (of_plugin(&root), properties(&root)),
        other => {
            let message = format!("`<{other}>` holds no rules");
            return Err(Mistake::new(
                root.tag.clone(),
                message,
                "`<rules>`, or the `<project>` of a pom.xml",
            ));
        }
    };
    let form = Form {
        document,
        properties,
    };
    let rules = found.iter().flat_map(|rules| &rules.children);
    let rules: Vec<Rule> = rules
        .map(|rule| form.rule(rule))
        .collect::<Result<_, _>>()?;
    if rules.is_empty() {
        return Err(Mistake::new(
            root.tag.clone(),
            "there is no rule",
            "`<rule>` in `<rules>`, in a pom.xml in the configuration of jacoco-maven-plugin",
        ));
    }
    Ok(rules)
}

/// Returns the elements `rules` in the configuration of JaCoCo's plugin. A pom.xml may have
/// several.
fn of_plugin(project: &Element) -> Vec<&Element> {
    let build = project.child("build");
    let managed = build.and_then(|build| build.child("pluginManagement"));
    let lists = [build, managed]
        .into_iter()
        .flatten()
        .filter_map(|it| it.child("plugins"));
    let plugins = lists.flat_map(|list| &list.children);
    let is_jacoco = |plugin: &&Element| {
        plugin
            .child("artifactId")
            .is_some_and(|id| id.text == "jacoco-maven-plugin")
    };
    let with_executions = plugins.filter(is_jacoco).flat_map(|plugin| {
        let executions = plugin.child("executions").into_iter();
        std::iter::once(plugin).chain(executions.flat_map(|list| &list.children))
    });
    with_executions
        .filter_map(|it| it.child("configuration")?.child("rules"))
        .collect()
}

fn properties(project: &Element) -> Properties<'_> {
    let list = project.child("properties").into_iter();
    let own = list.flat_map(|list| &list.children);
    own.map(|it| (it.name.as_str(), it.text.as_str())).collect()
}

struct Form<'x> {
    document: &'x Document,
    properties: Properties<'x>,
}

impl Form<'_> {
    fn rule(&self, element: &Element) -> Result<Rule, Mistake> {
        named(element, "rule")?;
        let mut rule = Rule {
            element: rule::Element::Bundle,
            names: Names::Wildcards {
                include: Vec::new(),
                exclude: Vec::new(),
            },
            limits: Vec::new(),
            origin: self.document.line_of(element.tag.start),
        };
        let (mut include, mut exclude) = (Vec::new(), Vec::new());
        for child in &element.children {
            match child.name.as_str() {
                "element" => rule.element = self.word(child, "element", &rule::Element::ALL)?,
                "includes" => include = self.patterns(child, "include")?,
                "excludes" => exclude = self.patterns(child, "exclude")?,
                "limits" => {
                    rule.limits = child
                        .children
                        .iter()
                        .map(|it| self.limit(it))
                        .collect::<Result<_, _>>()?
                }
                _ => return Err(unknown(child, "element, includes, excludes, limits")),
            }
        }
        if rule.limits.is_empty() {
            return Err(Mistake::new(
                element.tag.clone(),
                "this rule limits nothing",
                "`<limits>` with at least one `<limit>`",
            ));
        }
        rule.names = Names::Wildcards { include, exclude };
        Ok(rule)
    }

    fn patterns(&self, list: &Element, name: &str) -> Result<Vec<String>, Mistake> {
        if !list.text.is_empty() {
            return Err(Mistake::new(
                list.place(),
                "this is no list",
                format!("elements `<{name}>`"),
            ));
        }
        let patterns = list.children.iter().map(|element| {
            named(element, name)?;
            let text = self.text(element)?;
            Ok(text.split(':').map(str::to_owned).collect())
        });
        let patterns: Vec<Vec<String>> = patterns.collect::<Result<_, _>>()?;
        Ok(patterns.concat())
    }

    fn limit(&self, element: &Element) -> Result<Limit, Mistake> {
        named(element, "limit")?;
        let counters = CounterKind::ALL.map(|kind| (kind.name(), kind));
        let mut limit = Limit {
            counter: CounterKind::Instruction,
            value: Value::CoveredRatio,
            minimum: None,
            maximum: None,
        };
        for child in &element.children {
            match child.name.as_str() {
                "counter" => limit.counter = self.word(child, "counter", &counters)?,
                "value" => limit.value = self.word(child, "value", &Value::ALL)?,
                "minimum" | "maximum" => (),
                _ => return Err(unknown(child, "counter, value, minimum, maximum")),
            }
        }
        limit.minimum = self.bound(element.child("minimum"), limit.value)?;
        limit.maximum = self.bound(element.child("maximum"), limit.value)?;
        if limit.minimum.is_none() && limit.maximum.is_none() {
            return Err(Mistake::new(
                element.tag.clone(),
                "this limit limits nothing",
                "`<minimum>` or `<maximum>`",
            ));
        }
        Ok(limit)
    }

    fn bound(&self, element: Option<&Element>, value: Value) -> Result<Option<Decimal>, Mistake> {
        let Some(element) = element else {
            return Ok(None);
        };
        bound(&self.text(element)?, value)
            .map(Some)
            .map_err(|expected| Mistake::new(element.place(), "this is no limit", expected))
    }

    fn word<T: Copy>(
        &self,
        element: &Element,
        what: &str,
        known: &[(&str, T)],
    ) -> Result<T, Mistake> {
        let text = self.text(element)?;
        let found = known.iter().find(|(name, _)| *name == text);
        let names = known.iter().map(|(name, _)| *name);
        found
            .map(|(_, value)| *value)
            .ok_or_else(|| Mistake::unknown(element.place(), what, &text, names))
    }

    /// Returns the text of an element with its properties resolved.
    fn text(&self, element: &Element) -> Result<String, Mistake> {
        if let Some(child) = element.children.first() {
            return Err(Mistake::new(
                child.tag.clone(),
                format!("`<{}>` is not known here", child.name),
                "text",
            ));
        }
        let mut text = element.text.clone();
        // A property may name another one. The limit stops circles.
        for _ in 0..10 {
            let Some((before, rest)) = text.split_once("${") else {
                return Ok(text);
            };
            let Some((name, after)) = rest.split_once('}') else {
                return Ok(text);
            };
            let value = self.properties.get(name).ok_or_else(|| {
                let message = format!("the property `{name}` is not set in this file");
                Mistake::new(
                    element.place(),
                    message,
                    "a value, or a property of the same file",
                )
            })?;
            text = format!("{before}{value}{after}");
        }
        Err(Mistake::new(
            element.place(),
            "properties name each other in a circle",
            "",
        ))
    }
}

/// Parses a number in the range of a value.
///
/// # Errors
/// The expected number.
pub fn bound(text: &str, value: Value) -> Result<Decimal, &'static str> {
    let number: Option<Decimal> = text.parse().ok();
    match value.is_ratio() {
        true => number
            .filter(|number| !number.exceeds_one())
            .ok_or("a ratio from 0 to 1, such as `0.80` or `80%`"),
        false => number.ok_or("a number from 0 on"),
    }
}

fn named(element: &Element, name: &str) -> Result<(), Mistake> {
    match element.name == name {
        true => Ok(()),
        false => Err(unknown(element, name)),
    }
}

fn unknown(element: &Element, expected: &str) -> Mistake {
    let message = format!("`<{}>` is not known here", element.name);
    Mistake::new(element.tag.clone(), message, expected)
}
