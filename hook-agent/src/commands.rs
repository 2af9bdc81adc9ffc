//! The requests of commands: one function for each [`Request`]. Quick requests are answered on the control thread, the
//! others on the worker thread.

mod change;
mod classes;
mod context;
mod dump;
mod field;
mod jvm_events;
mod off;
mod refusals;
mod release;
mod session;
mod status;
mod test;

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::messages::Code;
use crate::patch;
use context::Context;
use control::{Refusal, Reply, Request};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Local references that one request may hold outside of its own frames.
pub(crate) const CAPACITY: i32 = 64;

/// Carries out a request of a user. A panic becomes a refusal. The answer with which the agent leaves is the last.
pub(crate) fn answer(agent: &Agent, jvm: Jvm<'_>, request: Request, uid: u32) -> Reply {
    let context = Context { agent, jvm };
    let outcome = catch_unwind(AssertUnwindSafe(|| dispatch(context, request, uid)))
        .unwrap_or_else(|_| Err(refusals::panicked()));
    Reply {
        last: agent.run.has_left(),
        outcome,
    }
}

/// Checks whether a request changes no class and waits for nothing.
pub(crate) fn is_answered_at_once(request: &Request) -> bool {
    match request {
        // Details of classes run code of the JDK or of plugins.
        Request::Classes { details, .. } => details.is_empty(),
        request => matches!(
            request,
            Request::Status | Request::Patches | Request::Cancel
        ),
    }
}

/// The answer of an agent that is leaving.
pub(crate) fn leaving() -> Reply {
    Reply::new(Err(refusals::leaving()))
}

/// The answer if the JVM has no memory for a frame of local references.
pub(crate) fn no_memory() -> Reply {
    Reply::new(Err(refusals::out_of_memory()))
}

fn dispatch(context: Context<'_>, request: Request, uid: u32) -> Result<Value, Refusal> {
    let Context { agent, jvm } = context;
    let patching = |log| patch::change::Change {
        agent,
        jvm,
        uid,
        log,
    };
    match request {
        Request::Status => value(status::status(context)),
        Request::Dump => value(dump::dump(context)?),
        Request::DumpAndReset => value(dump::dump_and_reset(context)?),
        Request::Reset { plugin } => value(dump::reset(context, plugin.as_deref())?),
        Request::Test { name, ends } => value(test::test(context, name, ends)?),
        Request::Enable {
            plugin,
            options,
            cache,
            metaspace,
            session,
        } => {
            agent.change.metaspace.allow(metaspace);
            let options = options.as_deref();
            value(match session {
                None => change::enable(context, &plugin, options, cache)?,
                Some(asked) => session::begin(context, &plugin, options, cache, asked)?,
            })
        }
        Request::Disable { plugin } => value(change::disable(context, &plugin)?),
        Request::Reload { options, metaspace } => {
            agent.change.metaspace.allow(metaspace);
            value(change::reload(context, &options)?)
        }
        Request::Classes {
            filter,
            changed,
            skip,
            limit,
            details,
        } => {
            let page = classes::Page {
                changed,
                skip,
                limit,
            };
            value(classes::classes(context, filter.as_deref(), page, details)?)
        }
        Request::Field { class, name } => value(field::field(context, &class, &name)?),
        Request::Patch(request) => {
            let change = patching(request.log.as_deref());
            value(patch::change::patch(change, &request)?)
        }
        Request::Rollback { which } => value(patch::change::rollback(patching(None), which)?),
        Request::ClassFiles { classes, loader } => value(patch::class_files::of(
            patching(None),
            &classes,
            loader.as_deref(),
        )?),
        Request::Patches => value(patch::list::list(agent, jvm)?),
        Request::Off => value(off::off(context)),
        Request::Release { plugin } => value(release::release(context, &plugin)?),
        Request::Cancel => {
            agent.change.work.cancel(false);
            Ok(Value::Null)
        }
        Request::RecordJvmEvents {
            subscription,
            holder,
        } => value(jvm_events::record(context, &subscription, holder)?),
        Request::EndJvmEvents => value(jvm_events::end(context)?),
        Request::HeapPaths { class, max_ms } => {
            value(jvm_events::heap_paths(context, &class, max_ms)?)
        }
        Request::Lease { .. } => Ok(Value::Null), // handled by the server
    }
}

/// Serializes an answer.
fn value(answer: impl serde::Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(answer)
        .map_err(|error| Refusal::new(Code::Panic.as_str(), error.to_string()))
}
