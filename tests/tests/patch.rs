//! Loaded classes patched and rolled back.

mod command;
mod launched;
mod rules;
mod server;
mod source;
