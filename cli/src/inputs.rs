//! Inputs of reports: run files, class files and sources.

pub mod archive;
pub mod class_files;
pub mod command_line;
pub mod damaged_files;
pub mod exec_files;
pub mod execution_data;
pub mod jacoco_agents;
pub mod jrt;
pub mod named_classes;
pub mod run_files;
pub mod runs;
pub mod sources;
