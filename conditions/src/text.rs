//! Texts of a call, possibly truncated.

use crate::condition::Function;

/// A text, possibly known only up to a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Text<'a> {
    known: &'a str,
    is_whole: bool,
}

impl<'a> Text<'a> {
    /// Returns the known prefix.
    #[must_use]
    pub fn known(self) -> &'a str {
        self.known
    }

    /// Creates a text of `length` UTF-16 units with a known prefix.
    #[must_use]
    pub fn new(known: &'a str, length: u32) -> Self {
        let units = known.encode_utf16().count();
        Self {
            known,
            is_whole: units >= length as usize,
        }
    }

    /// Creates a text that is fully known.
    #[must_use]
    pub fn whole(known: &'a str) -> Self {
        Self {
            known,
            is_whole: true,
        }
    }

    /// Checks whether both texts are equal; `None` if their known parts do not decide it.
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

    /// Evaluates a function of texts; `None` if the known parts do not decide it.
    pub(crate) fn answer(self, function: Function, other: Self) -> Option<bool> {
        if !other.is_whole {
            return None;
        }
        let (known, other) = (self.known, other.known);
        let found = match function {
            Function::Contains => known.contains(other),
            Function::StartsWith => {
                // The known prefix may be shorter than the other text.
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

/// Checks whether a pattern matches a text: `*` is any text, `?` one character. Time is at most proportional to the
/// product of both lengths.
fn matches(text: &str, pattern: &str) -> bool {
    let (mut text, mut pattern) = (text.chars(), pattern.chars());
    // Where to retry after the last `*`: the rest of the pattern, and the text.
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
        // Extends the text for `*` by one character.
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
    fn patterns_match_whole_texts() {
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
    fn unknown_part_of_a_truncated_text_leaves_the_answer_open() {
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
