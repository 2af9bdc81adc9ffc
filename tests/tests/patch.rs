//! Loaded classes patched and rolled back.

mod command;
mod rules;
mod server;
mod source;
