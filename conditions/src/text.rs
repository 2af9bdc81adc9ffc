//! Texts of a call, of which only the beginning may be known.

use crate::condition::Function;

/// A text of which the beginning is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    known: &'a str,
    is_whole: bool,
}

impl<'a> Text<'a> {
    /// The part of it that is known.
    #[must_use]
    pub fn known(self) -> &'a str {
        self.known
    }

    /// The beginning of a text of `length` UTF-16 units.
    #[must_use]
    pub fn new(known: &'a str, length: u32) -> Self {
        let units = known.encode_utf16().count();
        Self {
            known,
            is_whole: units >= length as usize,
        }
    }

    /// A text that is known whole.
    #[must_use]
    pub fn whole(known: &'a str) -> Self {
        Self {
            known,
            is_whole: true,
        }
    }

    /// Whether both are the same text; none if that cannot be known.
    pub(crate) fn is(self, other: Self) -> Option<bool> {
        match (self.is_whole, other.is_whole) {
            (true, true) => Some(self.known == other.known),
            (false, true) => (!other.known.starts_with(self.known)
                || other.known.len() <= self.known.len())
            .then_some(false),
            (true, false) => other.is(self),
            (false, false) => None,
        }
    }

    /// What a function says of it; none if that cannot be known.
    pub(crate) fn answer(self, function: Function, other: Self) -> Option<bool> {
        if !other.is_whole {
            return None;
        }
        let (known, other) = (self.known, other.known);
        let found = match function {
            Function::Contains => known.contains(other),
            Function::StartsWith => {
                // What is known may be shorter than what it is compared with.
                return if self.is_whole || known.len() >= other.len() {
                    Some(known.starts_with(other))
                } else {
                    (!other.starts_with(known)).then_some(false)
                };
            }
            Function::EndsWith => self.is_whole && known.ends_with(other),
            Function::Matches => self.is_whole && matches(known, other),
        };
        (found || self.is_whole).then_some(found)
    }
}

/// Whether a pattern describes a text: `*` is any text, `?` one character. Takes steps in proportion to the product of
/// both lengths at most.
fn matches(text: &str, pattern: &str) -> bool {
    let (mut text, mut pattern) = (text.chars(), pattern.chars());
    // Behind the last `*`: the pattern, and the text from which it is tried.
    let mut again = None;
    loop {
        let (text_before, mut wanted) = (text.clone(), pattern.clone());
        match (wanted.next(), text.next()) {
            (Some('*'), _) => {
                text = text_before;
                again = Some((wanted.clone(), text.clone()));
                pattern = wanted;
                continue;
            }
            (None, None) => return true,
            (Some(wanted_char), Some(char)) if wanted_char == '?' || wanted_char == char => {
                pattern = wanted;
                continue;
            }
            _ => {}
        }
        // The text that `*` stands for is one character longer.
        let Some((behind, from)) = &mut again else {
            return false;
        };
        if from.next().is_none() {
            return false;
        }
        (pattern, text) = (behind.clone(), from.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_describe_whole_texts() {
        for (text, pattern, expected) in [
            ("", "", true),
            ("", "*", true),
            ("", "?", false),
            ("abc", "abc", true),
            ("abc", "ab", false),
            ("ab", "abc", false),
            ("abc", "a*c", true),
            ("abcbc", "a*bc", true),
            ("abcbd", "a*bc", false),
            ("é!", "?!", true),
            ("java.io.IOException", "java.io.*", true),
            ("java.io.IOException", "*.IO*", true),
            ("aaaaaaaaab", "*a*a*a*c", false),
        ] {
            assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
        }
    }

    #[test]
    fn what_is_not_known_of_a_cut_text_is_not_answered() {
        let cut = Text::new("abc", 9);
        let is = |other| cut.is(Text::whole(other));
        assert_eq!(
            (is("abcdefghi"), is("abd"), is("abc"), is("x")),
            (None, Some(false), Some(false), Some(false))
        );
        let says = |function, other| cut.answer(function, Text::whole(other));
        assert_eq!(says(Function::Contains, "bc"), Some(true));
        assert_eq!(says(Function::Contains, "z"), None);
        assert_eq!(says(Function::StartsWith, "ab"), Some(true));
        assert_eq!(says(Function::StartsWith, "abcd"), None);
        assert_eq!(says(Function::StartsWith, "x"), Some(false));
        assert_eq!(says(Function::EndsWith, "c"), None);
        assert_eq!(says(Function::Matches, "abc"), None);
        assert_eq!(cut.is(cut), None);
    }
}
