use super::*;
use crate::message::{Dump, Holder, Refusal, Reset, Status};
use crate::{Client, Peer};
use serde_json::Value;
use std::io::BufRead;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

/// A server on its own thread. It answers with the pid, and ends when a request or the stopper ends it.
struct TestServer {
    tmp: tempfile::TempDir,
    socket: PathBuf,
    stopper: Stopper,
    thread: JoinHandle<usize>,
    answers: Answers,
    leases: Leases,
    /// Requests that are answered later: the plugin of a release, and the ticket.
    releases: mpsc::Receiver<(Option<String>, Ticket)>,
}

impl TestServer {
    fn start() -> Self {
        Self::start_with(|_| {})
    }

    /// As [`TestServer::start`], of a server that `prepare` changes before.
    fn start_with(prepare: impl FnOnce(&mut Server)) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let (mut server, stopper) = Server::open(tmp.path()).unwrap();
        prepare(&mut server);
        let (socket, answers, leases) = (server.path(), server.answers(), server.leases());
        let (released, releases) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut answered = 0;
            let answer = |asked: IncomingRequest| {
                assert_eq!(asked.user, rustix::process::geteuid().as_raw());
                answered += 1;
                match asked.request {
                    // Answered by the test, when it chooses to.
                    Request::Patches => drop(released.send((None, asked.ticket))),
                    Request::Release { plugin } => {
                        drop(released.send((Some(plugin), asked.ticket)));
                    }
                    request => return Answer::Now(answer(&request)),
                }
                Answer::Later
            };
            server.run(answer, |restored| assert!(restored.is_ok()));
            answered
        });
        Self {
            tmp,
            socket,
            stopper,
            thread,
            answers,
            leases,
            releases,
        }
    }

    fn client(&self) -> Client {
        Client::connect(&self.socket, us()).unwrap()
    }

    fn raw(&self) -> UnixStream {
        UnixStream::connect(&self.socket).unwrap()
    }

    /// Stops the server and returns the number of requests that it answered.
    fn end(self) -> usize {
        self.stopper.stop();
        let answered = self.thread.join().unwrap();
        assert_eq!(std::fs::read_dir(self.tmp.path()).unwrap().count(), 0);
        answered
    }
}

fn us() -> Peer {
    Peer {
        pid: std::process::id() as i32,
        uid: rustix::process::geteuid().as_raw(),
    }
}

fn answer(request: &Request) -> Reply {
    let value = |value: &dyn Fn() -> serde_json::Result<Value>| Reply::new(Ok(value().unwrap()));
    match request {
        Request::Status => value(&|| {
            serde_json::to_value(Status {
                pid: std::process::id(),
                ..Status::default()
            })
        }),
        Request::Reset { .. } => Reply::new(Err(Refusal::new("H0708", "no").with("help", "none"))),
        Request::Dump => value(&|| {
            serde_json::to_value(Dump {
                snapshot: "x".repeat(4 << 20),
                ..Dump::default()
            })
        }),
        Request::Off => Reply {
            outcome: Ok(Value::Null),
            last: true,
        },
        _ => value(&|| Ok(Value::Null)),
    }
}

fn pid(client: &mut Client) -> u32 {
    client.ask_for::<Status>(&Request::Status).unwrap().pid
}

#[test]
fn clients_are_answered_in_sequence_and_in_parallel() {
    let server = TestServer::start();
    let (mut one, mut two) = (server.client(), server.client());
    for _ in 0..3 {
        assert_eq!(pid(&mut one), std::process::id());
        assert_eq!(pid(&mut two), std::process::id());
    }
    let socket = server.socket.as_path();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let connect = || Client::connect(socket, us()).unwrap();
            scope.spawn(move || (0..50).for_each(|_| assert_ne!(pid(&mut connect()), 0)));
        }
    });
    assert_eq!(server.end(), 6 + 8 * 50);
}

#[test]
fn slow_answer_does_not_delay_other_clients() {
    let server = TestServer::start();
    let mut slow = server.client();
    std::thread::scope(|scope| {
        let answer = scope.spawn(|| slow.ask(&Request::Patches).unwrap());
        let (_, ticket) = server.releases.recv().unwrap();
        assert_eq!(pid(&mut server.client()), std::process::id());
        server.answers.send(ticket, Reply::new(Ok(Value::from(7))));
        assert_eq!(answer.join().unwrap(), 7);
    });
    assert_eq!(pid(&mut slow), std::process::id());
    server.end();
}

