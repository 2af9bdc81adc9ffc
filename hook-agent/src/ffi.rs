//! The boundary to the JVM: all `unsafe` code, and no decisions.
//!
//! Entry points, callbacks and native methods ([`entry`], [`callbacks`], [`natives`]) convert their arguments, call the
//! [`handlers`] inside [`guard`], and convert the result. They use only `messages` and `names` of the other modules.

#![expect(unsafe_code, reason = "all unsafe code is in this module")]

pub(crate) mod arrays;
pub(crate) mod callbacks;
pub(crate) mod class_file_load;
pub(crate) mod clock;
mod collections;
pub(crate) mod continuations;
pub(crate) mod define;
pub(crate) mod entry;
pub(crate) mod error;
mod fields;
mod guard;
pub(crate) mod handlers;
pub(crate) mod installed;
pub(crate) mod jni_table;
pub(crate) mod jvm;
pub(crate) mod jvm_events;
pub(crate) mod jvmti;
mod layouts;
pub(crate) mod live;
pub(crate) mod native_stack;
mod natives;
mod opened;
pub(crate) mod phases;
mod printed;
mod printed_classes;
pub(crate) mod process;
pub(crate) mod reader;
pub(crate) mod refs;
pub(crate) mod stack;
mod steps;
pub(crate) mod subscriber_callbacks;
#[expect(
    non_snake_case,
    reason = "functions and events have the names of the specification"
)]
pub(crate) mod table;
mod test_natives;
pub(crate) mod thread;
pub(crate) mod thread_cell;
pub(crate) mod values;
pub(crate) mod vm;
pub(crate) mod vm_flags;
