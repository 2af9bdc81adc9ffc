//! Settings of an agent, their checks, and programs started with the agent in their JVMs.
//!
//! | module | holds |
//! |---|---|
//! | [`settings`] | the settings, as values |
//! | [`agent_options`] | the agent's option string |
//! | [`checked_options`] | settings checked by the agent's own parser, before any program starts |
//! | [`start`] | a program with the agent in its JVM, or in every JVM that it starts |
//! | [`precompiled`], [`plugin_compiler`] | plugins compiled before a JVM needs them |
//! | [`failed_agents`], [`failed_plugins`] | JVMs without an agent, and plugins that failed in a run |
//! | [`attachment`] | the attach channel of a JVM, with a line about each long wait |
//! | [`metaspace`] | the metaspace that a change of loaded classes may take |
//!
//! ```
//! use agent_launch::checked_options::CheckedOptions;
//! use agent_launch::settings::{PluginSettings, Settings};
//!
//! let plugins = PluginSettings {
//!     select: vec!["com.acme.**".to_owned()],
//!     ..PluginSettings::default()
//! };
//! let checked = CheckedOptions::new(&plugins.into(), &["trace".into()], Some("run-1".to_owned()))?;
//! let text = checked.options.to_text().into_string().expect("UTF-8");
//! assert!(text.ends_with("plugin=trace,select=com.acme.**,run=run-1"), "{text}");
//!
//! let mut wrong = Settings::default();
//! wrong.change.log = Some("loud".to_owned());
//! assert_eq!(CheckedOptions::new(&wrong, &[], None).unwrap_err().exit(), 2);
//! # Ok::<(), errors::Error>(())
//! ```
#![forbid(unsafe_code)]

pub mod agent_options;
pub mod attachment;
pub mod checked_options;
mod child;
pub mod failed_agents;
pub mod failed_plugins;
mod library;
pub mod metaspace;
pub mod plugin_compiler;
pub mod precompiled;
mod program;
pub mod settings;
pub mod start;
mod tool_options;
