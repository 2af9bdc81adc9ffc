//! The JaCoCo thread: it speaks JaCoCo's protocol over TCP, so that JaCoCo's tools can read the coverage of this JVM.

use crate::agent::Agent;
use crate::commands;
use crate::ffi::jvm::Jvm;
use crate::ffi::{live, thread};
use crate::messages::{self, Code};
use crate::recorded::{self, Executed};
use control::jacoco::{Command, Server};
use coverage::report::{ExecutionData, Session, exec};
use std::net::SocketAddr;
use std::sync::MutexGuard;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The plugin whose probes are those of JaCoCo.
const PLUGIN: &str = "coverage";
/// Interval of attempts to get the lock for changing classes.
const TURN: Duration = Duration::from_millis(5);

/// Starts the thread, a daemon that the application does not see, if the option `jacoco-tcp` is set. A failure is
/// reported, and the agent works without the thread.
pub(crate) fn start(agent: &'static Agent, jvm: Jvm<'_>) {
    let Some(address) = agent.settings.jacoco_tcp else {
        return;
    };
    if let Err(cause) = begin(agent, jvm, address) {
        let consequence = "the agent works, but JaCoCo's tools cannot connect";
        messages::warning(
            Code::Jacoco,
            format_args!("cannot listen at {address} (jacoco-tcp): {cause}; {consequence}"),
        );
    }
}

fn begin(agent: &'static Agent, jvm: Jvm<'_>, address: SocketAddr) -> Result<(), String> {
    let (server, stopper) = Server::open(address).map_err(|error| error.to_string())?;
    let address = server.address();
    let thread = live::new_thread(jvm, "Classhook tcp")?;
    agent.threads.jacoco.set(stopper);
    let running = agent.threads.jacoco.begin();
    thread::start(jvm, &thread, move |jvm| {
        let _running = running;
        run(agent, jvm, server);
    })
    .map_err(|error| error.to_string())?;
    let _ = agent.threads.jacoco_address.set(address); // the thread is started once
    messages::info(format_args!("JaCoCo's tools can connect to {address}"));
    if !address.ip().is_loopback() {
        messages::warning(
            Code::JacocoRemote,
            format_args!(
                "anyone who can connect to {address} can read and reset the coverage: there is no authentication"
            ),
        );
    }
    Ok(())
}

/// The body of the thread.
fn run(agent: &Agent, jvm: Jvm<'_>, server: Server) {
    let mut since = now_ms();
    server.run(|command| {
        let answer = jvm.with_frame(commands::CAPACITY, |jvm| {
            answer(agent, jvm, command, &mut since)
        });
        answer.flatten()
    });
}

/// The requested blocks; `None` if they cannot be read.
fn answer(agent: &Agent, jvm: Jvm<'_>, command: Command, since: &mut i64) -> Option<Vec<u8>> {
    if !command.dump && !command.reset {
        return Some(Vec::new());
    }
    let _alone = match command.reset {
        true => Some(await_turn(agent)?),
        false => None,
    };
    let executed = recorded::executed(agent, jvm, PLUGIN, command.reset);
    let executed = executed.map_err(|cause| messages::error(Code::ProbeClass, cause));
    let executed = executed.ok()?;
    let session = Session {
        id: agent.results.jvm_id.clone(),
        start_ms: *since,
        dump_ms: now_ms(),
        ..Session::default()
    };
    if command.reset {
        *since = session.dump_ms;
    }
    if !command.dump {
        return Some(Vec::new());
    }
    let classes: Vec<ExecutionData> = executed.into_iter().map(data).collect();
    exec::blocks(&[session], &classes).ok()
}

/// Takes the lock for changing classes, since a reset may change some. Returns `None` if the agent leaves meanwhile.
fn await_turn(agent: &Agent) -> Option<MutexGuard<'_, ()>> {
    loop {
        if agent.plugins.current().is_none() || !agent.run.is_running() {
            return None;
        }
        if let Some(alone) = agent.change.work.try_alone() {
            return Some(alone);
        }
        std::thread::sleep(TURN);
    }
}

fn data(executed: Executed) -> ExecutionData {
    ExecutionData {
        id: executed.fingerprint,
        name: executed.name,
        probes: executed.probes,
    }
}

fn now_ms() -> i64 {
    let elapsed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
