//! Why a request of a plugin is refused.

/// A refused request. Nothing of it is part of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRequest {
    /// Stable code, `H03xx`.
    pub code: &'static str,
    /// What was expected and what was found.
    pub message: String,
    /// What to do, where something is known.
    pub help: Option<&'static str>,
    /// The bci that the request is about, if it is about one.
    pub bci: Option<u16>,
}

impl RefusedRequest {
    /// The class has no such thing, or the request does not suit it.
    #[must_use]
    pub fn unsuitable(bci: Option<u16>, cause: &dyn std::fmt::Display) -> Self {
        Self {
            code: "H0317",
            message: cause.to_string(),
            help: None,
            bci,
        }
    }

    /// A limit is reached.
    #[must_use]
    pub fn limit(message: String, help: Option<&'static str>) -> Self {
        Self {
            code: "H0315",
            message,
            help,
            bci: None,
        }
    }

    /// The code of a method cannot be decoded.
    #[must_use]
    pub fn undecodable(error: &rewriter::ReadError) -> Self {
        Self {
            code: "H0301",
            message: format!("the code cannot be decoded: {error}"),
            help: None,
            bci: None,
        }
    }
}
