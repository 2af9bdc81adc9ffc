//! Tests of the public interface of `rewriter`.

mod around;
mod busy;
mod changes;
mod class_array;
mod edited;
mod exercise;
mod fixtures;
mod generated;
mod helpers;
mod limits;
mod locations;
mod made;
mod merging;
mod mutation;
mod oracles;
mod plans;
mod program;
mod random;
mod replaced;
mod samples;
mod schema;
mod snippets;
mod structure;
mod tables;
mod views;
mod wrong;
