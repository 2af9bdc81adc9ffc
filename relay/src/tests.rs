//! Senders and receivers in one process, and hostile peers.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::address::Address;
use crate::channel::{Channel, encryption};
use crate::collect::{Collector, Listener};
use crate::deadline::{Deadline, LAST};
use crate::frame::{Frame, Hello};
use crate::send::{self, Report};
use crate::source::FileSelection;
use crate::store::Store;
use crate::token::{PROOF, Token};

/// A receiver in this process.
struct Receiver {
    address: Address,
    folder: PathBuf,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<bool>>,
}

impl Receiver {
    fn start(folder: &Path, address: &str, token: &Path) -> Self {
        let listener = Listener::new(&Address::parse(address).unwrap()).unwrap();
        let address = Address::parse(&listener.name).unwrap();
        let store = Arc::new(Store::new(folder, 1 << 20).unwrap());
        let token = Token::read_or_make(token).unwrap();
        let collector = Arc::new(Collector::new(Some(token), store).unwrap());
        let ends = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&ends);
        let thread = std::thread::spawn(move || {
            collector.serve(&listener, &over);
            collector.finish()
        });
        Self {
            address,
            folder: folder.to_owned(),
            ends,
            thread: Some(thread),
        }
    }

    /// Stops the receiver. Returns whether all files are complete.
    fn end(&mut self) -> bool {
        self.ends.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap()
    }

    fn has(&self, name: &str, content: &[u8]) -> bool {
        fs::read(self.folder.join(name)).is_ok_and(|found| found == content)
    }
}

/// A sender in this process.
struct Sender {
    deadline: Arc<Deadline>,
    thread: JoinHandle<Report>,
}

impl Sender {
    fn start(address: &Address, token: &Path, folder: &Path, jvm: &str) -> Self {
        let deadline = Arc::new(Deadline::default());
        let (address, folder) = (address.clone(), folder.to_owned());
        let (over, which) = (Arc::clone(&deadline), FileSelection::Jvm(jvm.to_owned()));
        let token = Token::read(token).unwrap();
        let thread =
            std::thread::spawn(move || send::run(&address, Some(&token), &folder, &which, &over));
        Self { deadline, thread }
    }

    fn finish(self) -> Report {
        self.deadline.at(Instant::now());
        self.thread.join().unwrap()
    }
}

/// A folder, and a token file in it.
fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let token = folder.path().join("token");
    Token::read_or_make(&token).unwrap();
    (folder, token)
}

/// Waits until a condition holds.
fn await_that(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(300), "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn file_that_grows_and_one_that_is_replaced_arrive_as_they_are() {
    for address in ["tcp://127.0.0.1:0", "unix:"] {
        let (folder, token) = place();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir(&from).unwrap();
        let address = match address {
            "unix:" => format!("unix:{}", folder.path().join("socket").display()),
            tcp => tcp.to_owned(),
        };
        let mut receiver = Receiver::start(&to, &address, &token);
        let sender = Sender::start(&receiver.address, &token, &from, "a");
        let log = from.join("a.events");
        let mut writer = fs::File::create(&log).unwrap();
        writer.write_all(b"one").unwrap();
        await_that("the first bytes", || receiver.has("a.events", b"one"));
        let long = vec![7; 600_000];
        writer.write_all(&long).unwrap();
        let replace = |content: &[u8]| {
            fs::write(from.join("new"), content).unwrap();
            fs::rename(from.join("new"), from.join("a.jvm-events")).unwrap();
        };
        replace(b"{}");
        await_that("the document", || receiver.has("a.jvm-events", b"{}"));
        replace(b"[]");
        fs::write(from.join("b.events"), "of another").unwrap();
        let report = sender.finish();
        assert!(
            report.files.iter().all(|sent| sent.whole && sent.left == 0),
            "{report:?}"
        );
        assert_eq!((report.files.len(), report.connections), (2, 1));
        assert!(receiver.has("a.events", &[b"one", long.as_slice()].concat()));
        assert!(receiver.has("a.jvm-events", b"[]"));
        assert!(receiver.end());
        assert_eq!(fs::read_dir(&to).unwrap().count(), 2);
    }
}

