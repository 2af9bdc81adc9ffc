//! `test`: start or end of a test, reported by a user.

use super::context::Context;
use crate::agent::test_runs::Test as NewTest;
use crate::test_runs;
use control::Refusal;
use control::message::Test;
use errors::codes;

/// Begins or ends a test. Hits between the two belong to the test.
///
/// # Errors
///
/// If the test to be ended is not under way.
pub(super) fn test(context: Context<'_>, name: String, ends: bool) -> Result<Test, Refusal> {
    let Context { agent, jvm } = context;
    let id = format!("command:{name}");
    if ends {
        if !test_runs::end(agent, jvm, &id) {
            let under_way = agent.results.tests.open().names().join(", ");
            let refusal = Refusal::new(codes::H0709, format!("no test `{name}` is under way"));
            return Err(match under_way.as_str() {
                "" => refusal,
                under_way => refusal.with("expected", under_way),
            });
        }
    } else {
        let test = NewTest {
            id,
            parent: None,
            name,
        };
        test_runs::begin_alone(agent, jvm, test);
    }
    Ok(Test {
        under_way: agent.results.tests.open().names(),
    })
}
