//! Reasons why no component was fetched.

/// Maximum bytes of a finding or an expectation: they may quote a server.
const MAX_TEXT_BYTES: usize = 1 << 10;

/// The reason why no component was fetched, with the parts of an error of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The finding, such as the status of the answer.
    pub found: String,
    /// The expected value, if it says more.
    pub expected: Option<String>,
    /// The remedy for the user.
    pub help: Option<String>,
}

impl Failure {
    /// A failure with its finding alone; a long one is cut.
    pub fn new(found: impl Into<String>) -> Self {
        Self {
            found: shown(found.into()),
            expected: None,
            help: None,
        }
    }

    /// Adds the expectation.
    pub fn expected(self, expected: impl Into<String>) -> Self {
        let expected = Some(shown(expected.into()));
        Self { expected, ..self }
    }

    /// Adds the remedy.
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }
}

/// Cuts a text that may quote a server, and says how long it was.
fn shown(mut text: String) -> String {
    let length = text.len();
    if length > MAX_TEXT_BYTES {
        escape::cut(&mut text, MAX_TEXT_BYTES);
        text += &format!(" … ({length} bytes in all)");
    }
    text
}