/// An agent shortens a file that exceeds its limit, and truncates one that a full disk has no room for.
#[test]
fn file_that_is_written_anew_is_sent_anew() {
    let (folder, token) = place();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    let mut receiver = Receiver::start(&to, "tcp://127.0.0.1:0", &token);
    let log = from.join("a.events");
    fs::write(&log, "first second third").unwrap();
    let sender = Sender::start(&receiver.address, &token, &from, "a");
    await_that("the first", || {
        receiver.has("a.events", b"first second third")
    });
    fs::write(from.join("shorter"), "second third fourth").unwrap();
    fs::rename(from.join("shorter"), &log).unwrap();
    await_that("the shorter", || {
        receiver.has("a.events", b"second third fourth")
    });
    let writer = fs::OpenOptions::new().write(true).open(&log).unwrap();
    writer.set_len(6).unwrap();
    await_that("the cut", || receiver.has("a.events", b"second"));
    assert!(sender.finish().files[0].whole);
    assert!(receiver.end());
}

#[test]
fn receiver_gets_the_missing_bytes_after_a_broken_connection() {
    let (folder, token) = place();
    let (from, to) = (folder.path().join("from"), folder.path().join("to"));
    fs::create_dir(&from).unwrap();
    let mut first = Receiver::start(&to, "tcp://127.0.0.1:0", &token);
    let Address::Tcp(authority) = first.address.clone() else {
        unreachable!("it is tcp")
    };
    let log = from.join("a.events");
    fs::write(&log, "first ").unwrap();
    // All bytes pass through here until the passage is cut, which leaves the receiver running.
    let cut = Arc::new(Cut::default());
    let through = passage(&authority, &cut);
    let sender = Sender::start(&through, &token, &from, "a");
    await_that("the first", || first.has("a.events", b"first "));
    cut.is_cut.store(true, Ordering::Relaxed);
    fs::write(&log, "first second").unwrap();
    await_that("a try while the passage is cut", || {
        cut.refused.load(Ordering::Relaxed)
    });
    cut.is_cut.store(false, Ordering::Relaxed);
    await_that("the rest", || first.has("a.events", b"first second"));
    let report = sender.finish();
    assert!(
        report.connections > 1 && report.files[0].whole,
        "{report:?}"
    );
    assert!(!first.end(), "the connection was cut once");
}

/// Switch that cuts a passage.
#[derive(Default)]
struct Cut {
    is_cut: AtomicBool,
    /// Set when the cut passage has closed a new connection.
    refused: AtomicBool,
}

/// Forwards bytes in both directions. While it is cut, connections are closed at once.
fn passage(to: &str, cut: &Arc<Cut>) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let (to, cut) = (to.to_owned(), Arc::clone(cut));
    std::thread::spawn(move || {
        for one in listener.incoming().flatten() {
            if cut.is_cut.load(Ordering::Relaxed) {
                cut.refused.store(true, Ordering::Relaxed);
                continue;
            }
            let other = TcpStream::connect(&to).unwrap();
            for (mut from, mut into) in [
                (one.try_clone().unwrap(), other.try_clone().unwrap()),
                (other, one),
            ] {
                let cut = Arc::clone(&cut);
                std::thread::spawn(move || {
                    from.set_read_timeout(Some(Duration::from_millis(20)))
                        .unwrap();
                    let mut buffer = [0; 4096];
                    while !cut.is_cut.load(Ordering::Relaxed) {
                        match from.read(&mut buffer) {
                            Ok(0) => break,
                            Ok(read) if into.write_all(&buffer[..read]).is_err() => break,
                            Ok(_) => {}
                            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                            Err(_) => break,
                        }
                    }
                    let _ = into.shutdown(std::net::Shutdown::Both);
                    let _ = from.shutdown(std::net::Shutdown::Both);
                });
            }
        }
    });
    Address::parse(&address).unwrap()
}

