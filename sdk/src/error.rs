//! The error of a plugin that gives up on a class.

use edits::Refusal;

/// The reason why a plugin gives up on a class; the user sees its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text of the plugin.
    #[error("{0}")]
    Message(String),
    /// The host rejected a request.
    #[error("{}: {}", .0.code, .0.message)]
    Refused(Refusal),
}

/// The result of [`crate::Transformer::transform`].
pub type Result<T = ()> = std::result::Result<T, Error>;

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<String> for Error {
    fn from(text: String) -> Self {
        Self::Message(text)
    }
}

impl From<&str> for Error {
    fn from(text: &str) -> Self {
        Self::Message(text.to_owned())
    }
}
