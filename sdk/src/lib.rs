//! The SDK for authors of Classhook plugins.
//!
//! A plugin is a type that implements [`Transformer`] and is exported with [`export!`]:
//!
//! ```
//! use classhook_sdk::prelude::*;
//!
//! /// Sets a probe at the entry of every method of at least `bytes` bytes.
//! #[derive(Config)]
//! struct Settings {
//!     #[config(default = 10)]
//!     bytes: u32,
//! }
//!
//! struct Entries(Settings);
//!
//! impl Transformer for Entries {
//!     type Config = Settings;
//!
//!     fn new(config: Settings) -> Result<Self> {
//!         Ok(Entries(config))
//!     }
//!
//!     fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
//!         for method in class.methods().filter(|m| m.has_code() && m.code_length() >= self.0.bytes) {
//!             plan.hit(&[method.entry()], b"entry")?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! classhook_sdk::export!(Entries);
//! # fn main() {}
//! ```
//!
//! Build it for `wasm32-unknown-unknown` as a `cdylib`. `classhook-testkit` runs the same type
//! natively in unit tests.
//!
//! [`opcode`], [`access_flags`], [`descriptor`] and [`names`] are the vocabulary of the JVM
//! specification. [`class`] has the queries of a plugin, and [`plan`] its edits:
//!
//! * probes (capability `probes`);
//! * code, bodies and changed instructions (`rewrite`);
//! * members, annotations and names (`structure`);
//! * whole class files (`raw`);
//! * helper classes for the inserted code (`helpers`).
//!
//! A plugin imports only the functions that it calls, so it needs no more grants than these.
//! [`class`] and [`plan`] use the traits in [`source`]. This crate implements the traits with the
//! WIT interface, and the test kit with the rewriter's views and the rules for plans.

#[doc(hidden)]
pub mod bindings;
pub mod class;
pub mod config;
pub mod declared;
mod error;
mod filter;
#[doc(hidden)]
pub mod guest;
mod imports;
pub mod log;
mod numbers;
mod observer;
#[doc(hidden)]
pub mod observing;
pub mod pattern;
pub mod plan;
pub mod prelude;
mod queries;
mod raw;
mod reporter;
#[doc(hidden)]
pub mod reporting;
pub mod source;
mod table;
mod transformer;
pub mod wit;

pub use class::{Allocation, Call, Class, Method, MethodView};
/// The vocabulary of edits: code, constants, members and insertion points.
pub use edits as edit;
pub use edits::{Capture, ColumnKind, Event, Snippet};
pub use error::{Error, Result};
pub use filter::Filter;
pub use jvm_event_table::EventDetails;
/// Opcodes, access flags, descriptors and names of the JVM specification.
pub use jvms::{access_flags, descriptor, names, opcode};
pub use numbers::{CodeView, RawCode};
pub use observer::{Batch, JvmEvent, Observer, Requests, StackFrame, Subscriptions};
pub use plan::Plan;
pub use reporter::{EventRow, Recorded, Report, Reporter, SumRow};
pub use table::Table;
pub use transformer::{NoSettings, Transformer};
