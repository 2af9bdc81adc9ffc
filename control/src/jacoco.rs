//! JaCoCo's protocol over TCP, which its tools speak to a JVM that they measure (`output=tcpserver` of its agent).
//!
//! ```text
//! client → header, then any number of commands                   → JVM
//! client ← header, then for each command the data and `DONE` ← JVM
//! ```
//!
//! Header and data are blocks of an `.exec` file. A command is `COMMAND` and two booleans. The protocol has no
//! authentication.

mod client;
mod connection;
mod server;

pub use client::{AskError, ask};
pub use server::Server;

/// The first bytes of both ends, and of an `.exec` file: block type, magic, version.
pub const HEADER: [u8; 5] = [0x01, 0xC0, 0xC0, 0x10, 0x07];

/// The block type of a command.
const COMMAND: u8 = 0x40;
/// The block that ends the answer to a command.
const DONE: u8 = 0x20;

/// A command of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// Send the coverage data.
    pub dump: bool,
    /// Clear the coverage data afterwards.
    pub reset: bool,
}

impl Command {
    /// The bytes of the command.
    fn to_bytes(self) -> [u8; 3] {
        [COMMAND, self.dump.into(), self.reset.into()]
    }

    /// Parses a command; `None` if the bytes are no command.
    fn from_bytes(bytes: [u8; 3]) -> Option<Self> {
        let [COMMAND, dump, reset] = bytes else {
            return None;
        };
        Some(Self {
            dump: dump != 0,
            reset: reset != 0,
        })
    }
}

#[cfg(test)]
mod tests;
