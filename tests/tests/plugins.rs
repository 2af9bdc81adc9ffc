//! Edits of plugins, and the treatment of misbehaving plugins.

mod advice;
mod advice_calls;
mod advice_effects;
mod advice_events;
mod authors;
mod compiling;
mod edits;
mod events;
mod examples;
mod helpers;
mod hostile;
mod languages;
mod misbehaving;
mod order;
mod plan_cache;
mod raw;
mod reloading;
mod roles;
mod sharing;
