//! JaCoCo's XML reports as flat lists of elements, which can be compared value by value.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use std::path::Path;

/// Every element of a report, by its path, with its values by name:
/// `/package a/class a/B/method run ()V/counter BRANCH` has `covered=4 missed=3`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct XmlReport(BTreeMap<String, String>);

impl XmlReport {
    /// Reads a file without its identity: `sessioninfo` and the report's own name are left out.
    ///
    /// # Panics
    /// If the file is no XML report.
    pub fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file)
            .unwrap_or_else(|error| panic!("failed to read {}: {error}", file.display()));
        Self::parse(&text)
    }

    /// Reads a report from its text.
    ///
    /// # Panics
    /// If the text is no XML report.
    pub fn parse(text: &str) -> Self {
        let mut reader = Reader::from_str(text);
        let mut report = Self::default();
        let mut path: Vec<String> = Vec::new();
        let mut root = false;
        loop {
            match reader.read_event().expect("well-formed XML") {
                Event::Start(element) => {
                    if path.is_empty() {
                        assert_eq!(
                            element.name().as_ref(),
                            "report",
                            "expected a JaCoCo report"
                        );
                        root = true;
                        path.push(String::new());
                    } else {
                        path.push(report.enter(&path, &element));
                    }
                }
                Event::Empty(element) if element.name().as_ref() != "sessioninfo" => {
                    report.enter(&path, &element);
                }
                Event::End(_) => drop(path.pop()),
                Event::Eof => break,
                _ => {}
            }
        }
        assert!(root, "expected a JaCoCo report, found no element");
        report
    }

    /// Adds an element's values, and returns its path.
    fn enter(&mut self, path: &[String], element: &BytesStart<'_>) -> String {
        let mut place = path.last().cloned().unwrap_or_default();
        place.push('/');
        place.push_str(element.name().as_ref());
        place.push(' ');
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for attribute in element.attributes() {
            let attribute = attribute.expect("a well-formed attribute");
            let value = attribute
                .normalized_value(quick_xml::XmlVersion::Explicit1_0)
                .expect("a well-formed value");
            match attribute.key.as_ref() {
                "name" | "desc" | "type" | "nr" => names.push(value),
                key => values.push(format!("{key}={value}")),
            }
        }
        place.push_str(&names.join(" "));
        values.sort_unstable();
        self.insert(place.clone(), values.join(" "));
        place
    }

    /// Adds or replaces an element.
    pub fn insert(&mut self, place: String, values: String) {
        self.0.insert(place, values);
    }

    /// Returns the values of the element with this path.
    pub fn values(&self, place: &str) -> Option<&str> {
        self.0.get(place).map(String::as_str)
    }

    /// Returns one of these values as a number.
    ///
    /// # Panics
    /// If the value is no number.
    pub fn number(&self, place: &str, name: &str) -> Option<u32> {
        let mut values = self.values(place)?.split(' ');
        let value = values.find_map(|value| value.strip_prefix(name)?.strip_prefix('='))?;
        Some(value.parse().expect("a number"))
    }

    /// Returns the paths of the elements.
    pub fn places(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the number of elements.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Keeps the elements with numbers, and removes those with names of files.
    pub fn numbers(mut self) -> Self {
        self.0
            .retain(|_, values| !values.is_empty() && !values.starts_with("sourcefilename="));
        self
    }

    /// Returns every element that differs in the other report, as lines of text.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let absent = "(absent)".to_owned();
        let mut found = Vec::new();
        for (place, value) in &self.0 {
            let there = other.0.get(place).unwrap_or(&absent);
            if there != value {
                found.push(format!("{place}: {value} against {there}"));
            }
        }
        let only_there = other
            .0
            .iter()
            .filter(|(place, _)| !self.0.contains_key(*place));
        found.extend(only_there.map(|(place, value)| format!("{place}: (absent) against {value}")));
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<?xml version="1.0"?><report name="x"><sessioninfo id="a" start="1" dump="2"/>
        <package name="p"><class name="p/A" sourcefilename="A.java"><method name="run" desc="()V" line="3">
        <counter type="LINE" missed="1" covered="2"/></method></class>
        <sourcefile name="A.java"><line nr="3" mi="0" ci="4" mb="0" cb="0"/></sourcefile></package></report>"#;

    #[test]
    fn counters_and_lines_are_identified_by_their_path() {
        let report = XmlReport::parse(REPORT);
        let counter = "/package p/class p/A/method run ()V/counter LINE";
        assert_eq!(report.values(counter), Some("covered=2 missed=1"));
        assert_eq!(report.number(counter, "covered"), Some(2));
        let line = "/package p/sourcefile A.java/line 3";
        assert_eq!(report.number(line, "ci"), Some(4));
        assert_eq!(
            report.number("/package p/sourcefile A.java/line 4", "ci"),
            None
        );
    }

    #[test]
    fn elements_with_numbers_are_distinguished_from_others() {
        let report = XmlReport::parse(REPORT);
        assert_eq!(report.count(), 6);
        let numbers = report.numbers();
        assert_eq!(numbers.count(), 3);
        assert_eq!(numbers.values("/package p/class p/A"), None);
    }

    #[test]
    fn one_other_counter_is_one_difference() {
        let other = XmlReport::parse(
            &REPORT
                .replace("covered=\"2\"", "covered=\"3\"")
                .replace("id=\"a\"", "id=\"b\""),
        );
        let found = XmlReport::parse(REPORT).differences(&other);
        assert_eq!(
            found,
            [
                "/package p/class p/A/method run ()V/counter LINE: covered=2 missed=1 against covered=3 missed=1"
            ]
        );
    }
}
