//! Why there is no component.

/// Why there is no component, in the words of an error of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What happened instead.
    pub found: String,
    /// What should have.
    pub expected: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Failure {
    /// What happened instead.
    pub fn new(found: impl Into<String>) -> Self {
        Self {
            found: found.into(),
            expected: None,
            help: None,
        }
    }

    /// The same with what was expected.
    pub fn expected(self, expected: impl Into<String>) -> Self {
        let expected = Some(expected.into());
        Self { expected, ..self }
    }

    /// The same with what to do.
    pub fn help(self, help: impl Into<String>) -> Self {
        let help = Some(help.into());
        Self { help, ..self }
    }
}
