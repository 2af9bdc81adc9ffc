//! Methods by what they do just now: rows, what keys do to them, and how they are shown.
//!
//! | module | holds |
//! |---|---|
//! | [`columns`] | the columns, their order and their text |
//! | [`state`] | what is looked at, and what each key changes |
//! | [`view`] | the screen as a function of both |
//! | [`text`] | the same as a table without a terminal |
//! | [`sampler`] | the thread that reads event files and hands over intervals |
//! | [`screen`] | the terminal: taken, drawn on, and given back |

pub mod columns;
pub mod sampler;
pub mod screen;
pub mod state;
pub mod text;
pub mod view;
