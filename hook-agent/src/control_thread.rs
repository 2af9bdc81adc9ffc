//! The control thread: it receives the requests of `classhook`, answers quick ones, and hands the others to the worker
//! thread. So it can report the progress of the worker thread at any time.

use crate::agent::Agent;
use crate::commands;
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, process, thread};
use crate::messages::{self, Code};
use crate::worker_thread;
use control::{Answer, IncomingRequest, Reply, Request, Server, Stopper};
use std::path::Path;
use std::sync::mpsc::Sender;

/// Opens the control socket of this JVM; the stopper ends its server.
///
/// # Errors
///
/// The reason why the socket cannot be opened.
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
/// The reason why they cannot be started. The socket is removed then.
pub(crate) fn start(
    agent: &'static Agent,
    jvm: Jvm<'_>,
    (server, stopper): (Server, Stopper),
) -> Result<(), String> {
    if agent.instruments_later() {
        agent.change.work.announce();
    }
    let orders = worker_thread::start(agent, jvm, server.answers())?;
    let thread = live::new_thread(jvm, "Classhook ctl")
        .map_err(|cause| format!("the control thread cannot be created: {cause}"))?;
    agent.threads.control.set(stopper);
    agent.threads.control.set_leases(server.leases());
    let running = agent.threads.control.begin();
    thread::start(jvm, &thread, move |jvm| {
        let _running = running;
        run(agent, jvm, server, orders);
    })
    .map_err(|error| format!("the control thread cannot be started: {error}"))
}

/// The body of the control thread.
fn run(agent: &'static Agent, jvm: Jvm<'_>, server: Server, orders: Sender<IncomingRequest>) {
    server.run(
        |asked| answer(agent, jvm, asked, &orders),
        |restored| match restored {
            Ok(path) => messages::info(format_args!("listening again at {}", path.display())),
            Err(cause) => messages::warning(
                Code::Control,
                format_args!("the control socket was removed and cannot be created again: {cause}"),
            ),
        },
    );
    drop(orders); // ends the worker thread
    if agent.run.has_left() && agent.threads.control.await_threads(1) {
        agent.jvmti.dispose();
        // Last: by now the threads of the agent have freed their memory.
        process::give_back_free_memory();
    }
}

fn answer(
    agent: &Agent,
    jvm: Jvm<'_>,
    asked: IncomingRequest,
    orders: &Sender<IncomingRequest>,
) -> Answer {
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
    // Only the worker thread sends the last answer.
    Answer::Now(Reply::new(reply.outcome))
}
