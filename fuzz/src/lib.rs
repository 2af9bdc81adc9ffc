//! The functions of the fuzz targets. They belong to the tests of the rewriter and of conditions, which run them as a
//! smoke test on every build.

#[path = "../../conditions/tests/suite/fuzz_target.rs"]
pub mod fuzz_target;
#[expect(dead_code, reason = "shared with the suite")]
#[path = "../../conditions/tests/suite/simulated_call.rs"]
mod simulated_call;
#[path = "../../conditions/tests/suite/naive.rs"]
mod naive;

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
