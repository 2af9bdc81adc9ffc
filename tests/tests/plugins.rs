//! What plugins may edit, and what becomes of those that misbehave.

mod authors;
mod compiling;
mod edits;
mod events;
mod examples;
mod helpers;
mod hostile;
mod languages;
mod misbehaving;
mod plan_cache;
mod raw;
mod reloading;
mod roles;
mod sharing;
