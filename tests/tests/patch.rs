//! Loaded classes patched and rolled back.

mod command;
mod launched;
mod linking;
mod rules;
mod server;
mod source;
