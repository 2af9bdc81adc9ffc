//! `test`: a test begins or ends, as a user says.

use super::context::Context;
use crate::agent::test_runs::Test as NewTest;
use crate::test_runs;
use control::Refusal;
use control::message::Test;

/// What is hit from now on belongs to this test, or does no more.
///
/// # Errors
///
/// If it ends and has not begun.
pub(super) fn test(context: Context<'_>, name: String, ends: bool) -> Result<Test, Refusal> {
    let Context { agent, jvm } = context;
    let id = format!("command:{name}");
    if ends {
        if !test_runs::end(agent, jvm, &id) {
            let under_way = agent.tests.open().names().join(", ");
            let refusal = Refusal::new("H0709", format!("no test `{name}` is under way"));
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
        under_way: agent.tests.open().names(),
    })
}
