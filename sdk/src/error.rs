//! The error of a plugin that gives up on a class.

use std::panic::Location;

use edits::Refusal;

/// The reason why a plugin gives up on a class; the user sees its text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A text of the plugin.
    #[error("{0}")]
    Message(String),
    /// The host rejected a request, at this line of the plugin: that of the `?`.
    #[error("{}: {} ({}:{})", .0.code, .0.message, .1.file(), .1.line())]
    Refused(Refusal, &'static Location<'static>),
}

/// The result of [`crate::Transformer::transform`].
pub type Result<T = ()> = std::result::Result<T, Error>;

impl From<Refusal> for Error {
    #[track_caller]
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal, Location::caller())
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
