//! Result of a reader for one class, and its line in the child's protocol.

/// Longest line, in bytes.
pub const MAX_ANSWER: u64 = 4_096;

/// Result of one reader for one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opinion {
    /// The reader agrees with ours.
    Agrees,
    /// The reader differs from ours, as described.
    Differs(String),
    /// The reader does not accept the class, for this reason.
    Refuses(String),
    /// The reader panicked, overflowed its stack, or exceeded a limit.
    Breaks(String),
}

impl Opinion {
    /// Formats the result as one line, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        let (kind, text) = match self {
            Self::Agrees => ('a', ""),
            Self::Differs(text) => ('d', text.as_str()),
            Self::Refuses(text) => ('r', text.as_str()),
            Self::Breaks(text) => ('b', text.as_str()),
        };
        format!("{kind}{}", one_line(text))
    }

    /// Parses such a line, or nothing if it is empty.
    #[must_use]
    pub fn from_line(line: &str) -> Option<Self> {
        let (kind, text) = line.split_at_checked(1)?;
        let text = text.to_owned();
        Some(match kind {
            "a" => Self::Agrees,
            "d" => Self::Differs(text),
            "r" => Self::Refuses(text),
            _ => Self::Breaks(text),
        })
    }
}

/// Returns the first 800 characters on one line.
fn one_line(text: &str) -> String {
    escape::line(text).chars().take(800).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opinion_survives_the_protocol() {
        let differs = Opinion::Differs("max_stack: we read 1, it reads 2".to_owned());
        for opinion in [Opinion::Agrees, differs] {
            assert_eq!(Opinion::from_line(&opinion.to_line()), Some(opinion));
        }
        assert_eq!(Opinion::from_line(""), None);
    }

    #[test]
    fn line_holds_no_control_characters() {
        let refuses = Opinion::Refuses("a\nb\u{1b}".to_owned());
        assert_eq!(refuses.to_line(), r"ra\nb\u001b");
    }
}
