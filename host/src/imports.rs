//! The functions that plugins import (`wit/plugin.wit`), over the rules for plans.

mod class_file;
mod convert;
mod host;
mod plans;
mod probes;
mod recorded;
mod results;
mod rewrite;
mod structure;
