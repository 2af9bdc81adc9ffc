//! The Classhook agent, `libclasshook.so`: the layer between a JVM and [`host`].
//!
//! It receives JVM TI's `ClassFileLoadHook`, hands class files to [`host::Pipeline`], and returns the result to the
//! JVM. It copies the arrays to which the probes write into a snapshot. Decisions about bytecode, plugins and reports
//! belong to other crates.
//!
//! | module | holds |
//! |---|---|
//! | `messages` | all output to standard error |
//! | `plugin_compiler` | the program that compiles plugins |
//! | `names` | names of classes |
//! | `ffi` | all unsafe code: entry points, events and native methods, the JVM TI table, JNI, the panic guard |
//! | `probe_class` | `java/lang/$Classhook` and the other probe classes as class files |
//! | `probe_table` | the probe ranges of each class; it outlives the agent |
//! | `spans` | methods recorded as spans, and the event file |
//! | `probe_arrays` | the arrays that probes write to; they outlive the agent |
//! | `agent`, `current` | the agent's state, and the one agent of this library |
//! | `unchangeable` | a class that a JVM must run as it is |
//! | `selection` | the selection of a class in the hook by name, loader and location |
//! | `structural_edits` | edits that a class keeps: wrappers of native methods, members |
//! | `collected_loaders` | removes the state of classes of collected loaders |
//! | `loaded_classes`, `originals` | loaded classes, and their class files |
//! | `retransform` | retransforms loaded classes |
//! | `hit_code` | the code that records hits: calls or stores |
//! | `patch` | other class files for loaded classes, and their rollback |
//! | `class_hook` | the class-file load hook for one class |
//! | `recorded` | arrays and spans → snapshot and event file |
//! | `subscribers` | recordings of JVM events, and plugins that get them |
//! | `summary`, `unselected`, `shutdown` | counts of classes, the loaded classes if none was selected, and the end of
//! the agent |
//! | `agent_thread` | the thread that writes recorded data |
//! | `upkeep_thread` | the thread that defines arrays and retransforms classes that became modifiable |
//! | `commands` | the requests of commands |
//! | `control_thread`, `worker_thread` | the thread that receives requests, and the thread that carries out slow ones |
//! | `live_phase`, `startup` | the start of the agent |
//! | `events` | the entry points from the JVM |
//!
//! Each imports only modules above it in this table.
//!
//! A JVM loads it with `-agentpath:/path/libclasshook.so=key=value,…`; a launcher that embeds a JVM may link the static
//! library instead and name it with `-agentlib:classhook`.
//!
//! Start reading at `events.rs` for the entry points, then at `startup.rs` and `class_hook.rs`.

mod agent;
mod agent_thread;
mod batch_size;
mod class_hook;
mod collected_loaders;
mod commands;
mod control_thread;
mod current;
mod events;
mod ffi;
mod helper_classes;
mod hit_code;
mod jacoco_thread;
mod live_phase;
mod loaded_classes;
mod messages;
mod names;
mod originals;
mod patch;
mod plugin_compiler;
mod printed;
mod probe_arrays;
mod probe_class;
mod probe_table;
mod recorded;
mod retransform;
mod selection;
mod shutdown;
mod spans;
mod startup;
mod structural_edits;
mod subscribers;
mod summary;
mod test_runs;
mod unchangeable;
mod unselected;
mod upkeep_thread;
mod worker_thread;
