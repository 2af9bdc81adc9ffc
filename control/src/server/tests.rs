use super::*;
use crate::message::{Dump, Reset, Status};
use crate::{Client, Peer};
use std::io::BufRead;
use std::thread::JoinHandle;

/// A server in a thread of its own that answers with the pid, and ends when it is asked to.
struct Running {
    tmp: tempfile::TempDir,
    socket: PathBuf,
    stopper: Stopper,
    thread: JoinHandle<usize>,
}

impl Running {
    fn start() -> Self {
        let tmp = tempfile::tempdir().unwrap();
        let (server, stopper) = Server::open(tmp.path()).unwrap();
        let socket = server.path();
        let thread = std::thread::spawn(move || {
            let mut answered = 0;
            server.run(|request, user| {
                assert_eq!(user, rustix::process::geteuid().as_raw());
                answered += 1;
                answer(&request)
            });
            answered
        });
        Self {
            tmp,
            socket,
            stopper,
            thread,
        }
    }

    fn client(&self) -> Client {
        Client::connect(&self.socket, us()).unwrap()
    }

    fn raw(&self) -> UnixStream {
        UnixStream::connect(&self.socket).unwrap()
    }

    /// Stops it; how many requests it answered.
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
fn clients_are_answered_one_after_another_and_at_the_same_time() {
    let running = Running::start();
    let (mut one, mut two) = (running.client(), running.client());
    for _ in 0..3 {
        assert_eq!(pid(&mut one), std::process::id());
        assert_eq!(pid(&mut two), std::process::id());
    }
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| (0..50).for_each(|_| assert_ne!(pid(&mut running.client()), 0)));
        }
    });
    assert_eq!(running.end(), 6 + 8 * 50);
}

#[test]
fn refusal_arrives_with_its_code_and_notes() {
    let running = Running::start();
    let error = running
        .client()
        .ask_for::<Reset>(&Request::Reset { plugin: None })
        .unwrap_err();
    let refusal = error.refusal();
    assert_eq!(refusal.code, "H0708");
    assert_eq!(refusal.notes, [("help".to_owned(), "none".to_owned())]);
    running.end();
}

#[test]
fn silent_rude_and_dying_clients_do_not_keep_others_from_their_answers() {
    let running = Running::start();
    let silent: Vec<_> = (0..3).map(|_| running.raw()).collect();
    let mut half = running.raw();
    half.write_all(b"{\"protocol\":1,").unwrap();
    let mut garbage = running.raw();
    garbage.write_all(b"\xFF\0GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut line = String::new();
    std::io::BufReader::new(&garbage)
        .read_line(&mut line)
        .unwrap();
    assert!(line.contains("H0705"), "{line}");
    let mut hurried = running.raw();
    hurried
        .write_all(b"{\"protocol\":1,\"request\":\"dump\"}\n")
        .unwrap();
    drop(hurried); // does not wait for four megabytes
    assert_eq!(pid(&mut running.client()), std::process::id());
    half.write_all(b"\"request\":\"status\"}\n").unwrap();
    line.clear();
    std::io::BufReader::new(&half).read_line(&mut line).unwrap();
    assert!(line.contains("\"ok\""), "{line}");
    drop(silent);
    running.end();
}

#[test]
fn client_that_does_not_read_its_answer_keeps_nobody_waiting() {
    let running = Running::start();
    let mut deaf = running.raw();
    for _ in 0..3 {
        deaf.write_all(b"{\"protocol\":1,\"request\":\"dump\"}\n")
            .unwrap();
    }
    assert_eq!(pid(&mut running.client()), std::process::id());
    let long: Dump = running.client().ask_for(&Request::Dump).unwrap();
    assert_eq!(long.snapshot.len(), 4 << 20);
    running.end();
}

#[test]
fn requests_sent_at_once_are_all_answered_though_nothing_follows() {
    let running = Running::start();
    let mut hasty = running.raw();
    for _ in 0..3 {
        hasty
            .write_all(b"{\"protocol\":1,\"request\":\"status\"}\n")
            .unwrap();
    }
    hasty.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(std::io::BufReader::new(hasty).lines().count(), 3);
    running.end();
}

#[test]
fn endless_line_is_cut_off() {
    let running = Running::start();
    let mut endless = running.raw();
    let chunk = vec![b'x'; 1 << 20];
    let ended = (0..100).any(|_| endless.write_all(&chunk).is_err());
    assert!(ended, "the server went on reading");
    assert_eq!(pid(&mut running.client()), std::process::id());
    running.end();
}

#[test]
fn more_clients_than_there_is_room_for_push_out_the_silent() {
    let running = Running::start();
    let silent: Vec<_> = (0..3 * CONNECTIONS).map(|_| running.raw()).collect();
    assert_eq!(pid(&mut running.client()), std::process::id());
    drop(silent);
    running.end();
}

#[test]
fn last_answer_arrives_whole_and_the_socket_is_gone() {
    let running = Running::start();
    running.client().ask(&Request::Off).unwrap();
    running.stopper.stop();
    assert_eq!(running.thread.join().unwrap(), 1);
    assert!(!running.socket.exists());
    let error = Client::connect(&running.socket, us()).unwrap_err();
    assert!(matches!(error, ControlError::NoAgent(_)), "{error}");
}

#[test]
fn somebody_else_at_the_socket_is_not_spoken_to() {
    let running = Running::start();
    let other = Peer {
        pid: us().pid + 1,
        ..us()
    };
    let error = Client::connect(&running.socket, other).unwrap_err();
    assert!(matches!(error, ControlError::NotTrusted(_)), "{error}");
    running.end();
}

#[test]
fn server_that_speaks_another_version_is_told_of() {
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
