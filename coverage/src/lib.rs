//! Computes probe positions from control flow, line and branch status from probes, and reports from status.
//!
//! The placement and numbering of probes, the counters, the filters and the reports are those of JaCoCo 0.8.15. So
//! both tools read each other's data. This crate reads no class files and does not depend on a JVM: the caller fills
//! in a description of the class.
//!
//! ```
//! use coverage::flow::{Flow, FlowMethod, Placement};
//!
//! // nop; return
//! let method = FlowMethod { code: &[0, 177], ..Default::default() };
//! assert_eq!(Flow::new().place(&method).unwrap(), [Placement::Before(1)]);
//! ```
//!
//! Start reading in [`flow`], the part that the plugin uses. Then read [`class`], the input of `analysis::analyze`,
//! and `filter`, the list of code that is left out.

pub mod analysis;
pub mod carried;
pub mod class;
pub mod filter;
pub mod flow;
pub mod model;
#[cfg(feature = "report")]
pub mod report;
mod source_map;
