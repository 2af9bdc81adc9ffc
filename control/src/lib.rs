//! The channel between the `classhook` command and an agent in a running JVM.
//!
//! ```text
//! client → {"protocol":1,"request":"status"}\n → agent
//! client ← {"protocol":1,"ok":{…}}\n or {"protocol":1,"error":{"code":"H07…",…}}\n ← agent
//! ```
//!
//! Lines of JSON over a Unix socket in a folder that only the JVM's user may enter; both ends look
//! at who the other is. Any number of requests follow each other on one connection.
//! What a request does is the agent's affair; this crate knows no JVM.
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | requests and answers; begin here to add one |
//! | [`place`] | where the socket lies, made safely |
//! | [`server`] | one thread that waits for clients and hands their requests to a function |
//! | [`client`] | one connection to an agent |
//! | [`error`] | what can go wrong, with stable codes |
#![forbid(unsafe_code)]

pub mod client;
pub mod error;
pub mod message;
pub mod patch;
pub mod place;
pub mod server;

pub use client::{Client, Peer};
pub use error::ControlError;
pub use message::{Refusal, Request};
pub use server::{Reply, Server, Stopper};

/// Version of the protocol; both ends must speak the same.
///
/// It changes when a request or an answer that exists changes its meaning. New requests and new
/// fields do not change it: an agent refuses what it does not know, and readers skip what they do not.
pub const PROTOCOL: u32 = 1;
