//! Tests of conditions: the texts of mistakes, print and parse, and programs beside a naive evaluation.

mod asked;
mod evaluation;
mod generated;
mod imagined;
mod mistakes;
mod naive;
mod places;
mod round_trip;