#[test]
fn answer_to_a_closed_connection_is_dropped_and_the_last_answer_ends_the_server() {
    let server = TestServer::start();
    let mut hurried = server.raw();
    let request = b"{\"protocol\":1,\"request\":\"patches\"}\n";
    hurried.write_all(request).unwrap();
    let (_, ticket) = server.releases.recv().unwrap();
    drop(hurried);
    server.answers.send(ticket, Reply::new(Ok(Value::Null)));
    assert_eq!(pid(&mut server.client()), std::process::id());
    let outcome = Ok(Value::Null);
    server.answers.send(
        NO_CLIENT,
        Reply {
            outcome,
            last: true,
        },
    );
    server.thread.join().unwrap();
    assert!(!server.socket.exists());
}

#[test]
fn lease_ends_with_its_connection_or_the_time_of_a_stopped_client_unless_returned() {
    let server = TestServer::start_with(|server| server.look = |_| ProcessState::Stopped);
    let lease = |plugin: Option<&str>, ms| Request::Lease {
        plugin: plugin.map(str::to_owned),
        ms,
        holder: None,
    };
    let released = || server.releases.recv().unwrap().0.unwrap();
    let mut client = server.client();
    client.ask(&lease(Some("one"), None)).unwrap();
    drop(client);
    assert_eq!(released(), "one");
    let mut client = server.client();
    client.ask(&lease(Some("two"), Some(1))).unwrap();
    assert_eq!(released(), "two");
    client.ask(&lease(Some("three"), Some(60_000))).unwrap();
    client.ask(&lease(None, None)).unwrap();
    drop(client);
    assert_eq!(pid(&mut server.client()), std::process::id());
    assert!(server.releases.try_recv().is_err());
    server.end();
}

/// A command that gets no core for a while cannot return its lease in time.
#[test]
fn lease_of_a_client_that_waits_for_a_core_outlives_its_time() {
    static LOOKS: AtomicU64 = AtomicU64::new(0);
    let server = TestServer::start_with(|server| {
        server.look = |pid| {
            assert_eq!(u32::try_from(pid), Ok(std::process::id()));
            LOOKS.fetch_add(1, Ordering::SeqCst);
            ProcessState::Alive {
                is_busy: true,
                ticks: 7,
            }
        }
    });
    let mut client = server.client();
    let lease = Request::Lease {
        plugin: Some("one".to_owned()),
        ms: Some(1),
        holder: None,
    };
    client.ask(&lease).unwrap();
    while LOOKS.load(Ordering::SeqCst) < 2 {
        std::thread::yield_now();
    }
    assert!(server.releases.try_recv().is_err());
    drop(client);
    assert_eq!(server.releases.recv().unwrap().0.as_deref(), Some("one"));
    server.end();
}

/// The command that loaded the agent may have been killed, even if other commands use the agent meanwhile.
#[test]
fn awaited_lease_is_not_replaced_by_that_of_another_command() {
    let release = |plugin: &str| Request::Release {
        plugin: plugin.to_owned(),
    };
    for (plugin, due) in [("one", 300), ("two", 300)] {
        let due = Instant::now() + Duration::from_millis(due);
        let awaited = Some((release("one"), due));
        let server = TestServer::start_with(|server| server.awaited = awaited);
        let mut client = server.client();
        let lease = Request::Lease {
            plugin: Some(plugin.to_owned()),
            ms: None,
            holder: None,
        };
        client.ask(&lease).unwrap();
        let released = || {
            let (plugin, _) = server.releases.recv().unwrap();
            plugin.unwrap()
        };
        if plugin == "two" {
            assert_eq!(released(), "one", "nobody asked for its lease");
        }
        drop(client);
        assert_eq!(released(), plugin);
        server.end();
    }
}

/// A command that is blocked by another command can name it.
#[test]
fn holders_are_listed_while_they_hold_leases() {
    let server = TestServer::start();
    let holder = |pid, plugin: &str| Holder {
        plugin: plugin.to_owned(),
        pid,
        user: "alice".to_owned(),
        since_ms: 7,
        command: format!("classhook trace {pid}"),
    };
    let lease = |pid, plugin: Option<&str>| Request::Lease {
        plugin: plugin.map(str::to_owned),
        ms: None,
        holder: Some(holder(pid, "another name")),
    };
    let (mut one, mut other) = (server.client(), server.client());
    one.ask(&lease(1, Some("a"))).unwrap();
    other.ask(&lease(2, Some("b"))).unwrap();
    assert_eq!(server.leases.holders(), [holder(1, "a"), holder(2, "b")]);
    other.ask(&lease(2, None)).unwrap();
    assert_eq!(server.leases.holders(), [holder(1, "a")]);
    one.ask(&lease(1, Some("c"))).unwrap();
    assert_eq!(server.leases.holders(), [holder(1, "c")]);
    drop(one);
    server.releases.recv().unwrap();
    assert_eq!(server.leases.holders(), []);
    server.end();
}

