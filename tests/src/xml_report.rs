//! JaCoCo's XML reports as flat lists of values, so that two of them can be compared value by value.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::BTreeMap;
use std::path::Path;

/// Every value of a report, by where it stands: `package a/class a/B/method run ()V/counter BRANCH missed` is `3`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct XmlReport(pub BTreeMap<String, String>);

impl XmlReport {
    /// Reads a file; what tells one run from another (`sessioninfo`) and the report's own name are left out.
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

    /// Adds an element's values, and returns where it stands.
    fn enter(&mut self, path: &[String], element: &BytesStart<'_>) -> String {
        let kind = element.name().as_ref().to_owned();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for attribute in element.attributes() {
            let attribute = attribute.expect("a well-formed attribute");
            let key = attribute.key.as_ref().to_owned();
            let value = attribute
                .normalized_value(quick_xml::XmlVersion::Explicit1_0)
                .expect("a well-formed value");
            let naming = matches!(key.as_str(), "name" | "desc" | "type" | "nr");
            if naming {
                names.push(value.into_owned())
            } else {
                values.push((key, value.into_owned()))
            }
        }
        let above = path.last().map_or("", String::as_str);
        let place = format!("{above}/{kind} {}", names.join(" "));
        self.0.insert(place.clone(), String::new());
        for (key, value) in values {
            self.0.insert(format!("{place} {key}"), value);
        }
        place
    }

    /// Every value that is not the same in the other report, as lines of text.
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
    fn counters_and_lines_are_told_by_where_they_stand() {
        let report = XmlReport::parse(REPORT);
        assert_eq!(
            report.0["/package p/class p/A/method run ()V/counter LINE covered"],
            "2"
        );
        assert_eq!(report.0["/package p/sourcefile A.java/line 3 ci"], "4");
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
            ["/package p/class p/A/method run ()V/counter LINE covered: 2 against 3"]
        );
    }
}
