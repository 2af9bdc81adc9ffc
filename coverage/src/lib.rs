//! Control flow to probes, probes to line and branch status, status to reports.
//!
//! The placement and numbering of probes, the counters, the filters and the
//! reports are those of JaCoCo 0.8.15, so its tools and ours read each other's
//! data. This crate reads no class files and knows nothing of a JVM: its input
//! is a description that the caller fills.
//!
//! ```
//! use coverage::flow::{Flow, FlowMethod, Placement};
//!
//! // nop; return
//! let method = FlowMethod { code: &[0, 177], ..Default::default() };
//! assert_eq!(Flow::new().place(&method).unwrap(), [Placement::Before(1)]);
//! ```
//!
//! Start reading in [`flow`], which is all the plugin needs; then [`class`],
//! the input of `analysis::analyze`; `filter` says what is left out.

pub mod analysis;
pub mod carried;
pub mod class;
pub mod filter;
pub mod flow;
pub mod model;
#[cfg(feature = "report")]
pub mod report;
mod source_map;
