//! Tests of the public interface of `rewriter`.

mod busy;
mod changes;
mod edited;
mod exercise;
mod fixtures;
mod generated;
mod limits;
mod made;
mod merging;
mod mutation;
mod oracles;
mod own_array;
mod places;
mod plans;
mod program;
mod random;
mod samples;
mod schema;
mod snippets;
mod structure;
mod tables;
mod views;
