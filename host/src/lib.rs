//! The plugin host: runs WebAssembly plugins on class files, without a JVM.
//!
//! ```text
//! ClassRequest → select → read → ask (wasmtime) → merge → splice → check → record → Outcome
//! ```
//!
//! Begin with [`pipeline`]; [`config`] describes its configuration. Both the agent inside a JVM and
//! the command use a [`Pipeline`].

#![expect(
    clippy::result_large_err,
    reason = "a `PluginFailure` ends a plugin's work on a class: it is rare, and moving its 144 bytes costs nothing beside it"
)]

mod bindings;
pub mod bundled;
pub mod cache;
mod capabilities;
mod class;
pub mod class_array;
mod class_key;
pub mod clock;
pub mod code_source;
pub mod compilation;
mod compiled_code;
pub mod compiler;
mod component;
pub mod config;
mod engine;
mod event;
pub mod exclusions;
pub mod explain;
mod handles;
mod helper_calls;
pub mod helpers;
mod imports;
mod instance;
mod journal;
mod load_time_plans;
mod log_limit;
pub mod natives;
pub mod observer;
mod observer_call;
pub mod outcome;
pub mod pipeline;
mod plan_file;
mod plan_store;
mod plugin;
pub mod plugin_description;
pub mod plugin_failure;
pub mod plugin_file;
mod plugin_runner;
mod pool_names;
mod record;
pub mod recorded;
mod regular_file;
pub mod report;
mod requests;
mod reusable_buffers;
pub mod selector;
mod span;
mod spliced;
mod stack;
pub mod storage;
mod store_data;
pub mod structural_edits;
mod suspending;
mod watched_event;

pub use code_source::CodeSource;
pub use component::compile_ahead;
pub use config::Config;
pub use explain::{Explained, Explanation};
pub use helpers::HelperLoader;
pub use observer::Observer;
pub use outcome::{ClassRequest, Loader, MethodRemark, Outcome, PlanCounts, Summary};
pub use pipeline::{LeftAloneMethod, Pipeline, Requested, shown_class};
pub use plan_rules::HelperClass;
pub use plugin::PluginState;
pub use plugin_description::PluginDescription;
pub use plugin_failure::PluginFailure;
pub use pool_names::PoolNames;
pub use structural_edits::StructuralEdits;
