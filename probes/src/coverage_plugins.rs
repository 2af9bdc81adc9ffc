//! Names of the plugins whose recordings are coverage.

/// The plugin whose probes are coverage.
pub const COVERAGE: &str = "coverage";

/// The plugin with a probe at the start of each line: the component of `coverage` with other settings.
pub const LINES: &str = "coverage-lines";

/// The plugin that counts the executions of lines: the component of `coverage` with other settings.
pub const COUNTS: &str = "coverage-counts";
