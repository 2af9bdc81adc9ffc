//! Reasons why no component was fetched.

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
    /// A failure with its finding alone.
    pub fn new(found: impl Into<String>) -> Self {
        Self {
            found: found.into(),
            expected: None,
            help: None,
        }
    }

    /// Adds the expectation.
    pub fn expected(self, expected: impl Into<String>) -> Self {
        let expected = Some(expected.into());
        Self { expected, ..self }
    }

    /// Adds the remedy.
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }
}
