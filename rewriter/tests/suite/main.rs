//! Tests of the public interface of `rewriter`.

mod exercise;
mod fixtures;
mod limits;
mod mutation;
mod oracles;
mod own_array;
mod places;
mod plans;
mod program;
mod tables;
mod views;