#[test]
fn lease_holder_keeps_its_connection_when_others_connect() {
    let server = TestServer::start();
    let mut holder = server.client();
    let plugin = Some("one".to_owned());
    holder
        .ask(&Request::Lease {
            plugin,
            ms: None,
            holder: None,
        })
        .unwrap();
    let silent: Vec<_> = (0..3 * CONNECTIONS).map(|_| server.raw()).collect();
    assert_eq!(pid(&mut server.client()), std::process::id());
    assert_eq!(pid(&mut holder), std::process::id());
    drop(silent);
    server.end();
}

#[test]
fn refusal_arrives_with_its_code_and_notes() {
    let server = TestServer::start();
    let error = server
        .client()
        .ask_for::<Reset>(&Request::Reset { plugin: None })
        .unwrap_err();
    let refusal = error.refusal();
    assert_eq!(refusal.code, "H0708");
    assert_eq!(refusal.notes, [("help".to_owned(), "none".to_owned())]);
    server.end();
}

#[test]
fn silent_malformed_and_closed_connections_do_not_block_others() {
    let server = TestServer::start();
    let silent: Vec<_> = (0..3).map(|_| server.raw()).collect();
    let mut half = server.raw();
    half.write_all(b"{\"protocol\":1,").unwrap();
    let mut garbage = server.raw();
    garbage.write_all(b"\xFF\0GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut line = String::new();
    std::io::BufReader::new(&garbage)
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("H0705"), "{line}");
    let mut hurried = server.raw();
    hurried
        .write_all(b"{\"protocol\":1,\"request\":\"dump\"}\n")
        .unwrap();
    drop(hurried); // closed without reading the answer of 4 MiB
    assert_eq!(pid(&mut server.client()), std::process::id());
    half.write_all(b"\"request\":\"status\"}\n").unwrap();
    line.clear();
    std::io::BufReader::new(&half).read_line(&mut line).unwrap();
    assert!(line.contains("\"ok\""), "{line}");
    drop(silent);
    server.end();
}

#[test]
fn client_that_does_not_read_does_not_block_others() {
    let server = TestServer::start();
    let mut deaf = server.raw();
    for _ in 0..3 {
        deaf.write_all(b"{\"protocol\":1,\"request\":\"dump\"}\n")
            .unwrap();
    }
    assert_eq!(pid(&mut server.client()), std::process::id());
    let long: Dump = server.client().ask_for(&Request::Dump).unwrap();
    assert_eq!(long.snapshot.len(), 4 << 20);
    server.end();
}

#[test]
fn pipelined_requests_are_all_answered_after_a_half_close() {
    let server = TestServer::start();
    let mut hasty = server.raw();
    for _ in 0..3 {
        hasty
            .write_all(b"{\"protocol\":1,\"request\":\"status\"}\n")
            .unwrap();
    }
    hasty.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(std::io::BufReader::new(hasty).lines().count(), 3);
    server.end();
}

#[test]
fn endless_line_is_cut_off() {
    let server = TestServer::start();
    let mut endless = server.raw();
    let chunk = vec![b'x'; 1 << 20];
    let ended = (0..100).any(|_| endless.write_all(&chunk).is_err());
    assert!(ended, "the server went on reading");
    assert_eq!(pid(&mut server.client()), std::process::id());
    server.end();
}

#[test]
fn silent_connections_are_closed_when_the_limit_is_reached() {
    let server = TestServer::start();
    let silent: Vec<_> = (0..3 * CONNECTIONS).map(|_| server.raw()).collect();
    assert_eq!(pid(&mut server.client()), std::process::id());
    drop(silent);
    server.end();
}

#[test]
fn last_answer_arrives_whole_and_the_socket_is_removed() {
    let server = TestServer::start();
    server.client().ask(&Request::Off).unwrap();
    server.stopper.stop();
    assert_eq!(server.thread.join().unwrap(), 1);
    assert!(!server.socket.exists());
    let error = Client::connect(&server.socket, us()).unwrap_err();
    assert!(matches!(error, ControlError::NoAgent(_)), "{error}");
}

#[test]
fn socket_of_another_process_is_not_trusted() {
    let server = TestServer::start();
    let other = Peer {
        pid: us().pid + 1,
        ..us()
    };
    let error = Client::connect(&server.socket, other).unwrap_err();
    assert!(matches!(error, ControlError::NotTrusted(_)), "{error}");
    server.end();
}

#[test]
fn server_with_another_protocol_version_is_reported() {
    let tmp = tempfile::tempdir().unwrap();
    let socket = tmp.path().join("s");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut line = String::new();
        std::io::BufReader::new(&stream)
            .read_line(&mut line)
            .unwrap();
        stream.write_all(b"{\"protocol\":7,\"ok\":{}}\n").unwrap();
    });
    let mut client = Client::connect(&socket, us()).unwrap();
    let refusal = client.ask(&Request::Status).unwrap_err().refusal();
    assert_eq!(refusal.code, "H0703");
    server.join().unwrap();
}
