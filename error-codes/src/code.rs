//! A code with its description, and its section in `docs/errors.md`.

/// A code with its description.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorCode {
    /// The code: `H` and four digits.
    pub code: &'static str,
    /// The exit statuses of a command that ends with this error, in ascending order. It is empty for messages of the
    /// agent, and for warnings that leave the exit status as it is.
    pub statuses: &'static [u8],
    /// The meaning, in Markdown.
    pub meaning: &'static str,
    /// The remedy, in Markdown; empty if each message has one of its own.
    pub remedy: &'static str,
}

/// The first code of each section of `docs/errors.md`, with the section's anchor there.
const SECTIONS: [(&str, &str); 9] = [
    ("H0101", "h01xx-configuration-and-plugin-files"),
    ("H0201", "h02xx-capabilities"),
    ("H0301", "h03xx-one-class-while-the-program-runs"),
    ("H0401", "h04xx-the-agent-in-the-jvm"),
    ("H0501", "h05xx-reaching-a-running-jvm"),
    ("H0600", "h06xx-the-command-line"),
    ("H0701", "h07xx-reaching-an-agent"),
    ("H0720", "h072x-hot-patches"),
    ("H0801", "h08xx-classes-instrumented-before-they-run"),
];

impl ErrorCode {
    /// Returns the anchor of the section of `docs/errors.md` that has this code.
    #[must_use]
    pub fn section(&self) -> &'static str {
        let sections = SECTIONS.iter().rev();
        let mut sections = sections.skip_while(|(first, _)| *first > self.code);
        sections.next().map_or("", |(_, anchor)| anchor)
    }
}
