//! The plugin host: WebAssembly plugins over class bytes, without a JVM.
//!
//! ```text
//! ClassRequest → selector → views → plugin.transform (wasmtime) → plan → splice → self-check → Outcome
//! ```
//!
//! Start reading at [`pipeline`]; [`config`] says what it is built from.
//! Both the agent inside a JVM and the command line drive a [`Pipeline`].

mod abilities;
mod bindings;
pub mod bundled;
mod cache;
mod component;
pub mod config;
mod engine;
pub mod error;
pub mod explain;
pub mod facts;
pub mod foundation;
mod instance;
mod job;
pub mod natives;
mod numbers;
pub mod outcome;
pub mod own;
pub mod pipeline;
mod plugin;
mod recorder;
mod rewrite;
pub mod selector;
mod span;
mod stack;
mod state;
pub mod storage;
mod structure;
mod views;

pub use config::Config;
pub use error::HostError;
pub use explain::{Explained, Explanation};
pub use facts::PluginFacts;
pub use foundation::Foundation;
pub use outcome::{ClassRequest, Failure, Loader, MethodRemark, Outcome, Summary};
pub use pipeline::Pipeline;
pub use plugin::PluginState;
