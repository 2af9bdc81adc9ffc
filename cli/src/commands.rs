//! The subcommands, one file each.

pub mod attach;
pub mod coverage;
pub mod explain;
pub mod inspect;
pub mod ps;
pub mod report;
pub mod run;
pub mod verify;
