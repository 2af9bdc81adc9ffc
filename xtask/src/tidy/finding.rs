//! What a check reports.

use std::fmt;

/// Something that breaks a rule of the project, and where.
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
