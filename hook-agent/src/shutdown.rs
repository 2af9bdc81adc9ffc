//! The end of the agent: with the JVM, or on request.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::process;
use crate::ffi::table::Event;
use crate::messages::{self, Code};
use crate::retransform::{self, Report};
use crate::spans::event_file::EventFile;
use crate::spans::runtime;
use crate::summary::{self, Numbers};
use crate::{current, patch, recorded, structural_edits, subscribers, test_runs, unselected};
use probes::events::SpanMode;

/// Exit status of a run that fails with `on-error=strict`.
const STRICT_STATUS: i32 = 3;

/// The `VMDeath` event: the last time at which the arrays can be read.
pub(crate) fn vm_death(agent: &Agent, jvm: Jvm<'_>) {
    agent.change.work.cancel(true);
    if !agent.threads.control.stop() {
        messages::warning(
            Code::Thread,
            "the control thread does not answer; the JVM ends without it",
        );
    }
    if !agent.threads.jacoco.stop() {
        messages::warning(
            Code::Thread,
            "the thread for JaCoCo's tools does not answer; the JVM ends without it",
        );
    }
    subscribers::finish(agent, true);
    if agent.run.set_running(false) {
        let hook = Event::CLASS_FILE_LOAD_HOOK;
        let _ = jvm.jvmti.set_event(jvm.live, hook, false);
        if !agent.threads.upkeep.stop() || !agent.threads.signal.stop() {
            messages::warning(
                Code::Thread,
                "a thread of the agent does not answer; the snapshot is completed without it",
            );
        }
        test_runs::finish(agent, jvm);
        let _ = recorded::write_all(agent, jvm); // reported already; tried once more
        unselected::note(agent, jvm);
    }
    if complete(agent) && agent.is_strict() {
        process::exit_now(STRICT_STATUS);
    }
}

/// Undoes every edit and ends everything except the threads that receive requests. Returns the outcome for the classes.
pub(crate) fn undo(agent: &Agent, jvm: Jvm<'_>) -> Report {
    patch::change::forget_all(agent);
    // The hook stays enabled meanwhile, so that the agent also knows the classes that are in it.
    agent.plugins.exchange(None);
    let report = retransform::settle(agent, jvm, |_| true, |_| false);
    leave(agent, jvm);
    report
}

/// Disables all events, ends the agent's threads, completes and closes the snapshot, and allows another agent to be
/// installed.
fn leave(agent: &Agent, jvm: Jvm<'_>) {
    agent.threads.jacoco.stop();
    subscribers::finish(agent, false);
    agent.run.set_running(false);
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
    agent.threads.upkeep.stop();
    agent.threads.signal.stop();
    // Calls entered from now on leave no record. The rest of their cost ends when the classes are retransformed.
    for spans in agent.results.table.all_spans() {
        spans.set_mode(SpanMode::Off, |_| true);
    }
    test_runs::finish(agent, jvm);
    let _ = recorded::write_all(agent, jvm); // reported already; tried once more
    agent.classes.huge_methods.put_back();
    complete(agent);
    give_memory_back();
    agent.run.set_left();
    current::retire();
}

/// Returns the memory of recorded calls to the system.
fn give_memory_back() {
    for runtime in runtime::all() {
        runtime.visit_unused(process::give_back_pages);
    }
}

/// `Agent_OnUnload`: completes the files if `VMDeath` was not sent.
pub(crate) fn unload(agent: &Agent) {
    agent.run.set_running(false);
    complete(agent);
}

/// Completes the files once and prints the summary. Returns true if something failed.
fn complete(agent: &Agent) -> bool {
    let snapshot = &agent.results.snapshot;
    if !snapshot.begin_completion() {
        return false;
    }
    let numbers = Numbers::of(agent);
    let failures = agent.results.failures.take_fresh();
    let is_complete = snapshot.complete(agent.results.table, &failures, &numbers.summary);
    agent.results.sessions.each_file(EventFile::complete);
    agent.plugins.write_plans(true);
    let is_there = snapshot.close();
    summary::print(agent, &Numbers::of(agent));
    numbers.any_failed() || !is_complete || !is_there || numbers.plugins.strict_failure
}
