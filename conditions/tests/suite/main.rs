//! Tests of conditions: the texts of mistakes, print and parse, and programs beside a naive evaluation.

mod evaluation;
mod fuzz_target;
mod generated;
mod lines_and_writes;
mod mistakes;
mod naive;
mod round_trip;
mod simulated_call;
