//! What plugins may edit, and what becomes of those that misbehave.

mod compiling;
mod edits;
mod misbehaving;
