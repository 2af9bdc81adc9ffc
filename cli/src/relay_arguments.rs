//! Options that send recordings to another machine.

use std::path::PathBuf;

use clap::Args;
use relay::sending::Receiver;

use crate::heading;

/// The receiver of recordings.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::LIVE)]
pub struct RelayArguments {
    /// Send the recording to `classhook collect` while it grows: tcp://HOST:PORT (encrypted), unix:PATH
    #[arg(long, value_name = "ADDRESS")]
    pub to: Option<String>,
    /// Read the token from this file; tcp:// needs one
    #[arg(long, value_name = "FILE", requires = "to")]
    pub token_file: Option<PathBuf>,
}

impl RelayArguments {
    /// Returns the receiver.
    #[must_use]
    pub fn value(&self) -> Receiver {
        Receiver {
            to: self.to.clone(),
            token_file: self.token_file.clone(),
        }
    }
}
