//! Why a plugin gave up on a class.

use std::fmt;

use crate::wit::Failure;

/// Why a plugin gave up on a class; its text is shown to the user.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// In the plugin's own words.
    Message(String),
    /// The host refused a request.
    Refused(Failure),
}

/// The result of [`crate::Transformer::transform`].
pub type Result<T = ()> = std::result::Result<T, Error>;

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(text) => f.write_str(text),
            Self::Refused(failure) => write!(f, "{}: {}", failure.code, failure.message),
        }
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Self::Refused(failure)
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
