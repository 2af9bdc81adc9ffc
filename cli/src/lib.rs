//! The `classhook` command: a thin shell over the libraries.
//!
//! | subcommand | file | modules that do the work |
//! |---|---|---|
//! | `run` | [`commands::run`] | [`launch`]: the agent in a JVM, or in every JVM of a build |
//! | `coverage` | [`commands::coverage`] | as `run`, or a plugin [`attached`] to a running JVM; then a report |
//! | `trace` | [`commands::trace`] | a run or a running JVM, displayed by [`live`]; then [`traces`] |
//! | `top` | [`commands::top`] | as `trace`, displayed by [`top`] |
//! | `watch` | [`commands::watch`] | as `trace`; [`watch_printer`] prints calls as they end |
//! | `profile` | [`commands::profile`] | [`profile`]: a recording of the agent, or an answer of the JVM itself |
//! | `collect`, `--to` | [`commands::collect`], [`mod@relay`] | the crate `relay` |
//! | `report` | [`commands::report`] | [`coverage_inputs`] → [`coverage_analysis`] → [`differential_coverage`] → [`outputs`], or [`traces`] |
//! | `check` | [`commands::check`] | [`coverage_inputs`] → [`coverage_analysis`] → [`coverage_rules`] |
//! | `merge` | [`commands::merge`] | [`coverage_inputs`] → `probes` |
//! | `instrument` | [`commands::instrument`] | [`static_instrumentation`]: `host::Pipeline` over class files, folders and jars |
//! | `explain`, `inspect`, `verify` | [`commands::explain`], [`commands::inspect`], [`commands::verify`] | `host::Pipeline`, `rewriter::print`, and other readers in [`class_readers`] |
//! | `plugin` | one each in [`commands::plugin`] | [`plugin_projects`]: templates and SDKs, cargo and clang, published plugins |
//! | `doctor` | [`commands::doctor`] | [`doctor`]: checks of this machine or of a running JVM |
//! | `completions` | [`commands::completions`] | `clap_complete` |
//! | `compile-plugin` | [`commands::compile_plugin`] | [`mod@plugin_compiler`]: a [`child`] process, and its progress |
//! | `ps`, `attach` | [`commands::ps`], [`commands::attach`] | the crate `attach` |
//! | `status`, `dump`, `reset`, `enable`, `disable`, `reload`, `classes`, `patch`, `patches`, `rollback`, `off` | one each in [`commands`] | [`agent`]: the crate `control` |
#![forbid(unsafe_code)]

pub mod absent_classes;
pub mod agent;
mod analysis_progress;
pub mod answers;
pub mod application;
pub mod args;
pub mod attached;
pub mod build_output;
pub mod call_options;
pub mod checked_options;
pub mod child;
mod child_tasks;
pub mod commands;
pub mod doctor;
pub mod explained;
mod failed_agents;
mod failed_plugins;
pub mod follow_options;
pub mod heading;
pub mod holder;
pub mod interrupt;
pub mod jvm_files;
pub mod jvm_tmp;
pub mod launch;
pub mod live;
pub mod loader_paths;
pub mod metaspace;
mod otlp_arguments;
pub mod outputs;
pub mod plugin_compiler;
mod plugin_tables;
pub mod precompiled;
pub mod profile;
pub mod progress;
pub mod project_classes;
pub mod recording_folder;
pub mod relay;
mod reporters;
mod rule_options;
pub mod show;
pub mod slow_trees;
pub mod temp_output;
pub mod terminal;
mod test_snapshots;
pub mod top;
pub mod traces;
pub mod unchanged_classes;
pub mod unmatched;
mod usage_hints;
pub mod value_check;
pub mod virtual_threads;
mod watch_points;
pub mod watch_printer;

use std::ffi::OsString;
use std::process::ExitCode;

/// Parses the command line, runs the command, and reports its error.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(done) = child_tasks::run(&words) {
        return done;
    }
    let parsed = commands::parse(&words);
    let parsed = parsed.unwrap_or_else(|error| match usage_hints::problem(&error, &words) {
        Some(problem) => {
            show::complain(format_args!("{problem}\n"));
            std::process::exit(i32::from(problem.exit()))
        }
        None => error.exit(),
    });
    match parsed.command.run() {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            show::complain(format_args!("{problem}\n"));
            ExitCode::from(problem.exit())
        }
    }
}
