//! Hot patches: other class files for classes that are loaded, and the way back.
//!
//! A patch is the first link of the chain that a class goes through: its bytes take the place of those that
//! the JVM hands over, and plugins see them as they would see the class itself. The agent keeps the bytes,
//! so that a patch is there again whenever another agent retransforms the class, and gone when it is taken back.
//! (`RedefineClasses` is never called: JDK 17 loses what it did at the next retransformation.)
//!
//! | module | holds |
//! |---|---|
//! | `in_force` | the patch of a class |
//! | `dry_run` | retransformations that the JVM judges and does not carry out |
//! | `change` | patch and rollback |
//! | `explain` | a loaded class as text, with the edits that it holds |
//! | `target` | the classes that a change is about |
//! | `class_files` | the class files of classes that are asked for |
//! | `loaded_file` | the class file of a loaded class |
//! | `fitted` | new class files, fitted to the loaded classes |
//! | `frames` | frames that go on in former code |
//! | `findable` | the class files of classes that are not loaded |
//! | `new_class` | the class files of a request |
//! | `list` | the patches in force, as they are listed |
//! | `schema` | the rules of retransformation, as broken rules |
//! | `audit` | who changed what, on disk |
//!
//! The patches in force are part of the agent's state, `agent::patches`.

mod audit;
pub(crate) mod change;
pub(crate) mod class_files;
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
