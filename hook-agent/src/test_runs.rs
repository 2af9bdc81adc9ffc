//! Start and end of tests: hits since the last start or end are taken out of the arrays, and belong to the tests that
//! were under way.
//!
//! This runs on the thread that reports the start or end, one at a time, so that the hits of a later test are not
//! included.

use crate::agent::Agent;
use crate::agent::test_runs::{OpenTests, Test};
use crate::ffi::jvm::Jvm;
use crate::messages::{self, Code};
use crate::{hit_code, probe_arrays};

/// The plugin whose probes measure coverage.
const PLUGIN: &str = "coverage";

/// Handles the start of a test, reported by a thread of the application.
pub(crate) fn begin(agent: &Agent, jvm: Jvm<'_>, test: Test) {
    // Before the first test, waits for any change of classes.
    let _alone = (!agent.results.tests.are_used()).then(|| agent.change.work.alone());
    begin_alone(agent, jvm, test);
}

/// Handles the start of a test. Before the first, the caller holds the lock for changing classes.
pub(crate) fn begin_alone(agent: &Agent, jvm: Jvm<'_>, test: Test) {
    if agent.results.tests.begin_use() {
        // Each test has its own hits, also of code that other tests executed before, so no call may be removed.
        hit_code::store_only(agent, jvm);
    }
    let mut is_known = true;
    switch(agent, jvm, |open| is_known = open.begin(test));
    if !is_known && agent.results.snapshot.cut_tests_off() {
        warn("too many tests are under way, or tests never end");
    }
}

/// Handles the end of a test, and returns true if it was under way.
pub(crate) fn end(agent: &Agent, jvm: Jvm<'_>, id: &str) -> bool {
    let mut was_open = false;
    if agent.results.tests.are_used() {
        switch(agent, jvm, |open| was_open = open.end(id));
    }
    was_open
}

/// Handles the end of the JVM or the agent: tests that are under way get the hits until now.
pub(crate) fn finish(agent: &Agent, jvm: Jvm<'_>) {
    if agent.results.tests.are_used() {
        switch(agent, jvm, |_| ());
    }
}

/// Ends all tests, so that none extends into the next recording, whose hits may be recorded by calls again.
pub(crate) fn forget(agent: &Agent, jvm: Jvm<'_>) {
    if agent.results.tests.end_use() {
        switch(agent, jvm, |open| *open = OpenTests::default());
        hit_code::choose(agent);
    }
}

fn switch(agent: &Agent, jvm: Jvm<'_>, change: impl FnOnce(&mut OpenTests)) {
    let ranges = agent.results.table.ranges(Some(PLUGIN));
    let exclusive = agent.results.snapshot.exclusive();
    let mut open = agent.results.tests.open();
    let mut hits = Vec::new();
    let taken = probe_arrays::take(jvm, &ranges, |array, taken| {
        hits.push((array, taken.to_vec()));
    });
    let names = open.names();
    let fits = agent.results.snapshot.tested(&names, &hits);
    change(&mut open);
    drop((open, exclusive));
    let taken = taken.and_then(|()| hit_code::cleared(agent, jvm));
    if let Err(cause) = taken {
        messages::error(Code::ProbeClass, cause);
    }
    if !fits {
        warn("the coverage of tests exceeds its limit");
    }
}

fn warn(cause: &str) {
    let consequence = "the coverage of later tests is not recorded";
    messages::warning(Code::Tests, format_args!("{cause}; {consequence}"));
}
