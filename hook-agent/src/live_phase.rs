//! The start of the agent's work in the live phase.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::Local;
use crate::ffi::table::Event;
use crate::messages::{self, Code};
use crate::spans::runtime;
use crate::subscribers::native_threads;
use crate::{
    agent_thread, control_thread, jacoco_thread, recorded, retransform, shutdown, structural_edits,
    subscribers, upkeep_thread,
};
use std::ffi::CStr;

/// The name of the first probe class.
const FIRST_PROBE_CLASS: &CStr = c"java/lang/$Classhook";

/// Classes that JDK 25 generates for its archive, without class files.
const HOLDERS: [&CStr; 4] = [
    c"java/lang/invoke/DelegatingMethodHandle$Holder",
    c"java/lang/invoke/DirectMethodHandle$Holder",
    c"java/lang/invoke/Invokers$Holder",
    c"java/lang/invoke/LambdaForm$Holder",
];

/// The `VMInit` event.
pub(crate) fn vm_init(agent: &'static Agent, jvm: Jvm<'_>) {
    if !begin(agent, jvm) {
        if !agent.results.snapshot.is_completed() {
            agent.results.failures.agent_failed();
        }
        return;
    }
    instrument(agent, jvm);
    if agent.settings.control
        && let Err(cause) = control_thread::open(agent)
            .and_then(|channel| control_thread::start(agent, jvm, channel))
    {
        let consequence = "the agent works, but receives no commands";
        messages::warning(Code::Control, format_args!("{cause}; {consequence}"));
    }
}

/// Starts the work in a running JVM, and returns false if the agent cannot work there. An agent does not stay if no
/// command could make it leave.
pub(crate) fn attached(agent: &'static Agent, jvm: Jvm<'_>) -> bool {
    if !begin(agent, jvm) {
        return false;
    }
    let started = if agent.settings.control {
        control_thread::open(agent).and_then(|channel| {
            instrument(agent, jvm);
            control_thread::start(agent, jvm, channel)
        })
    } else {
        instrument(agent, jvm);
        Ok(())
    };
    if let Err(cause) = &started {
        let consequence = "no command could make the agent leave, so it does not stay";
        messages::error(Code::Control, format_args!("{cause}; {consequence}"));
        shutdown::undo(agent, jvm);
    }
    started.is_ok()
}

/// Defines the probe classes and enables the class-file load hook, which both require the live phase. Returns false if
/// the agent cannot work here.
fn begin(agent: &Agent, jvm: Jvm<'_>) -> bool {
    let Err((code, text)) = begin_hook(agent, jvm) else {
        return true;
    };
    agent.run.set_running(false);
    if code == Code::Twice {
        messages::warning(code, text);
        agent.results.snapshot.discard();
        return false;
    }
    messages::error(
        code,
        format_args!("{text}; the JVM goes on without Classhook"),
    );
    false
}

/// Instruments classes that were loaded earlier, and starts the agent's threads.
fn instrument(agent: &'static Agent, jvm: Jvm<'_>) {
    structural_edits::prepare(agent, jvm);
    // Otherwise the worker thread does it, and can report its progress.
    if !agent.instruments_later() {
        retransform::retransform_loaded(agent, jvm);
    }
    if let Err(text) = agent_thread::start(agent, jvm) {
        agent.results.failures.agent_failed();
        messages::error(
            Code::Thread,
            format_args!("{text}; the snapshot is written only at the end"),
        );
    }
    if let Err(text) = upkeep_thread::start(agent, jvm) {
        agent.results.failures.agent_failed();
        messages::error(
            Code::Thread,
            format_args!("{text}; classes without room in an array stay unchanged"),
        );
    }
    jacoco_thread::start(agent, jvm);
    subscribers::begin_prepared(agent, jvm);
    subscribers::begin_own_waits(agent, jvm);
    subscribers::update_plugin_subscriptions(agent, jvm);
    let path = agent.results.snapshot.path();
    messages::info(format_args!("recording to {}", path.display()));
}

fn begin_hook(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    resolve(agent, jvm)?;
    recorded::begin(agent, jvm).map_err(|cause| why_not_first(agent, jvm.local, cause))?;
    // From here on classes pass through the hook.
    agent.run.set_running(true);
    let hook = Event::CLASS_FILE_LOAD_HOOK;
    jvm.jvmti.set_event(jvm.live, hook, true).map_err(|error| {
        (
            Code::Refused,
            format!("the JVM refuses the class-file load hook: {error}"),
        )
    })
}

/// Fetches references that the hook compares with.
fn resolve(agent: &Agent, jvm: Jvm<'_>) -> Result<(), (Code, String)> {
    agent.classes.loaders.resolve(jvm).map_err(|cause| {
        (
            Code::Refused,
            format!("the JVM's class loaders cannot be read: {cause}"),
        )
    })?;
    // Once the hook is on, a JVM no longer takes these classes from its archive, and parsing them costs milliseconds in
    // every program that has a lambda.
    HOLDERS
        .into_iter()
        .for_each(|holder| drop(jvm.local.find_class(holder)));
    agent.classes.code_sources.resolve(jvm.local);
    runtime::resolve(jvm.local);
    Ok(())
}

/// Checks whether the first probe class exists already: then another copy of the agent was loaded, from another path. It
/// may work, or have left: its classes stay in either case.
fn why_not_first(agent: &Agent, local: Local<'_>, cause: (Code, String)) -> (Code, String) {
    let there = agent.results.table.arrays() == 0 && local.find_class(FIRST_PROBE_CLASS).is_some();
    if !there {
        return cause;
    }
    let text = match native_threads::is_any_named(agent_thread::NAME) {
        true => {
            "another copy of the agent is loaded in this JVM already; it goes on, and this copy does nothing"
        }
        false => {
            "another copy of the agent was loaded in this JVM before, and its classes stay; this copy does nothing"
        }
    };
    (Code::Twice, text.to_owned())
}
