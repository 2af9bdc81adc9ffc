//! The rewriter's output in real JVMs and under independent readers and verifiers.

mod class_edits;
mod corpora;
mod layers;
mod mutations;
mod print_like_javap;
mod snippets;
