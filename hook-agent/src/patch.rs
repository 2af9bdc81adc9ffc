//! Hot patches: other class files for loaded classes, and their rollback.
//!
//! A patch is the first link of the chain that a class goes through. Its bytes replace those of the JVM, and plugins
//! see them in place of the class. The agent keeps the bytes. So a patch stays in force when another agent retransforms
//! the class, and ends when it is rolled back. (`RedefineClasses` is never called: JDK 17 loses its effect at the next
//! retransformation.)
//!
//! | module | holds |
//! |---|---|
//! | `in_force` | the patch of a class |
//! | `dry_run` | retransformations that the JVM checks and does not carry out |
//! | `change` | patch and rollback |
//! | `explain` | a loaded class as text, with the edits that it holds |
//! | `target` | the loaded classes of a change |
//! | `class_path` | class files outside a patch |
//! | `definition` | companions and new classes, defined in loaders |
//! | `class_files` | the class files for a request |
//! | `loaded_file` | the class file of a loaded class |
//! | `fitted` | new class files, fitted to the loaded classes |
//! | `frames` | frames that execute former code |
//! | `findable` | the class files of classes that are not loaded |
//! | `new_class` | the class files of a request |
//! | `list` | the list of patches in force |
//! | `schema` | the rules of retransformation, as broken rules |
//! | `audit` | the log of changes on disk |
//!
//! The patches in force are part of the agent's state, `agent::patches`.

mod audit;
pub(crate) mod change;
pub(crate) mod class_files;
mod class_path;
mod definition;
pub(crate) mod dry_run;
pub(crate) mod explain;
mod findable;
mod fitted;
mod frames;
pub(crate) mod in_force;
pub(crate) mod list;
mod loaded_file;
mod new_class;
mod schema;
mod target;
