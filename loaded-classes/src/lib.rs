//! Questions about the classes of a running JVM.
//!
//! | module | answers |
//! |---|---|
//! | [`unchanged_classes`] | why plugins do not see a loaded class, and the remedy |
//! | [`unmatched`] | which rules and patterns match no loaded class |
//! | [`absent_classes`] | which existing name is nearest to a class that no loader finds |
//! | [`loader_paths`] | the folders and jars from which the loaders of a class have loaded classes |
//!
//! ```
//! use agent_launch::settings::PluginSettings;
//! use control::message::Class;
//! use loaded_classes::unchanged_classes::UnchangedClasses;
//!
//! let list = Class {
//!     name: "java.util.ArrayList".to_owned(),
//!     loader: "boot".to_owned(),
//!     ..Class::default()
//! };
//! let found = UnchangedClasses::of(&[list], &PluginSettings::default()).expect("a class");
//! assert_eq!(found.help(), "add --grant boot");
//! ```
#![forbid(unsafe_code)]

pub mod absent_classes;
pub mod loader_paths;
pub mod unchanged_classes;
pub mod unmatched;
