//! `classhook-relay`: recordings from one machine to another, for `--to` and `classhook collect`.
//!
//! The sender follows the files that an agent writes, and the receiver writes the same files. The JVM takes no part.
//! Encrypted connections are more than the command may weigh, so this is a program of its own.
//!
//! | module | |
//! |---|---|
//! | [`address`] | the address of a receiver |
//! | [`mod@token`] | the shared secret, and the proof by which each side shows that it has it |
//! | [`channel`] | an encrypted or local connection, with a time limit for each step |
//! | [`mod@ends`] | the end of a recording and the deadline after it |
//! | [`frame`] | the wire format: `docs/wire-format.md` |
//! | [`link`] | the sender's end of a connection |
//! | [`source`] | a file that grows or is replaced, on the sender's side |
//! | [`mod@send`] | the sender |
//! | [`store`] | the receiver's files |
//! | [`mod@collect`] | the receiver |
//! | [`tls`] | an encrypted connection to another server, for the command |
//! | [`told`] | the receiver's log, without repeats |

mod address;
mod channel;
mod collect;
mod ends;
mod frame;
mod link;
mod send;
mod source;
mod store;
#[cfg(test)]
mod tests;
mod tls;
mod token;
mod told;

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use address::Address;
use ends::Ends;
use serde_json::json;
use source::Which;
use tls::Peer;
use token::Token;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The error code for a folder, token or address that cannot be used for collecting (`docs/errors.md`).
const REFUSED: &str = "H0668";

const USAGE: &str = "\
Sends recordings to another machine, and receives them; `classhook` starts this program by itself:
classhook-relay VERSION check ADDRESS TOKEN-FILE|-
classhook-relay VERSION send ADDRESS TOKEN-FILE|- FOLDER run:ID|jvm:NAME|process:PID:MILLISECONDS
classhook-relay VERSION collect ADDRESS TOKEN-FILE|- FOLDER MOST-BYTES
classhook-relay VERSION tls HOST PORT h2|http/1.1 AUTHORITIES|- [CERTIFICATES KEY], with a socket as standard input";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["--version"] => {
            println!("classhook-relay {VERSION}");
            ExitCode::SUCCESS
        }
        [VERSION, "check", address, token] => {
            let wrong = ends(address, token).err();
            println!("{}", json!({ "failed": wrong }));
            ExitCode::SUCCESS
        }
        [VERSION, "send", address, token, folder, which] => {
            let report = send(address, token, Path::new(folder), which);
            let report = report.unwrap_or_else(|cause| json!({ "failed": cause }));
            println!("{report}");
            ExitCode::SUCCESS
        }
        [VERSION, "collect", address, token, folder, most] => {
            collect(address, token, Path::new(folder), most)
        }
        [VERSION, "tls", host, port, protocol, authorities] => {
            encrypted(host, port, protocol, authorities, None)
        }
        [
            VERSION,
            "tls",
            host,
            port,
            protocol,
            authorities,
            certificates,
            key,
        ] => {
            let identity = Some((Path::new(*certificates), Path::new(*key)));
            encrypted(host, port, protocol, authorities, identity)
        }
        [of, "check" | "send" | "collect" | "tls", ..] if *of != VERSION => {
            println!("{}", json!({ "other-version": VERSION }));
            ExitCode::from(2)
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// Connects the socket on standard input to a TLS server.
fn encrypted(
    host: &str,
    port: &str,
    protocol: &str,
    authorities: &str,
    identity: Option<(&Path, &Path)>,
) -> ExitCode {
    let peer = port.parse().map(|port| Peer {
        host,
        port,
        protocol,
        authorities: token(authorities),
        identity,
    });
    let local = io::stdin().as_fd().try_clone_to_owned();
    let done = match (peer, local) {
        (Ok(peer), Ok(local)) => outlive_signals().and_then(|()| tls::run(&peer, local.into())),
        (Err(error), _) => Err(error.to_string()),
        (_, Err(error)) => Err(error.to_string()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(cause) => {
            eprintln!("{}", escape::line(&cause));
            ExitCode::from(3)
        }
    }
}

/// The path of a token file; `-` stands for no token.
fn token(file: &str) -> Option<&Path> {
    (file != "-").then(|| Path::new(file))
}

/// The receiver's address, and the token that both sides share.
fn ends(address: &str, file: &str) -> Result<(Address, Option<Token>), String> {
    let address = Address::parse(address)?;
    Ok((address, token(file).map(Token::read).transpose()?))
}

fn send(
    address: &str,
    file: &str,
    folder: &Path,
    which: &str,
) -> Result<serde_json::Value, String> {
    let (address, token) = ends(address, file)?;
    let which =
        Which::parse(which).ok_or("expected run:ID, jvm:NAME or process:PID:MILLISECONDS")?;
    let ends = Arc::new(Ends::default());
    outlive_signals()?;
    let over = Arc::clone(&ends);
    std::thread::spawn(move || {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        over.at(Instant::now());
    });
    let report = send::run(&address, token.as_ref(), folder, &which, &ends);
    serde_json::to_value(report).map_err(|error| error.to_string())
}

/// Ignores Ctrl-C, SIGTERM and SIGHUP. The terminal sends Ctrl-C to this program too, but the command ends it.
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

fn collect(address: &str, file: &str, folder: &Path, most: &str) -> ExitCode {
    let collected = Address::parse(address).and_then(|address| {
        let most = most.parse().map_err(|_| "expected a number of bytes")?;
        match (&address, token(file)) {
            (Address::Tcp(_), None) => Err("expected a token for tcp".to_owned()),
            (_, token) => collect::run(&address, token, folder, most),
        }
    });
    match collected {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(cause) => {
            eprintln!("error[{REFUSED}]: {}", escape::line(&cause));
            ExitCode::from(2)
        }
    }
}
