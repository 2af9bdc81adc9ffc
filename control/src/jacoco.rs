//! JaCoCo's protocol over TCP, which its tools speak to a JVM that they measure (`output=tcpserver` of its agent).
//!
//! ```text
//! client → header, then any number of commands                   → JVM
//! client ← header, then for each command the data and `DONE` ← JVM
//! ```
//!
//! Header and data are blocks of an `.exec` file; a command is `COMMAND` and two truth values.
//! Nobody has to say who he is.

mod client;
mod connection;
mod server;

pub use client::{AskError, ask};
pub use server::Server;

/// What both ends send first, and what an `.exec` file begins with: kind of the block, magic, version.
pub const HEADER: [u8; 5] = [0x01, 0xC0, 0xC0, 0x10, 0x07];

/// The kind of the block that is a command.
const COMMAND: u8 = 0x40;
/// The block that ends the answer to a command.
const DONE: u8 = 0x20;

/// What a client wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Command {
    /// To be told what was executed.
    pub dump: bool,
    /// That it is forgotten afterwards.
    pub reset: bool,
}

impl Command {
    /// As it is sent.
    fn to_bytes(self) -> [u8; 3] {
        [COMMAND, self.dump.into(), self.reset.into()]
    }

    /// As it was sent; none if it is something else.
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
