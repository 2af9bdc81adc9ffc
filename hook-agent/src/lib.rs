//! The Classhook agent, `libclasshook.so`: the thin edge between a JVM and [`host`].
//!
//! It takes JVM TI's `ClassFileLoadHook`, hands class bytes to [`host::Pipeline`], gives the result
//! back to the JVM, and copies the arrays that the probes write into a snapshot. It decides nothing
//! about bytecode, plugins or reports.
//!
//! | module | holds |
//! |---|---|
//! | `ffi` | all unsafe code: entry points, the JVM TI table, JNI, the panic guard |
//! | `agent` | the agent's state, how it starts and ends |
//! | `class_hook` | one class on its way through the hook |
//! | `retransform` | classes that were loaded before the agent |
//! | `waiting` | those of them that are not linked yet |
//! | `foundation` | methods in front of native ones, which stay |
//! | `patch` | other class files for loaded classes, and the way back |
//! | `rebuilt` | files of classes whose bytes the JVM rebuilds |
//! | `recording` | the agent thread: arrays → snapshot |
//! | `probe_class` | `java/lang/$Classhook` and its siblings |
//! | `plugins` | the generation of plugins at work, exchanged on request |
//! | `changed` | which classes hold edits, and whose |
//! | `slots` | arrays and their table, which outlive the agent |
//! | `spans` | methods recorded as spans, and the event file |
//! | `channel`, `commands` | the control thread, and what it is asked for |
//! | `messages` | everything written to standard error |
//!
//! A JVM loads it with `-agentpath:/path/libclasshook.so=key=value,…`; a launcher that embeds a JVM
//! may link the static library instead and name it with `-agentlib:classhook`.
//!
//! Start reading at `ffi/entry.rs` for how a JVM comes in, then at `agent.rs`.

mod agent;
mod changed;
mod channel;
mod class_hook;
mod commands;
mod exclusions;
mod ffi;
mod foundation;
mod messages;
mod patch;
mod plugins;
mod probe_class;
mod rebuilt;
mod recording;
mod retransform;
mod slots;
mod spans;
mod startup;
mod this_class;
mod waiting;
