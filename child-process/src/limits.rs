//! Limits that a process sets for itself.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits what this process may use; a limit that it has already is not raised.
///
/// # Errors
/// Those of the system.
pub fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let value = maximum.map_or(value, |maximum| maximum.min(value));
    let limit = Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(resource, limit).map_err(io::Error::from)
}
