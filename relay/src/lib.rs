//! Sends recordings to another machine, and receives them, for `--to` and `classhook collect`.
//!
//! The sender follows the files that an agent writes, and the receiver writes the same files. The JVM takes no part.
//! The command runs the sender in a child process, which outlives it if it is killed.
//!
//! | module | |
//! |---|---|
//! | `address` | the address of a receiver |
//! | `token` | the shared secret, and the proof by which each side shows that it has it |
//! | `channel` | an encrypted or local connection, with a time limit for each step |
//! | `deadline` | the end of a recording and the deadline after it |
//! | `frame` | the wire format: `docs/wire-format.md` |
//! | `link` | the sender's end of a connection |
//! | `source` | a file that grows or is replaced, on the sender's side |
//! | `send` | the sender |
//! | [`sending`] | the child process that sends, for its parent |
//! | `store` | the receiver's files |
//! | `collect` | the receiver |
//! | `repeat_log` | the receiver's log, without repeats |

mod address;
mod channel;
mod collect;
mod deadline;
mod frame;
mod link;
mod repeat_log;
mod send;
pub mod sending;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod token;

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use address::Address;
use deadline::Deadline;
pub use send::{Report, Sent};
use source::FileSelection;
use token::Token;

/// Checks the address of a receiver, and reads the token.
///
/// # Errors
/// The cause for which nothing can be sent there.
pub fn check(address: &str, token: Option<&Path>) -> Result<(), String> {
    receiver(address, token).map(drop)
}

/// Sends the files of a selection in a folder until standard input ends, and then the rest for at most 20 s.
///
/// The selection is `run:ID`, `jvm:NAME` or `process:PID:MILLISECONDS`.
///
/// # Errors
/// If the address, the token or the selection cannot be used.
pub fn send(
    address: &str,
    token: Option<&Path>,
    folder: &Path,
    selection: &str,
) -> Result<Report, String> {
    let (address, token) = receiver(address, token)?;
    let selection = FileSelection::parse(selection)
        .ok_or("expected run:ID, jvm:NAME or process:PID:MILLISECONDS")?;
    outlive_signals()?;
    let deadline = Arc::new(Deadline::default());
    let over = Arc::clone(&deadline);
    std::thread::spawn(move || {
        let _ = io::stdin().read_to_end(&mut Vec::new());
        over.at(Instant::now());
    });
    Ok(send::run(
        &address,
        token.as_ref(),
        folder,
        &selection,
        &deadline,
    ))
}

/// Receives recordings into a folder until SIGINT or SIGTERM. Returns whether all files are complete.
///
/// # Errors
/// If the address, the folder or the token cannot be used.
pub fn collect(
    address: &str,
    token: Option<&Path>,
    folder: &Path,
    most: u64,
) -> Result<bool, String> {
    match (Address::parse(address)?, token) {
        (Address::Tcp(_), None) => Err("expected a token for tcp".to_owned()),
        (address, token) => collect::run(&address, token, folder, most),
    }
}

/// The receiver's address, and the token that both sides share.
fn receiver(address: &str, token: Option<&Path>) -> Result<(Address, Option<Token>), String> {
    let address = Address::parse(address)?;
    Ok((address, token.map(Token::read).transpose()?))
}

/// Ignores Ctrl-C, SIGTERM and SIGHUP. The terminal sends Ctrl-C to this process too, but the command ends it.
fn outlive_signals() -> Result<(), String> {
    for signal in [
        signal_hook::consts::SIGINT,
        signal_hook::consts::SIGTERM,
        signal_hook::consts::SIGHUP,
    ] {
        let ignored = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal, ignored).map_err(|error| error.to_string())?;
    }
    Ok(())
}
