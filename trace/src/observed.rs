//! What a JVM said of itself: samples of threads and allocations, contention, exceptions and collections.
//!
//! | module | makes |
//! |---|---|
//! | [`table`] | tables, for people |
//! | [`folded`] | folded stacks, of which flame graphs are made |
//! | [`pprof`] | a profile for `go tool pprof` and its kin |
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
