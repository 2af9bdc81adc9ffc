//! Colours comments, strings, keywords, numbers and annotations. This suffices for the languages of the JVM, without
//! parsing them.

use super::page::text_into;

const JAVA: &[&str] = &[
    "abstract",
    "assert",
    "boolean",
    "break",
    "byte",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extends",
    "false",
    "final",
    "finally",
    "float",
    "for",
    "goto",
    "if",
    "implements",
    "import",
    "instanceof",
    "int",
    "interface",
    "long",
    "native",
    "new",
    "null",
    "package",
    "permits",
    "private",
    "protected",
    "public",
    "record",
    "return",
    "sealed",
    "short",
    "static",
    "strictfp",
    "super",
    "switch",
    "synchronized",
    "this",
    "throw",
    "throws",
    "transient",
    "true",
    "try",
    "var",
    "void",
    "volatile",
    "when",
    "while",
    "yield",
];

/// Keywords of Kotlin, Scala and Groovy that are not in Java.
const OTHERS: &[&str] = &[
    "as",
    "companion",
    "data",
    "def",
    "fun",
    "given",
    "implicit",
    "in",
    "inline",
    "inner",
    "internal",
    "is",
    "it",
    "lateinit",
    "lazy",
    "match",
    "object",
    "open",
    "out",
    "override",
    "sealed",
    "suspend",
    "trait",
    "type",
    "typealias",
    "val",
    "where",
    "with",
];

/// The state at the start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Code,
    Comment,
    TextBlock,
}

/// Scans a file line by line.
pub(super) struct Highlighter {
    state: State,
    java: bool,
}

impl Highlighter {
    pub(super) fn for_file(name: &str) -> Self {
        Self {
            state: State::Code,
            java: name.ends_with(".java"),
        }
    }

    /// Appends a line as HTML.
    pub(super) fn line(&mut self, line: &str, out: &mut String) {
        let mut rest = line;
        while !rest.is_empty() {
            let (length, class) = self.token(rest);
            let (token, behind) = rest.split_at_checked(length.max(1)).unwrap_or((rest, ""));
            rest = behind;
            match class {
                Some(class) => {
                    out.push_str("<span class=");
                    out.push_str(class);
                    out.push('>');
                    text_into(token, out);
                    out.push_str("</span>");
                }
                None => text_into(token, out),
            }
        }
    }

    /// Returns length in bytes and class of the first token of `rest`.
    fn token(&mut self, rest: &str) -> (usize, Option<&'static str>) {
        match self.state {
            State::Comment => (self.until(rest, 0, "*/"), Some("c")),
            State::TextBlock => (self.until(rest, 0, "\"\"\""), Some("s")),
            State::Code => self.code(rest),
        }
    }

    fn code(&mut self, rest: &str) -> (usize, Option<&'static str>) {
        if rest.starts_with("//") {
            return (rest.len(), Some("c"));
        }
        if rest.starts_with("/*") {
            self.state = State::Comment;
            return (self.until(rest, 2, "*/"), Some("c"));
        }
        if rest.starts_with("\"\"\"") {
            self.state = State::TextBlock;
            return (self.until(rest, 3, "\"\"\""), Some("s"));
        }
        match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => (string(rest, quote), Some("s")),
            Some('@') => (1 + word(&rest[1..]), Some("a")),
            Some('0'..='9') => (word(rest), Some("d")),
            Some(first) if is_word(first) => {
                let length = word(rest);
                (length, self.is_keyword(&rest[..length]).then_some("k"))
            }
            Some(_) => (rest.find(begins_token).unwrap_or(rest.len()).max(1), None),
            None => (0, None),
        }
    }

    /// Returns the length up to and including `end`, which leads back to code, or that of the whole line.
    fn until(&mut self, rest: &str, from: usize, end: &str) -> usize {
        match rest.get(from..).and_then(|inner| inner.find(end)) {
            Some(place) => {
                self.state = State::Code;
                from + place + end.len()
            }
            None => rest.len(),
        }
    }

    fn is_keyword(&self, word: &str) -> bool {
        JAVA.contains(&word) || !self.java && OTHERS.contains(&word)
    }
}

fn string(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (place, character) in rest.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            end if end == quote => return place + 1,
            _ => {}
        }
    }
    rest.len()
}

fn begins_token(character: char) -> bool {
    is_word(character) || matches!(character, '/' | '"' | '\'' | '@')
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

fn word(text: &str) -> usize {
    text.find(|character| !is_word(character))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn highlighted(name: &str, source: &str) -> String {
        let mut highlighter = Highlighter::for_file(name);
        let mut out = String::new();
        for line in source.lines() {
            highlighter.line(line, &mut out);
            out.push('\n');
        }
        out
    }

    #[test]
    fn java() {
        let source = "/** A <b> */ @Deprecated\nint a = 0x1F; // 'x'\nString s = \"a\\\"b\" + '\\'';\n/* two\n lines */ x\n\
                      var t = \"\"\"\n if \"\n\"\"\" + a / 2 * fun;";
        insta::assert_snapshot!(highlighted("A.java", source));
    }

    #[test]
    fn kotlin_has_its_own_keywords() {
        assert_eq!(highlighted("A.kt", "fun a"), "<span class=k>fun</span> a\n");
        assert_eq!(highlighted("A.java", "fun a"), "fun a\n");
    }

    proptest! {
        #[test]
        fn no_text_is_lost_and_markup_is_escaped(line in "[ -~é漢\"'/*@]{0,40}") {
            let html = highlighted("A.java", &line);
            let spans = regex_free(&html);
            let mut plain = String::new();
            text_into(&line, &mut plain);
            prop_assert_eq!(spans.trim_end_matches('\n'), plain.as_str());
        }
    }

    /// Removes our spans from the text.
    fn regex_free(html: &str) -> String {
        let mut plain = html.replace("</span>", "");
        for class in ["a", "c", "d", "k", "s"] {
            plain = plain.replace(&format!("<span class={class}>"), "");
        }
        plain
    }
}
