//! Requested values that no call had because a field is missing.

use std::collections::{BTreeMap, BTreeSet};

use probes::events::{AbsentValue, SpanInfo, Trace};

use crate::names::{class, printable};

/// Maximum number of classes named for a value.
const MAX_CLASSES: usize = 3;

/// Values that were never present, without duplicates, as lines of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Absent {
    /// Each value, with the class and its missing field.
    pub lines: Vec<String>,
    /// Existing values with similar names.
    pub nearest: Vec<String>,
}

impl Absent {
    /// Collects the values that calls of these JVMs requested and never had. `nearest` finds the most similar name.
    pub fn of<'t>(
        traces: impl Iterator<Item = &'t Trace> + Clone,
        nearest: impl Fn(&str, &[String]) -> Option<String>,
    ) -> Self {
        let spans = || {
            traces
                .clone()
                .flat_map(|trace| trace.spans.values().chain(trace.places.values()))
        };
        let found: BTreeSet<&str> = spans()
            .flat_map(|span| span.found.iter().filter_map(|at| shown(span, *at)))
            .collect();
        let mut by_name: BTreeMap<&str, BTreeMap<String, Option<String>>> = BTreeMap::new();
        for span in spans() {
            for value in &span.absent {
                let name = shown(span, value.number).filter(|name| !found.contains(name));
                let Some(name) = name else {
                    continue;
                };
                let near = nearest(&value.field, &value.fields);
                let near = near.map(|near| printable(&replaced(name, value, &near)));
                let lines = by_name.entry(name).or_default();
                lines.insert(line(name, value), near);
            }
        }
        let mut absent = Self::default();
        for lines in by_name.into_values() {
            // A class with a similar name is most likely the intended one.
            let has_near = lines.values().any(Option::is_some);
            let lines = lines
                .into_iter()
                .filter(|(_, near)| near.is_some() || !has_near);
            for (line, near) in lines.take(MAX_CLASSES) {
                absent.lines.push(line);
                absent.nearest.extend(near);
            }
        }
        absent.nearest.dedup();
        absent
    }
}

fn shown(span: &SpanInfo, number: u8) -> Option<&str> {
    span.shown.get(usize::from(number)).map(String::as_str)
}

fn line(name: &str, value: &AbsentValue) -> String {
    let name = printable(name);
    if value.field.starts_with('[') {
        return format!("{name}: {} has no elements", class(&value.class));
    }
    format!(
        "{name}: {} has no field `{}`",
        class(&value.class),
        printable(&value.field)
    )
}

/// Returns the value with another field in place of the missing one.
fn replaced(name: &str, value: &AbsentValue, near: &str) -> String {
    let wrong = format!(".{}", value.field);
    match name.find(&wrong) {
        Some(at) => format!(
            "{}.{near}{}",
            name.get(..at).unwrap_or_default(),
            name.get(at + wrong.len()..).unwrap_or_default()
        ),
        None => near.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(found: &[u8]) -> Trace {
        let absent = |number, field: &str| AbsentValue {
            number,
            class: "a/Order".to_owned(),
            field: field.to_owned(),
            fields: ["name", "id"].map(str::to_owned).to_vec(),
        };
        let span = SpanInfo {
            id: 1,
            shown: ["order.nme.length", "order.id", "order[3]"]
                .map(str::to_owned)
                .to_vec(),
            found: found.to_vec(),
            absent: vec![absent(0, "nme"), absent(1, "id"), absent(2, "[3]")],
            ..SpanInfo::default()
        };
        let mut trace = Trace::default();
        trace.spans.insert(1, span);
        trace
    }

    #[test]
    fn absent_value_is_reported_once_with_the_nearest_name() {
        let nearest = |field: &str, fields: &[String]| {
            fields
                .iter()
                .find(|it| it.starts_with(&field[..1]))
                .cloned()
        };
        let traces = [trace(&[]), trace(&[1])];
        let absent = Absent::of(traces.iter(), nearest);
        let lines = [
            "order.nme.length: a.Order has no field `nme`",
            "order[3]: a.Order has no elements",
        ];
        assert_eq!(absent.lines, lines);
        assert_eq!(absent.nearest, ["order.name.length"]);
    }
}
