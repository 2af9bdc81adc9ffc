//! What the fuzz targets run. The functions are those of the rewriter's tests,
//! where a smoke test runs them on every build.

#[path = "../../rewriter/tests/suite/exercise.rs"]
pub mod exercise;

#[expect(dead_code, reason = "shared with the suite")]
#[path = "../../rewriter/tests/suite/edited.rs"]
mod edited;
#[expect(dead_code, reason = "shared with the suite")]
#[path = "../../rewriter/tests/suite/fixtures.rs"]
mod fixtures;
#[path = "../../rewriter/tests/suite/generated.rs"]
pub mod generated;
#[expect(dead_code, reason = "shared with the suite")]
#[path = "../../rewriter/tests/suite/random.rs"]
mod random;