#[test]
fn two_senders_need_different_file_names() {
    let (folder, token) = place();
    let mut receiver = Receiver::start(&folder.path().join("to"), "tcp://127.0.0.1:0", &token);
    let senders = ["a", "b"].map(|name| {
        let from = folder.path().join(name);
        fs::create_dir(&from).unwrap();
        fs::write(from.join(format!("{name}.events")), name).unwrap();
        Sender::start(&receiver.address, &token, &from, name)
    });
    await_that("both", || {
        receiver.has("a.events", b"a") && receiver.has("b.events", b"b")
    });
    // A third sender brings a file with a name that another sender uses.
    let from = folder.path().join("third");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a.events"), "other").unwrap();
    let mut channel = proved(&receiver.address, &token);
    Frame::File(0, "a.events".to_owned())
        .write(&mut channel)
        .unwrap();
    let Frame::Refused(cause) = Frame::read(&mut channel).unwrap() else {
        panic!("it is taken")
    };
    assert!(cause.contains("somebody else"), "{cause}");
    for sender in senders {
        assert!(sender.finish().files[0].whole);
    }
    assert!(receiver.has("a.events", b"a"));
    assert!(receiver.end());
}

/// A connection that has proved the token.
fn proved(address: &Address, token: &Path) -> Channel {
    let token = Token::read(token).unwrap();
    let mut channel = Channel::connect(address, &Arc::default()).unwrap();
    let binding = channel.binding().unwrap().unwrap();
    let proof = token.proof(crate::token::Side::Sender, &binding);
    Hello { proof }.write(&mut channel).unwrap();
    Hello::read(&mut channel).unwrap();
    channel
}

#[test]
fn peer_with_another_token_sends_and_receives_nothing() {
    let (folder, token) = place();
    let (_other, wrong) = place();
    let from = folder.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a.events"), "secret").unwrap();
    let mut receiver = Receiver::start(&folder.path().join("to"), "tcp://127.0.0.1:0", &token);
    let sender = Sender::start(&receiver.address, &wrong, &from, "a");
    let report = sender.finish();
    assert_eq!(report.connections, 0);
    assert!(report.cause.unwrap().contains("another token"));
    // A receiver that echoes the sender's proof does not have the token either.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = Address::parse(&format!("tcp://{}", listener.local_addr().unwrap())).unwrap();
    let mirror = std::thread::spawn(move || {
        let encryption = encryption().unwrap();
        let (stream, _) = listener.accept().unwrap();
        let socket = crate::channel::Socket::Tcp(stream);
        let mut channel = Channel::accept(socket, &encryption).unwrap();
        Hello::read(&mut channel)
            .unwrap()
            .write(&mut channel)
            .unwrap();
        let mut rest = Vec::new();
        let _ = channel.read_to_end(&mut rest);
        rest
    });
    let report = Sender::start(&address, &token, &from, "a").finish();
    assert!(report.cause.is_some());
    assert_eq!(mirror.join().unwrap(), b"", "nothing of the file was sent");
    assert!(receiver.end());
}

/// Replayed proofs, and peers that do not speak the protocol.
#[test]
fn receiver_refuses_replays_and_garbage_and_goes_on() {
    let (folder, token) = place();
    let mut receiver = Receiver::start(&folder.path().join("to"), "tcp://127.0.0.1:0", &token);
    let Address::Tcp(authority) = receiver.address.clone() else {
        unreachable!("it is tcp")
    };
    for garbage in [
        &b""[..],
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xFF; 4096],
        &[0x16, 3, 1, 0xFF, 0xFF],
    ] {
        let mut stream = TcpStream::connect(&authority).unwrap();
        let _ = stream.write_all(garbage);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(
            !answer.windows(4).any(|part| part == b"HKWR"),
            "{garbage:?}"
        );
    }
    // The proof of one connection is invalid on another.
    let secret = Token::read(&token).unwrap();
    let first = Channel::connect(&receiver.address, &Arc::default()).unwrap();
    let proof = secret.proof(
        crate::token::Side::Sender,
        &first.binding().unwrap().unwrap(),
    );
    let mut second = Channel::connect(&receiver.address, &Arc::default()).unwrap();
    Hello { proof }.write(&mut second).unwrap();
    assert_eq!(Hello::read(&mut second).unwrap().proof, [0; PROOF]);
    assert!(Frame::read(&mut second).is_err(), "it is closed");
    // A peer with the token that sends an invalid frame gets a refusal.
    for (frames, cause) in [
        (vec![Frame::Append(9, vec![1])], "file that has begun"),
        (vec![Frame::Kept(1)], "what a sender says"),
        (vec![Frame::File(0, "../x.events".to_owned())], "plain name"),
        (vec![Frame::File(0, "x.so".to_owned())], "plain name"),
        (
            vec![
                Frame::File(1, "x.events".to_owned()),
                Frame::Append(1, vec![1]),
            ],
            "has begun",
        ),
    ] {
        let mut channel = proved(&receiver.address, &token);
        for frame in &frames {
            frame.write(&mut channel).unwrap();
        }
        let mut heard = Frame::read(&mut channel);
        if matches!(heard, Ok(Frame::Have(..))) {
            heard = Frame::read(&mut channel);
        }
        let Ok(Frame::Refused(found)) = heard else {
            panic!("{frames:?}: {heard:?}")
        };
        assert!(found.contains(cause), "{found}");
    }
    // A correct sender still succeeds.
    let from = folder.path().join("from");
    fs::create_dir(&from).unwrap();
    fs::write(from.join("a.events"), "good").unwrap();
    let report = Sender::start(&receiver.address, &token, &from, "a").finish();
    assert!(report.files[0].whole, "{report:?}");
    receiver.end();
    assert!(receiver.has("a.events", b"good"));
}

