//! Tests of the public interface of `rewriter`.

mod around;
mod busy;
mod changes;
mod class_array;
mod class_builder;
mod edited;
mod exercise;
mod faulty_output;
mod fixtures;
mod generated;
mod limits;
mod locations;
mod merging;
mod mutation;
mod oracles;
mod plans;
mod program;
mod random;
mod replaced;
mod samples;
mod schema;
mod shared_methods;
mod snippets;
mod structure;
mod tables;
mod views;
