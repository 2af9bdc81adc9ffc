//! `classhook collect`: recordings of other machines.

use std::path::PathBuf;

use clap::Args;

use crate::args::place;
use crate::problem::{PARTIAL, Problem};

const AFTER_HELP: &str = "\
Receives what `classhook profile --to` and `classhook trace --to` send, until Ctrl-C: the same files as there, while they
are recorded. Whatever they are shown with there shows them here.
tcp://ADDRESS:PORT is encrypted, and takes those alone who have the token; unix:PATH is for this user.
A file that is not there is made for --token-file with a new token, to be copied to where is recorded.
Ends with 3 if a sender went away before the end of a recording.

Examples:
  classhook collect tcp://0.0.0.0:7070 --token-file token --output received
  classhook profile 4711 --cpu samples --for 1m --to tcp://collector:7070 --token-file token
  classhook profile received/*.observed
  classhook report received/*.events";

/// Receives recordings of other machines.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Collect {
    /// Where to receive: tcp://ADDRESS:PORT, where port 0 is any, or unix:PATH
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// The file with the token, which senders must have; it is made if it is not there
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Folder for what is received
    #[arg(short, long, value_name = "DIR", default_value = "received", value_parser = place())]
    pub output: PathBuf,
    /// Most bytes of one file
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    pub max_file: u64,
}

impl Collect {
    /// Receives until Ctrl-C.
    ///
    /// # Errors
    /// If the address cannot be used, or tcp has no token (`H0669`); if nothing can be received there (`H0668`).
    pub fn run(&self) -> Result<u8, Problem> {
        let is_tcp = self.address.starts_with("tcp://");
        if !is_tcp && !self.address.starts_with("unix:") {
            return Err(Problem::user("H0669", "this is no address to receive at")
                .with("expected", "tcp://ADDRESS:PORT or unix:PATH")
                .with("found", &self.address));
        }
        if is_tcp && self.token_file.is_none() {
            return Err(Problem::user("H0669", "tcp needs a token").with(
                "help",
                "add --token-file FILE; it is made if it is not there",
            ));
        }
        let token = self.token_file.as_deref();
        match relay::collect(&self.address, token, &self.output, self.max_file) {
            Ok(true) => Ok(0),
            Ok(false) => Ok(PARTIAL),
            Err(cause) => Err(Problem::user("H0668", cause)),
        }
    }
}
