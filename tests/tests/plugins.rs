//! What plugins may edit, and what becomes of those that misbehave.

mod edits;
mod misbehaving;