#[test]
fn silent_receiver_delays_the_end_by_the_documented_time_at_most() {
    for greets in [true, false] {
        let (folder, token) = place();
        fs::write(folder.path().join("a-1.events"), "recorded").unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let sender = Sender::start(&Address::Unix(path), &token, folder.path(), "a-1");
        let (mut stream, _) = listener.accept().unwrap();
        if greets {
            Hello::read(&mut stream).unwrap();
            Hello { proof: [0; PROOF] }.write(&mut stream).unwrap();
            Frame::read(&mut stream).unwrap(); // no answer follows
        }
        sender
            .deadline
            .at(Instant::now().checked_sub(LAST).unwrap());
        let report = sender.finish();
        assert!(!report.files[0].whole, "{report:?}");
        assert!(report.cause.unwrap().contains("did not answer in time"));
    }
}

#[test]
fn path_without_a_possible_socket_is_reported_with_its_cause() {
    let (folder, _) = place();
    let listen = |name: &str| {
        let path = folder.path().join(name);
        Listener::new(&Address::Unix(path)).map(|listener| listener.name.clone())
    };
    let refused = |name: &str, cause: &str| {
        let told = listen(name).unwrap_err();
        assert!(told.contains(name) && told.contains(cause), "{told}");
    };
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    refused("file", "something else than a socket");
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    let socket = folder.path().join("socket");
    let _there = Listener::new(&Address::Unix(socket.clone())).unwrap();
    refused("socket", "another program receives there");
    assert!(socket.exists());
    refused(&"a".repeat(200), "107 bytes");
    refused("nowhere/socket", "No such file");
    std::os::unix::fs::symlink("nobody", folder.path().join("link")).unwrap();
    refused("link", "something else than a socket");
}

#[test]
fn file_that_would_be_too_long_is_refused_with_its_cause() {
    let (folder, token) = place();
    let mut receiver = Receiver::start(&folder.path().join("to"), "tcp://127.0.0.1:0", &token);
    let mut channel = proved(&receiver.address, &token);
    Frame::File(3, "a.events".to_owned())
        .write(&mut channel)
        .unwrap();
    assert_eq!(Frame::read(&mut channel).unwrap(), Frame::Have(0, 0));
    Frame::Restart(3).write(&mut channel).unwrap();
    let batch = vec![0; 1 << 18];
    let refused = (0..5).find_map(|_| {
        Frame::Append(3, batch.clone()).write(&mut channel).unwrap();
        match Frame::read(&mut channel).unwrap() {
            Frame::Refused(cause) => Some(cause),
            _ => None,
        }
    });
    assert!(refused.unwrap().contains("more than 1048576 bytes"));
    assert!(!receiver.end(), "its end is missing");
    assert_eq!(fs::read_dir(folder.path().join("to")).unwrap().count(), 0);
}
