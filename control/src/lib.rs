//! The channel between the `classhook` command and an agent in a running JVM.
//!
//! ```text
//! client → {"protocol":1,"request":"status"}\n → agent
//! client ← {"protocol":1,"ok":{…}}\n or {"protocol":1,"error":{"code":"H07…",…}}\n ← agent
//! ```
//!
//! Lines of JSON over a Unix socket in a folder that only the JVM's user may enter; both ends check
//! who the other is. Any number of requests follow each other on one connection.
//! The agent defines what a request does; this crate knows no JVM.
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | requests and answers; begin here to add one |
//! | [`socket`] | the socket of a process: where it lies, made safely |
//! | [`answer`] | requests on their way to the agent, and when they are answered |
//! | `connection` | one client of the server |
//! | [`leases`] | who holds leases |
//! | [`server`] | one thread that waits for clients and hands their requests to a function |
//! | [`classes`] | what `classes` can tell of a class |
//! | [`client`] | one connection to an agent |
//! | [`jacoco`] | JaCoCo's protocol over TCP, both ends: a channel of its own |
//! | [`error`] | what can go wrong, with stable codes |
#![forbid(unsafe_code)]

pub mod answer;
pub mod classes;
pub mod client;
mod connection;
pub mod error;
pub mod jacoco;
pub mod leases;
pub mod message;
pub mod patch;
pub mod server;
pub mod socket;

pub use answer::{Answer, Asked, Reply, Ticket};
pub use client::{Client, Peer};
pub use error::ControlError;
pub use leases::Leases;
pub use message::{PROTOCOL, Refusal, Request};
pub use server::{Answers, Server, Stopper};
