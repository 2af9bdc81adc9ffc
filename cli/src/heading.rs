//! Headings of options in the help of commands.
//!
//! A heading of clap holds until the next one, also behind the struct that sets it. So own options of a command come
//! before flattened ones, and each flattened struct sets its heading.

/// No heading: clap lists the argument below *Arguments* or *Options*.
pub const NONE: Option<&str> = None;
/// Options of the agent as a whole.
pub const AGENT: &str = "Agent options";
/// Options of the plugins in the agent.
pub const PLUGINS: &str = "Plugin options";
/// Selection of the methods and calls that a trace records.
pub const CALLS: &str = "Methods and calls";
/// Classes, sources and lines of a coverage report.
pub const CONTENTS: &str = "Contents of the report";
/// Files of a coverage report.
pub const REPORTS: &str = "Report files";
/// Rules about the coverage.
pub const RULES: &str = "Coverage rules";
/// Tables and files of traces and profiles.
pub const OUTPUTS: &str = "Tables and files";
/// Events that a profile records, and requests to the JVM.
pub const EVENTS: &str = "Events and requests";
/// Outputs of a trace before its end.
pub const LIVE: &str = "While the program runs";
