//! The functions that plugins import (`sdk/wit/plugin.wit`), implemented with the rules for plans.

mod class_file;
mod convert;
mod declarations;
mod helpers;
mod host;
pub mod jvm_events;
pub mod jvm_requests;
mod plans;
mod probes;
mod queries;
mod raw;
mod recorded;
mod rewrite;
mod structure;
