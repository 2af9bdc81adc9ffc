//! How the agent ends: with the JVM, or when it is asked to leave.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::process;
use crate::ffi::table::Event;
use crate::messages::{self, Code};
use crate::retransform::{self, Report};
use crate::spans::event_file::EventFile;
use crate::spans::runtime;
use crate::summary::{self, Numbers};
use crate::{current, observe, patch, recorded, structural_edits, test_runs, unselected};
use probes::events::SpanMode;

/// Exit status of a run that fails under `on-error=strict`.
const STRICT_STATUS: i32 = 3;

/// The `VMDeath` event: the last moment at which the arrays can be read.
pub(crate) fn vm_death(agent: &Agent, jvm: Jvm<'_>) {
    agent.work.cancel(true);
    if !agent.control.stop() {
        messages::warning(
            Code::Thread,
            "the control thread does not answer; the JVM ends without it",
        );
    }
    if !agent.jacoco.stop() {
        messages::warning(
            Code::Thread,
            "the thread for JaCoCo's tools does not answer; the JVM ends without it",
        );
    }
    observe::finish(agent, true);
    if agent.set_running(false) {
        let hook = Event::CLASS_FILE_LOAD_HOOK;
        let _ = jvm.jvmti.set_event(jvm.live, hook, false);
        if !agent.upkeep.stop() || !agent.signal.stop() {
            messages::warning(
                Code::Thread,
                "a thread of the agent does not answer; the snapshot is completed without it",
            );
        }
        test_runs::finish(agent, jvm);
        let _ = recorded::write_all(agent, jvm); // reported already, and tried once more
        unselected::note(agent, jvm);
    }
    if complete(agent) && agent.is_strict() {
        process::exit_now(STRICT_STATUS);
    }
}

/// Undoes every edit and ends everything but the threads that take commands; what became of the classes.
pub(crate) fn undo(agent: &Agent, jvm: Jvm<'_>) -> Report {
    patch::change::forget_all(agent);
    // The hook stays on meanwhile, so that classes on their way through it come out known.
    agent.plugins.exchange(None);
    let report = retransform::settle(agent, jvm, |_| true, |_| false);
    leave(agent, jvm);
    report
}

/// No event comes any more, the agent's threads are gone, the snapshot is complete and closed, and another agent may be
/// installed.
fn leave(agent: &Agent, jvm: Jvm<'_>) {
    agent.jacoco.stop();
    observe::finish(agent, false);
    agent.set_running(false);
    structural_edits::end(jvm.live);
    let events = [
        Event::CLASS_FILE_LOAD_HOOK,
        Event::CLASS_PREPARE,
        Event::DATA_DUMP_REQUEST,
        Event::VM_DEATH,
    ];
    for event in events {
        let _ = jvm.jvmti.set_event(jvm.live, event, false);
    }
    agent.upkeep.stop();
    agent.signal.stop();
    // Calls entered from now on leave no record. What the instrumented code still costs ends when its
    // classes are retransformed.
    for spans in agent.table.all_spans() {
        spans.set_mode(SpanMode::Off, |_| true);
    }
    test_runs::finish(agent, jvm);
    let _ = recorded::write_all(agent, jvm); // reported already, and tried once more
    agent.huge_methods.put_back();
    complete(agent);
    give_memory_back();
    agent.set_left();
    current::retire();
}

/// What calls took that waited to be written is the application's again.
fn give_memory_back() {
    for runtime in runtime::all() {
        runtime.visit_unused(process::give_back_pages);
    }
}

/// `Agent_OnUnload`: what `VMDeath` did not do, because it did not come.
pub(crate) fn unload(agent: &Agent) {
    agent.set_running(false);
    complete(agent);
}

/// Completes the files once and prints the summary; true if something failed.
fn complete(agent: &Agent) -> bool {
    let snapshot = &agent.snapshot;
    if !snapshot.begin_completion() {
        return false;
    }
    let numbers = Numbers::of(agent);
    let failures = agent.failures.take_fresh();
    let is_complete = snapshot.complete(agent.table, &failures, &numbers.summary);
    agent.sessions.each_file(EventFile::complete);
    agent.plugins.write_plans(true);
    let is_there = snapshot.close();
    summary::print(agent, &Numbers::of(agent));
    numbers.any_failed() || !is_complete || !is_there || numbers.plugins.strict_failure
}
