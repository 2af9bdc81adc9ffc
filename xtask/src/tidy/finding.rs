//! Reports of a check.

use std::fmt;

/// A violation of a rule of the project, with its place.
pub struct Finding {
    place: String,
    what: String,
}

impl Finding {
    pub fn new(place: impl fmt::Display, what: impl Into<String>) -> Self {
        Self {
            place: place.to_string(),
            what: what.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.what)
    }
}
