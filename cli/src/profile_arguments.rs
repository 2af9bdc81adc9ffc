//! Options for tables and files of profiles, and for pauses.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use profiles::outputs::{FRAMES, ProfileOutputs};
use profiles::pause::Limits;

use crate::durations;
use crate::heading;
use crate::trace_arguments::StackArguments;

/// Tables and files of a profile.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::OUTPUTS)]
pub struct ProfileArguments {
    /// Write a flame graph (SVG) to this file; of the first recorded kind
    #[arg(long, value_name = "FILE")]
    pub flame_graph: Option<PathBuf>,
    /// Write folded stacks to this file; of the first recorded kind
    #[arg(long, value_name = "FILE")]
    pub folded: Option<PathBuf>,
    /// The form of stacks.
    #[command(flatten)]
    pub stacks: StackArguments,
    /// Write a pprof profile (.pb.gz) to this file, for `go tool pprof` and others
    #[arg(long, value_name = "FILE")]
    pub pprof: Option<PathBuf>,
    /// Write a time line (JSON) to this file, for ui.perfetto.dev or chrome://tracing
    #[arg(long, value_name = "FILE")]
    pub perfetto: Option<PathBuf>,
    /// Write a JDK Flight Recorder recording to this file; for JDK Mission Control and `jfr print`
    #[arg(long, value_name = "FILE")]
    pub jfr: Option<PathBuf>,
    /// Write one JSON object a line to this file; `-` is standard output, and tables then go to standard error
    #[arg(long, value_name = "FILE")]
    pub json_lines: Option<PathBuf>,
    /// Show only stacks with a frame of these classes: com.acme.**; `!` excludes; repeatable
    #[arg(long, value_name = "SELECTOR")]
    pub only: Vec<String>,
    /// Show only threads with this name: http-*, main; repeatable
    #[arg(long, value_name = "GLOB")]
    pub thread: Vec<String>,
    /// Show this number of rows in a table
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    pub top: usize,
    /// Show this number of frames of each stack; 0 for no stacks
    #[arg(long, value_name = "NUMBER", default_value_t = FRAMES)]
    pub frames: usize,
}

impl ProfileArguments {
    /// Returns the outputs.
    #[must_use]
    pub fn value(&self) -> ProfileOutputs {
        let given = self.clone();
        ProfileOutputs {
            flame_graph: given.flame_graph,
            folded: given.folded,
            stacks: given.stacks.value(),
            pprof: given.pprof,
            perfetto: given.perfetto,
            jfr: given.jfr,
            json_lines: given.json_lines,
            only: given.only,
            thread: given.thread,
            top: given.top,
            frames: given.frames,
        }
    }
}

/// Limits of a pause.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = heading::EVENTS)]
pub struct PauseArguments {
    /// Refuse a longer pause of the program, with --heap: 500ms, 5s
    #[arg(long, value_name = "DURATION", requires = "heap", value_parser = durations::duration)]
    pub max_pause: Option<Duration>,
    /// Start without a question before pauses over 2 s, with --heap
    #[arg(long, requires = "heap")]
    pub yes: bool,
}

impl PauseArguments {
    /// Returns the limits.
    #[must_use]
    pub fn value(&self) -> Limits {
        Limits {
            max_pause: self.max_pause,
            yes: self.yes,
        }
    }
}
