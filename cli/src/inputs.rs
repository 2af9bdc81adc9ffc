//! What reports are made from: snapshots, class files and sources.

pub mod archive;
pub mod class_files;
pub mod exec_files;
pub mod jrt;
pub mod named_classes;
pub mod recorded;
pub mod recordings;
pub mod sources;
