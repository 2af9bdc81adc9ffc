//! `classhook collect`: receives recordings from other machines.

use std::path::PathBuf;

use clap::Args;
use errors::{Error, PARTIAL, codes};

use crate::args::output_path;

const AFTER_HELP: &str = "\
Receives the files of `classhook profile --to` and `classhook trace --to` while they grow, until Ctrl-C.
`classhook profile` and `classhook report` show them here as on the sender's machine.
tcp://ADDRESS:PORT is encrypted and accepts only senders with the token. unix:PATH accepts only this user.
If the file of --token-file does not exist, it is created with a new token. Copy it to the sender's machine.
The exit code is 3 if a sender disconnected before the end of its recording.

Examples:
  classhook collect tcp://0.0.0.0:7070 --token-file token --output received
  classhook profile 4711 --cpu samples --for 1m --to tcp://collector:7070 --token-file token
  classhook profile received/*.jvm-events
  classhook report received/*.events";

/// Receives recordings from other machines.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Collect {
    /// Listen at this address: tcp://ADDRESS:PORT, with port 0 for any, or unix:PATH
    #[arg(value_name = "ADDRESS")]
    pub address: String,
    /// Read the token from this file; tcp:// needs one
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
    /// Write recordings to this folder
    #[arg(short, long, value_name = "DIR", default_value = "received", value_parser = output_path())]
    pub output: PathBuf,
    /// Limit the size of a received file, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    pub max_file: u64,
}

impl Collect {
    /// Receives until Ctrl-C.
    ///
    /// # Errors
    /// If the address cannot be used, or tcp has no token (`H0669`); if nothing can be received there (`H0668`).
    pub fn run(&self) -> Result<u8, Error> {
        let is_tcp = self.address.starts_with("tcp://");
        if !is_tcp && !self.address.starts_with("unix:") {
            return Err(Error::mistake(codes::H0669, "not an address to receive at")
                .with("expected", "tcp://ADDRESS:PORT or unix:PATH")
                .with("found", &self.address));
        }
        if is_tcp && self.token_file.is_none() {
            return Err(Error::mistake(codes::H0669, "tcp needs a token").with(
                "help",
                "add --token-file FILE; a new file is created with a token",
            ));
        }
        let token = self.token_file.as_deref();
        match relay::collect(&self.address, token, &self.output, self.max_file) {
            Ok(true) => Ok(0),
            Ok(false) => Ok(PARTIAL),
            Err(cause) => Err(Error::mistake(codes::H0668, cause)),
        }
    }
}
