//! Recorded events of a JVM: samples of threads and allocations, contention, exceptions and collections.
//!
//! | module | output |
//! |---|---|
//! | [`table`] | tables, as text |
//! | [`folded`] | folded stacks, the input of flame graphs |
//! | [`pprof`] | a profile for `go tool pprof` and compatible viewers |
//! | [`jfr`] | a recording of JDK Flight Recorder |
//! | [`perfetto`] | a time line of single events |
//! | [`json_lines`] | one row per line, for programs |

pub mod folded;
pub mod jfr;
pub mod json_lines;
mod names;
pub mod perfetto;
pub mod pprof;
pub mod table;
