//! The subcommands, one file each.

pub mod attach;
pub mod classes;
pub mod coverage;
pub mod disable;
pub mod dump;
pub mod enable;
pub mod explain;
pub mod inspect;
pub mod instrument;
pub mod off;
pub mod patch;
pub mod patches;
pub mod ps;
pub mod reload;
pub mod report;
pub mod reset;
pub mod rollback;
pub mod run;
pub mod status;
pub mod trace;
pub mod verify;
