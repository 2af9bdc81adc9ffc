//! `tmux`, in which the tests read a command's terminal output.

use crate::workspace::{in_path, output_of, say};
use anyhow::{Result, bail};
use std::process::Command;

/// Requires the program; installs the distribution's if permitted.
pub fn require() -> Result<()> {
    if in_path("tmux").is_some() {
        return Ok(());
    }
    if in_path("apt-get").is_none() {
        bail!("expected tmux in PATH, and there is no apt-get to install it with");
    }
    say("installing tmux");
    let mut command = Command::new("apt-get");
    command.args(["install", "--yes", "--no-install-recommends", "tmux"]);
    output_of(command.env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}
