//! The channel between the `classhook` command and an agent in a running JVM.
//!
//! ```text
//! client → {"protocol":1,"request":"status"}\n → agent
//! client ← {"protocol":1,"ok":{…}}\n or {"protocol":1,"error":{"code":"H07…",…}}\n ← agent
//! ```
//!
//! Lines of JSON over a Unix socket in a folder that only the JVM's user may enter. Each end checks the user of the
//! other. A connection carries any number of requests. The agent defines the effect of a request; this crate knows no
//! JVM.
//!
//! | module | holds |
//! |---|---|
//! | [`message`] | requests and answers; begin here to add one |
//! | [`socket`] | the path and the safe creation of the socket of a process |
//! | [`answer`] | requests that the agent receives, and their answers |
//! | `connection` | one client of the server |
//! | `client_process` | the process of a client, as `/proc` shows it |
//! | [`leases`] | the leases that clients hold |
//! | [`server`] | one thread that waits for clients and hands their requests to a function |
//! | [`classes`] | the details of a class in the answer to `classes` |
//! | [`client`] | one connection to an agent |
//! | [`jacoco`] | JaCoCo's protocol over TCP, both ends: a separate channel |
//! | [`error`] | errors with stable codes |
#![forbid(unsafe_code)]

pub mod answer;
pub mod classes;
pub mod client;
mod client_process;
mod connection;
pub mod error;
pub mod jacoco;
pub mod leases;
pub mod message;
pub mod patch;
pub mod server;
pub mod socket;

pub use answer::{Answer, IncomingRequest, Reply, Ticket};
pub use client::{Client, Peer};
pub use error::ControlError;
pub use leases::Leases;
pub use message::{PROTOCOL, Refusal, Request};
pub use server::{Answers, Server, Stopper};
