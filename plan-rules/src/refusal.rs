//! Refusals of a plugin's requests.

use error_codes::table as codes;

/// A refused request; no part of it is in the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// Stable code, `H03xx`.
    pub code: &'static str,
    /// The expectation and the fault.
    pub message: String,
    /// The remedy, if one is known.
    pub help: Option<&'static str>,
    /// The bci of the request, if it has one.
    pub bci: Option<u16>,
}

impl RefusedRequest {
    /// Creates the refusal for a missing item, or for a request that does not suit the class.
    #[must_use]
    pub fn unsuitable(bci: Option<u16>, cause: &dyn std::fmt::Display) -> Self {
        Self {
            code: codes::H0317,
            message: cause.to_string(),
            help: None,
            bci,
        }
    }

    /// Creates the refusal for an exceeded limit.
    #[must_use]
    pub fn limit(message: String, help: Option<&'static str>) -> Self {
        Self {
            code: codes::H0315,
            message,
            help,
            bci: None,
        }
    }

    /// Creates the refusal for code that cannot be decoded.
    #[must_use]
    pub fn undecodable(error: &rewriter::ReadError) -> Self {
        Self {
            code: codes::H0301,
            message: format!("the code cannot be decoded: {error}"),
            help: None,
            bci: None,
        }
    }
}

impl From<RefusedRequest> for edits::Refusal {
    fn from(refused: RefusedRequest) -> Self {
        Self {
            code: refused.code.to_owned(),
            message: refused.message,
            help: refused.help.map(str::to_owned),
        }
    }
}
