//! Connections to the agent in a running JVM, and plugins attached for a while.
//!
//! | module | holds |
//! |---|---|
//! | [`agent`] | the connection; loads the agent if the JVM has none |
//! | [`attached`] | a plugin attached for a limited time |
//! | [`progress`], [`interrupt`] | a change of the JVM's classes: its progress, and signals that stop it |
//! | [`answers`], [`decoded_answers`] | the agent's answers as text, with the texts of the JVM escaped |
//! | [`recording_folder`], [`temp_output`] | folders for recordings of a JVM with another user or file system |
//! | [`holder`] | the commands that use a JVM, as they describe themselves to one another |
//! | [`application`] | the default selection of classes: the application |
//!
//! A JVM without an agent is an error with a stable code:
//!
//! ```
//! use agent_connection::agent::Agent;
//!
//! let own = std::process::id().cast_signed();
//! let error = Agent::connect(own).unwrap_err();
//! assert_eq!(error.code(), "H0502", "{error}");
//! ```
//!
//! A plugin leaves the JVM at the end of a visit:
//!
//! ```no_run
//! use agent_connection::attached::{AttachedPlugin, Visitor};
//! use agent_launch::settings::Settings;
//!
//! let mut visit = AttachedPlugin::begin(4711, &Visitor::bundled("coverage"), &Settings::default(), "run-1")?;
//! visit.wait("covering", Some(std::time::Duration::from_secs(30)), &|| false)?;
//! println!("{}", visit.end().snapshot.display());
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod agent;
pub mod answers;
pub mod application;
pub mod attached;
pub mod decoded_answers;
pub mod holder;
pub mod interrupt;
pub mod progress;
pub mod recording_folder;
pub mod temp_output;
