//! Places in Java sources. Class files have lines of code only, so the source itself shows the line of a declaration.

use std::collections::HashMap;

/// Sources by the name of their file.
#[derive(Debug, Default)]
pub(crate) struct Places {
    lines: HashMap<String, Vec<String>>,
}

impl Places {
    pub fn new(sources: &[(String, String)]) -> Self {
        let lines = sources.iter().map(|(name, text)| {
            let lines = text.lines().map(str::to_owned).collect();
            (name.clone(), lines)
        });
        Self {
            lines: lines.collect(),
        }
    }

    /// Returns `FILE:LINE` of the nearest line at or above `line` with this word, followed by `behind`. Without the
    /// source, it is the line itself.
    pub fn above(&self, file: &str, line: u16, word: &str, behind: &str) -> String {
        let lines = self.lines.get(file).map(Vec::as_slice).unwrap_or_default();
        let up = lines.iter().enumerate().take(line.into()).rev();
        let found = up.into_iter().find(|(_, text)| has(text, word, behind));
        match (found, line) {
            (Some((at, _)), _) => format!("{file}:{}", at + 1),
            (None, 0) => file.to_owned(),
            (None, line) => format!("{file}:{line}"),
        }
    }

    /// Returns `FILE:LINE` of the first line with this word.
    pub fn first(&self, file: &str, word: &str, behind: &str) -> String {
        let lines = self.lines.get(file).map(Vec::as_slice).unwrap_or_default();
        match lines.iter().position(|text| has(text, word, behind)) {
            Some(at) => format!("{file}:{}", at + 1),
            None => file.to_owned(),
        }
    }
}

/// Checks whether a line of code has a whole word, followed by one of these characters.
fn has(line: &str, word: &str, behind: &str) -> bool {
    let code = line.split("//").next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (code.get(..at), code.get(at + word.len()..));
        let before = before.unwrap_or_default().chars().next_back();
        let after = after.unwrap_or_default();
        let next = after.trim_start().chars().next();
        !before.is_some_and(is_part)
            && !after.chars().next().is_some_and(is_part)
            && (behind.is_empty() || next.is_some_and(|next| behind.contains(next)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_found_above_their_code() {
        let text = "class A {\n  static int size;\n  @OnEntry\n  static void start(\n    int size) {\n    start(1);\n  }\n}";
        let places = Places::new(&[("A.java".to_owned(), text.to_owned())]);
        assert_eq!(places.above("A.java", 5, "start", "("), "A.java:4");
        assert_eq!(places.above("A.java", 6, "start", "("), "A.java:6");
        assert_eq!(places.above("A.java", 3, "other", "("), "A.java:3");
        assert_eq!(places.above("B.java", 3, "start", "("), "B.java:3");
        assert_eq!(places.above("B.java", 0, "start", "("), "B.java");
        assert_eq!(places.first("A.java", "size", ";="), "A.java:2");
        assert_eq!(places.first("A.java", "class", ""), "A.java:1");
        assert_eq!(places.first("B.java", "class", ""), "B.java");
    }
}
