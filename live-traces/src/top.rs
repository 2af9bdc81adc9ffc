//! The display of `classhook top`: rows of method rates, keys, and screen.
//!
//! | module | holds |
//! |---|---|
//! | [`columns`] | the columns, their order and their text |
//! | [`state`] | the state of the display, and the effects of keys |
//! | [`view`] | the drawn screen of a state and an interval |
//! | [`text`] | the table without a terminal |
//! | [`sampler`] | the thread that reads event files and sends intervals |
//! | [`screen`] | the terminal: set up, drawn on, and restored |

pub mod columns;
pub mod sampler;
pub mod screen;
pub mod state;
pub mod text;
pub mod view;
