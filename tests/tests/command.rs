//! The command `classhook` as a user types it.

mod bad_input;
mod builds;
mod command_line;
mod doctor;
mod documents;
mod explain_and_inspect;
mod hostile_names;
