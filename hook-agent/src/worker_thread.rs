//! The worker thread: it carries out slow requests, one after another.

use crate::agent::Agent;
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, thread};
use crate::{commands, retransform, upkeep_thread};
use control::{Answers, IncomingRequest};
use std::sync::mpsc::{self, Receiver, Sender};

/// Starts the worker thread, a daemon that the application does not see. It ends when the sender is dropped.
///
/// # Errors
///
/// The reason why it cannot be started.
pub(crate) fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    answers: Answers,
) -> Result<Sender<IncomingRequest>, String> {
    let thread = live::new_thread(jvm, "Classhook work")
        .map_err(|cause| format!("the worker thread cannot be created: {cause}"))?;
    let (sender, orders) = mpsc::channel();
    let running = agent.threads.control.begin();
    thread::start(jvm, &thread, move |jvm| {
        let _running = running;
        run(agent, jvm, &orders, &answers);
    })
    .map_err(|error| format!("the worker thread cannot be started: {error}"))?;
    Ok(sender)
}

/// The body of the worker thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>, orders: &Receiver<IncomingRequest>, answers: &Answers) {
    if agent.instruments_later() {
        let _under_way = agent.change.work.begin(true);
        upkeep_thread::await_spans(agent);
        let _alone = agent.change.work.alone();
        retransform::retransform_loaded(agent, jvm);
    }
    for IncomingRequest {
        request,
        user,
        ticket,
    } in orders
    {
        let _under_way = agent.change.work.begin(request.can_be_cancelled());
        let alone = agent.change.work.alone();
        let reply = jvm.with_frame(commands::CAPACITY, |jvm| {
            commands::answer(agent, jvm, request, user)
        });
        let reply = reply.unwrap_or_else(commands::no_memory);
        drop(alone);
        let last = reply.last;
        answers.send(ticket, reply);
        if last {
            return;
        }
    }
}
