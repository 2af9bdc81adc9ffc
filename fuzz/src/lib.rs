//! What the fuzz targets run. The functions are those of the rewriter's tests,
//! where a smoke test runs them on every build.

#[path = "../../rewriter/tests/suite/exercise.rs"]
pub mod exercise;
