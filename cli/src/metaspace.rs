//! The option of the metaspace check before loaded classes change.

use agent_launch::metaspace::Metaspace;
use clap::Args;
use errors::{Error, codes};

use crate::heading;

/// Option of the metaspace check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Args)]
#[command(next_help_heading = heading::AGENT)]
pub struct MetaspaceArgument {
    /// Change loaded classes even if the metaspace may not suffice
    #[arg(long)]
    pub ignore_metaspace: bool,
}

impl MetaspaceArgument {
    /// Returns the check.
    #[must_use]
    pub fn value(self) -> Metaspace {
        Metaspace {
            is_ignored: self.ignore_metaspace,
        }
    }

    /// Fails if the option is given for a command that is started.
    ///
    /// # Errors
    /// `H0627`.
    pub fn check(self, pid: Option<i32>) -> Result<(), Error> {
        match self.ignore_metaspace && pid.is_none() {
            true => Err(
                Error::mistake(codes::H0627, "--ignore-metaspace needs a running JVM").with(
                    "help",
                    "leave it out: classes changed at load time need no extra metaspace",
                ),
            ),
            false => Ok(()),
        }
    }
}
