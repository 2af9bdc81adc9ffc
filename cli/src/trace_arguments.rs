//! Options for tables and files of traces.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use class_selection::filter::Filter;
use trace::stacks::DEPTH;
use trace::summary::Order;
use trace_reports::outputs::TraceOutputs;
use trace_reports::reporters::Reporters;
use trace_reports::slow_trees::SlowOptions;
use trace_reports::stacks::StackOptions;

use crate::args::output_path;
use crate::call_options::nanos;
use crate::heading;

/// Outputs of a trace.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::OUTPUTS)]
pub struct TraceArguments {
    /// Write a flame graph (SVG) to this file
    #[arg(long, value_name = "FILE")]
    pub flame_graph: Option<PathBuf>,
    /// Write folded stacks to this file; calls in nanoseconds
    #[arg(long, value_name = "FILE")]
    pub folded: Option<PathBuf>,
    /// Write a time line (JSON) to this file, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write one JSON object a line to this file; `-` is standard output, and tables then go to standard error
    #[arg(long, value_name = "FILE")]
    pub json_lines: Option<PathBuf>,
    /// Write one line for each call with --json-lines, and names as numbers
    #[arg(long, requires = "json_lines")]
    pub compact: bool,
    /// The form of stacks.
    #[command(flatten)]
    pub stacks: StackArguments,
    /// Write the whole table as CSV to this file, in nanoseconds
    #[arg(long, value_name = "FILE")]
    pub table_csv: Option<PathBuf>,
    /// Write the whole table as JSON to this file, in nanoseconds
    #[arg(long, value_name = "FILE")]
    pub table_json: Option<PathBuf>,
    /// Write the tables of plugins to this folder; as PLUGIN-TABLE.csv, in nanoseconds
    #[arg(long, value_name = "DIR", value_parser = output_path())]
    pub results_csv: Option<PathBuf>,
    /// Write the tables of plugins to this file; one JSON object a line, in nanoseconds; `-` is standard output, and tables then go to standard error
    #[arg(long, value_name = "FILE")]
    pub results_json_lines: Option<PathBuf>,
    /// Write the tables of plugins as one HTML page to this file
    #[arg(long, value_name = "FILE")]
    pub results_html: Option<PathBuf>,
    /// Sort rows by this column [default: self]
    #[arg(long, value_name = "COLUMN")]
    pub sort: Option<Sort>,
    /// Show this number of rows in a table
    #[arg(long, value_name = "NUMBER", default_value_t = 40)]
    pub top: usize,
    /// Show only this table of a plugin, with this number of rows; repeatable [default: tables without `_` in front of the name]
    #[arg(long = "table", value_name = "TABLE[=ROWS]")]
    pub tables: Vec<String>,
}

impl TraceArguments {
    /// Returns the outputs.
    #[must_use]
    pub fn value(&self) -> TraceOutputs {
        let given = self.clone();
        TraceOutputs {
            flame_graph: given.flame_graph,
            folded: given.folded,
            perfetto: given.perfetto,
            json_lines: given.json_lines,
            compact: given.compact,
            stacks: given.stacks.value(),
            table_csv: given.table_csv,
            table_json: given.table_json,
            results_csv: given.results_csv,
            results_json_lines: given.results_json_lines,
            results_html: given.results_html,
            order: given.sort.map_or_else(Order::default, Order::from),
            top: given.top,
            tables: given.tables,
            filter: Filter::default(),
            beside: false,
            reporters: Reporters::default(),
            plugin_tables: Vec::new(),
        }
    }
}

/// The form of stacks in flame graphs and in folded stacks.
#[derive(Debug, Clone, PartialEq, Eq, Args)]
#[command(next_help_heading = heading::OUTPUTS)]
pub struct StackArguments {
    /// Draw this number of frames of a stack, 1 to 8192; one more frame counts the deeper calls
    #[arg(long, value_name = "FRAMES", default_value_t = DEPTH, value_parser = frames)]
    pub stack_depth: usize,
    /// Draw recursive calls once, in the outermost frame of the method
    #[arg(long)]
    pub fold_recursion: bool,
    /// Draw the difference to an earlier recording; or to those of a folder
    #[arg(long, value_name = "FILE|DIR")]
    pub against: Option<PathBuf>,
    /// Scale the recording of --against to the same total
    #[arg(long, requires = "against")]
    pub normalize: bool,
}

impl Default for StackArguments {
    fn default() -> Self {
        Self {
            stack_depth: DEPTH,
            fold_recursion: false,
            against: None,
            normalize: false,
        }
    }
}

impl StackArguments {
    /// Returns the form of stacks.
    #[must_use]
    pub fn value(&self) -> StackOptions {
        StackOptions {
            stack_depth: self.stack_depth,
            fold_recursion: self.fold_recursion,
            against: self.against.clone(),
            normalize: self.normalize,
        }
    }
}

/// Parses a stack depth.
fn frames(text: &str) -> Result<usize, String> {
    let depth = text
        .parse()
        .ok()
        .filter(|depth| (1..=8_192).contains(depth));
    depth.ok_or_else(|| format!("expected a number from 1 to 8192, found `{text}`"))
}

/// A column of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// Time in the method without the traced methods it called
    #[value(name = "self")]
    Own,
    /// Time in the method and in what it called
    Total,
    /// Number of calls
    Calls,
    /// The longest call
    Max,
    /// Calls that ended by an exception
    Errors,
}

impl From<Sort> for Order {
    fn from(sort: Sort) -> Self {
        match sort {
            Sort::Own => Order::Own,
            Sort::Total => Order::Total,
            Sort::Calls => Order::Calls,
            Sort::Max => Order::Max,
            Sort::Errors => Order::Errors,
        }
    }
}

/// Options for trees of slow calls.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::OUTPUTS)]
pub struct SlowArguments {
    /// Show outermost calls of this duration as trees, with waits and collections: 200ms, 1.5s
    #[arg(long, value_name = "DURATION", value_parser = nanos)]
    pub slow: Option<u64>,
    /// Stop after this number of trees of --slow
    #[arg(long, value_name = "NUMBER", requires = "slow", value_parser = clap::value_parser!(u64).range(1..))]
    pub slow_limit: Option<u64>,
    /// Write each tree of --slow to this file; one JSON object a line, in nanoseconds; `-` is standard output, and trees then go to standard error
    #[arg(long, value_name = "FILE", requires = "slow")]
    pub slow_json_lines: Option<PathBuf>,
}

impl SlowArguments {
    /// Returns the options.
    #[must_use]
    pub fn value(&self) -> SlowOptions {
        SlowOptions {
            slow: self.slow,
            slow_limit: self.slow_limit,
            slow_json_lines: self.slow_json_lines.clone(),
        }
    }
}
