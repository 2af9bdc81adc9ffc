//! For authors of Classhook plugins.
//!
//! A plugin is a type that implements [`Transformer`] and is exported with [`export!`]:
//!
//! ```
//! use classhook_sdk::prelude::*;
//!
//! /// Sets a probe at the entry of every method of at least `bytes` bytes.
//! #[derive(Deserialize, Default)]
//! #[serde(deny_unknown_fields, default)]
//! struct Settings {
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
//! Build it for `wasm32-unknown-unknown` as a `cdylib`; `classhook-testkit`
//! runs the same type natively in unit tests.
//!
//! [`class`] holds what a plugin can ask, [`plan`] what it can do: probes
//! (capability `probes`); code, bodies and changed instructions (`rewrite`);
//! members, annotations and names (`structure`). A plugin imports what it calls
//! and nothing else, so it has to be granted no more than that. Both stand
//! on the traits in [`source`], implemented here over the WIT interface and in
//! the test kit over the real views and rules of the rewriter.

pub mod class;
pub mod edit;
mod error;
#[doc(hidden)]
pub mod guest;
pub mod log;
mod numbers;
pub mod pattern;
pub mod plan;
pub mod snippet;
pub mod source;
mod transformer;

pub use class::{Class, Method, MethodView};
pub use error::{Error, Result};
pub use numbers::CodeView;
pub use plan::{Capture, Plan};
pub use snippet::Snippet;
pub use transformer::Transformer;

/// What most plugins need.
pub mod prelude {
    pub use crate::wit::{At, Failure, Handler, Instruction, Jump, Line, Place, ProbeId, Site};
    pub use crate::{
        Capture, Class, CodeView, Error, Method, MethodView, Plan, Result, Snippet, Transformer,
    };
    pub use serde::Deserialize;
}

/// The values of the WIT package, the same types natively and in WebAssembly.
pub mod wit {
    pub use crate::bindings::classhook::plugin::class_file::{
        Handler, Jump, MemberRef, MethodSummary,
    };
    pub use crate::bindings::classhook::plugin::structure::{Element, EnumConstant};
    pub use crate::bindings::classhook::plugin::types::{Constant, Failure, ProbeId, Site};
    pub use crate::numbers::{At, Covered, Instruction, Line, Place};
}

/// Generated from `wit/plugin.wit`.
#[doc(hidden)]
#[allow(missing_docs, unsafe_code, clippy::all, reason = "generated code")]
pub mod bindings {
    wit_bindgen::generate!({
        path: "../wit/plugin.wit",
        world: "transform-plugin",
        pub_export_macro: true,
        export_macro_name: "export_transform_plugin",
        additional_derives: [PartialEq],
        default_bindings_module: "classhook_sdk::bindings",
    });
}
