//! Patches of loaded classes, and their rollback.

mod command;
mod companions;
mod effects;
mod launched;
mod linking;
mod log;
mod rules;
mod server;
mod source;
mod waiting;
