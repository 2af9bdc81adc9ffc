//! The `classhook` command: a thin shell over the libraries.
//!
//! | subcommand | file | modules that do the work |
//! |---|---|---|
//! | `run` | [`commands::run`] | [`agent_launch`]: the agent in a JVM, or in every JVM of a build |
//! | `coverage` | [`commands::coverage`] | as `run`, or a plugin [`agent_connection::attached`] to a running JVM; then a report |
//! | `trace` | [`commands::trace`] | a run or a running JVM, displayed by [`live_traces`]; then [`trace_reports`] |
//! | `top` | [`commands::top`] | as `trace`, displayed by [`live_traces::top`] |
//! | `watch` | [`commands::watch`] | as `trace`; [`live_traces::watch_printer`] prints calls as they end |
//! | `profile` | [`commands::profile`] | [`profiles`]: a recording of the agent, or an answer of the JVM itself |
//! | `collect`, `--to` | [`commands::collect`] | [`relay`] |
//! | `report` | [`commands::report`] | [`coverage_inputs`] → [`coverage_analysis`] → [`differential_coverage`] → [`outputs`], or [`trace_reports`] |
//! | `check` | [`commands::check`] | [`coverage_inputs`] → [`coverage_analysis`] → [`coverage_rules`] |
//! | `merge` | [`commands::merge`] | [`coverage_inputs`] → `probes` |
//! | `instrument` | [`commands::instrument`] | [`static_instrumentation`]: `host::Pipeline` over class files, folders and jars |
//! | `explain`, `inspect`, `verify` | [`commands::explain`], [`commands::inspect`], [`commands::verify`] | `host::Pipeline`, `rewriter::print`, and other readers in [`class_readers`] |
//! | `advice` | [`commands::advice`] | the crate `advice`: Java with annotations, for the bundled plugin of that name |
//! | `plugin` | one each in [`commands::plugin`] | [`plugin_projects`]: templates and SDKs, cargo and clang, published plugins |
//! | `doctor` | [`commands::doctor`] | [`environment_checks`]: checks of this machine or of a running JVM |
//! | `completions`, `man-pages` | [`commands::completions`], [`commands::man_pages`] | `clap_complete`, `clap_mangen` |
//! | `compile-plugin` | [`commands::compile_plugin`] | [`agent_launch::plugin_compiler`]: a child process, and its progress |
//! | `ps`, `attach` | [`commands::ps`], [`commands::attach`] | the crate `attach` |
//! | `status`, `dump`, `reset`, `enable`, `disable`, `reload`, `classes`, `patch`, `patches`, `rollback`, `off` | one each in [`commands`] | [`agent_connection`]: the crate `control` |
#![forbid(unsafe_code)]

pub mod advice_arguments;
mod analysis_progress;
pub mod args;
pub mod build_output;
pub mod call_options;
mod child_tasks;
pub mod commands;
mod durations;
pub mod explained;
mod file_copies;
pub mod follow_options;
pub mod heading;
pub mod metaspace;
mod otlp_arguments;
pub mod outputs;
mod profile_arguments;
pub mod project_classes;
mod relay_arguments;
mod report_plugins;
mod rule_options;
mod target;
mod test_snapshots;
mod top_arguments;
mod trace_arguments;
mod usage_hints;
mod watch_points;

use std::ffi::OsString;
use std::process::ExitCode;

/// Parses the command line, runs the command, and reports its error.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(done) = child_tasks::run(&words).or_else(|| file_copies::run(&words)) {
        return done;
    }
    let parsed = commands::parse(&words);
    let parsed = parsed.unwrap_or_else(|error| match usage_hints::problem(&error, &words) {
        Some(problem) => {
            standard_streams::show::complain(format_args!("{problem}\n"));
            std::process::exit(i32::from(problem.exit()))
        }
        None => usage_hints::exit(&error),
    });
    match parsed.command.run() {
        Ok(code) => ExitCode::from(code),
        Err(problem) => {
            standard_streams::show::complain(format_args!("{problem}\n"));
            ExitCode::from(problem.exit())
        }
    }
}
