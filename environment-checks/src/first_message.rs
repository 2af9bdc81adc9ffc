//! The cause that a failed JVM printed.

use std::process::Output;

/// Returns the first line that a JVM printed about a failure.
pub(crate) fn first_message(ran: &Output) -> String {
    let printed = [&ran.stdout[..], &ran.stderr].concat();
    let printed = String::from_utf8_lossy(&printed);
    let mut lines = printed.lines().map(str::trim);
    let said = lines.find(|line| !line.is_empty() && !line.starts_with("Picked up "));
    said.unwrap_or("it prints no cause").to_owned()
}
