//! The control thread: it waits for commands of `classhook`, answers what it knows at once, and hands the rest to the
//! worker thread, so that it can always be asked how far that is.

use crate::agent::Agent;
use crate::commands;
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, process, thread};
use crate::messages::{self, Code};
use crate::worker_thread;
use control::{Answer, Asked, Reply, Request, Server, Stopper};
use std::path::Path;
use std::sync::mpsc::Sender;

/// The socket at which the agent will be asked, and what ends its server.
///
/// # Errors
///
/// Why there can be none.
pub(crate) fn open(agent: &Agent) -> Result<(Server, Stopper), String> {
    let tmp = Path::new(control::socket::TMP);
    let (mut server, stopper) = Server::open(tmp).map_err(|error| error.to_string())?;
    messages::info(format_args!("listening at {}", server.path().display()));
    if let Some(plugin) = &agent.settings.visit {
        let plugin = plugin.clone();
        server.await_lease(Request::Release { plugin });
    }
    Ok((server, stopper))
}

/// Starts the control thread and the worker thread, daemons that the application does not see.
///
/// # Errors
///
/// Why they cannot be started; the socket is gone then.
pub(crate) fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    (server, stopper): (Server, Stopper),
) -> Result<(), String> {
    if agent.instruments_later() {
        agent.work.announce();
    }
    let orders = worker_thread::start(agent, jvm, server.answers())?;
    let thread = live::new_thread(jvm, "Classhook ctl")
        .map_err(|cause| format!("the control thread cannot be made: {cause}"))?;
    agent.control.set(stopper);
    agent.control.set_leases(server.leases());
    let running = agent.control.begin();
    thread::start(jvm, &thread, move |jvm| {
        let _running = running;
        run(agent, jvm, server, orders);
    })
    .map_err(|error| format!("the control thread cannot be started: {error}"))
}

/// The body of the control thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>, server: Server, orders: Sender<Asked>) {
    server.run(
        |asked| answer(agent, jvm, asked, &orders),
        |restored| match restored {
            Ok(path) => messages::info(format_args!("listening anew at {}", path.display())),
            Err(cause) => messages::warning(
                Code::Control,
                format_args!("the control socket is gone and cannot be made anew: {cause}"),
            ),
        },
    );
    drop(orders); // which ends the worker thread
    if agent.has_left() && agent.control.await_threads(1) {
        agent.jvmti.dispose();
        // Last: by now the threads of the agent have freed what they had.
        process::give_back_free_memory();
    }
}

fn answer(agent: &Agent, jvm: Jvm<'_>, asked: Asked, orders: &Sender<Asked>) -> Answer {
    if !commands::is_answered_at_once(&asked.request) {
        return match orders.send(asked) {
            Ok(()) => Answer::Later,
            Err(_) => Answer::Now(commands::leaving()),
        };
    }
    let reply = jvm.with_frame(commands::CAPACITY, |jvm| {
        commands::answer(agent, jvm, asked.request, asked.user)
    });
    let reply = reply.unwrap_or_else(commands::no_memory);
    // The worker thread has the last word.
    Answer::Now(Reply::new(reply.outcome))
}
