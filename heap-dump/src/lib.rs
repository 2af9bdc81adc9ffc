//! Finds the objects of a heap dump that retain the most memory, for `classhook profile … --heap retainers`.
//!
//! It takes some 80 bytes of memory for an object and 12 for a reference, so the command runs it in a child process.
//!
//! | module | |
//! |---|---|
//! | `records` | the records of an HPROF file |
//! | `graph` | the objects of the dump and the references between them |
//! | `dominators` | the last object on every path to another |
//! | `retainers` | the retained size of each object, and the table |

mod dominators;
mod graph;
mod records;
mod retainers;
#[cfg(test)]
mod tests;

pub use retainers::table;
