//! The Classhook agent, `libclasshook.so`: the thin edge between a JVM and [`host`].
//!
//! It takes JVM TI's `ClassFileLoadHook`, hands class bytes to [`host::Pipeline`], gives the result
//! back to the JVM, and copies the arrays that the probes write into a snapshot. It decides nothing
//! about bytecode, plugins or reports.
//!
//! | module | holds |
//! |---|---|
//! | `messages` | everything written to standard error |
//! | `plugin_compiler` | the program that compiles plugins |
//! | `names` | names of classes |
//! | `ffi` | all unsafe code: entry points, events and native methods, the JVM TI table, JNI, the panic guard |
//! | `probe_class` | `java/lang/$Classhook` and its siblings as class files |
//! | `probe_table` | where each class's probes lie in the probe arrays; it outlives the agent |
//! | `spans` | methods recorded as spans, and the event file |
//! | `probe_arrays` | the arrays that probes write to; they outlive the agent |
//! | `agent`, `current` | the agent's state, and the one agent of this library |
//! | `structural_edits` | edits that a class keeps: methods in front of native ones, members |
//! | `collected` | forgets the classes of loaders that have been collected |
//! | `loaded`, `originals` | classes that are loaded, and their class files |
//! | `retransform` | retransforms classes that are loaded |
//! | `hit_code` | the code that records hits: calls or stores |
//! | `patch` | other class files for loaded classes, and the way back |
//! | `class_hook` | one class on its way through the hook |
//! | `recorded` | arrays and spans → snapshot and event file |
//! | `observe` | what the JVM says of itself, recorded |
//! | `summary`, `unselected`, `shutdown` | what became of classes, what was loaded if none was selected, and how the agent ends |
//! | `agent_thread` | the thread that writes what was recorded |
//! | `upkeep_thread` | the thread that defines arrays and retransforms classes that could not be before |
//! | `commands` | what the agent does when it is asked |
//! | `control_thread`, `worker_thread` | the thread that listens, and the one that works on what takes its time |
//! | `live_phase`, `startup` | how the agent begins |
//! | `events` | what each call of the JVM leads to |
//!
//! Each imports only modules above it in this table.
//!
//! A JVM loads it with `-agentpath:/path/libclasshook.so=key=value,…`; a launcher that embeds a JVM
//! may link the static library instead and name it with `-agentlib:classhook`.
//!
//! Start reading at `events.rs` for how a JVM comes in, then at `startup.rs` and `class_hook.rs`.

mod agent;
mod agent_thread;
mod batches;
mod class_hook;
mod collected;
mod commands;
mod control_thread;
mod current;
mod events;
mod ffi;
mod helper_classes;
mod hit_code;
mod jacoco_thread;
mod live_phase;
mod loaded;
mod messages;
mod names;
mod observe;
mod originals;
mod patch;
mod plugin_compiler;
mod probe_arrays;
mod probe_class;
mod probe_table;
mod recorded;
mod retransform;
mod shutdown;
mod spans;
mod startup;
mod structural_edits;
mod summary;
mod test_runs;
mod unselected;
mod upkeep_thread;
mod worker_thread;
