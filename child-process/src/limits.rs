//! Limits that a process sets for itself.

use std::io;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Limits a resource of this process. A lower limit that is set already stays.
///
/// # Errors
/// The errors of `getrlimit` and `setrlimit`.
pub fn limit(resource: Resource, value: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum;
    let value = maximum.map_or(value, |maximum| maximum.min(value));
    let limit = Rlimit {
        current: Some(value),
        maximum: Some(value),
    };
    setrlimit(resource, limit).map_err(io::Error::from)
}
