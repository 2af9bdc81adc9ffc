use super::*;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Mutex;
use std::time::Duration;

const DUMP: Command = Command {
    dump: true,
    reset: false,
};
const DUMP_AND_RESET: Command = Command {
    dump: true,
    reset: true,
};

fn anywhere() -> SocketAddr {
    (Ipv4Addr::LOCALHOST, 0).into()
}

/// Runs `body` with the address of a server that answers with `data`, and returns the commands that the server
/// received. The connections that `body` returns stay open until the server has been stopped.
fn served<T>(data: &[u8], body: impl FnOnce(SocketAddr) -> T) -> Vec<Command> {
    let (server, stopper) = Server::open(anywhere()).expect("a free port");
    let address = server.address();
    let asked = Mutex::new(Vec::new());
    let _connections = std::thread::scope(|scope| {
        scope.spawn(|| {
            server.run(|command| {
                asked.lock().expect("no panic").push(command);
                Some(data.to_vec())
            });
        });
        let connections = body(address);
        stopper.stop();
        connections
    });
    asked.into_inner().expect("no panic")
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).expect("a server");
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .expect("a socket");
    stream
}

fn read_all(mut stream: &TcpStream) -> Vec<u8> {
    let mut all = Vec::new();
    // The server may reset the connection of a client that it drops.
    let _ = stream.read_to_end(&mut all);
    all
}

#[test]
fn clients_are_answered_in_sequence_and_in_parallel() {
    let asked = served(b"data", |address| {
        let idle = connect(address);
        for command in [DUMP, DUMP_AND_RESET] {
            let answer = ask(address, command).expect("an answer");
            assert_eq!(answer, [&HEADER[..], b"data"].concat());
        }
        let mut stream = connect(address);
        let twice = [&HEADER[..], &DUMP.to_bytes(), &DUMP.to_bytes()].concat();
        stream.write_all(&twice).expect("a server");
        let mut answers = [0; 5 + 5 + 5];
        stream.read_exact(&mut answers).expect("an answer");
        assert_eq!(answers[5..], *b"data\x20data\x20");
        (idle, stream)
    });
    // The last one is the answer at the end for the client that is still connected.
    assert_eq!(asked, [DUMP, DUMP_AND_RESET, DUMP, DUMP, DUMP]);
}

#[test]
fn clients_with_another_protocol_are_closed_and_others_are_served() {
    let long = vec![0x40; 4 << 20];
    let garbage: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0x01, 0xC0, 0xC0, 0x10, 0x06],
        &[0x01, 0xC0, 0xC0, 0x10, 0x07, 0x11],
        &[0x01, 0xC0, 0xC0, 0x10, 0x07, 0x10, 0, 0],
        &long,
    ];
    let asked = served(b"", |address| {
        for garbage in garbage {
            let mut stream = connect(address);
            let _ = stream.write_all(garbage); // the server may close the connection before the end
            let heard = read_all(&stream);
            assert!(HEADER.starts_with(&heard), "{heard:?}");
            ask(address, DUMP).expect("an answer");
        }
    });
    assert_eq!(asked, [DUMP; 5]);
}

#[test]
fn clients_that_send_or_read_nothing_do_not_block_others() {
    let data = vec![7; 8 << 20];
    let asked = served(&data, |address| {
        let silent: Vec<_> = (0..40).map(|_| connect(address)).collect();
        let mut deaf = connect(address);
        let request = [&HEADER[..], &DUMP.to_bytes()].concat();
        deaf.write_all(&request).expect("a server");
        for _ in 0..3 {
            let answer = ask(address, DUMP).expect("an answer");
            assert_eq!(answer.len(), HEADER.len() + data.len());
        }
        drop((silent, deaf));
    });
    assert_eq!(asked.len(), 4);
}

#[test]
fn connected_client_receives_the_coverage_when_the_server_stops() {
    let mut heard = None;
    let asked = served(b"data", |address| {
        let mut stream = connect(address);
        stream.write_all(&HEADER).expect("a server");
        stream.read_exact(&mut [0; 5]).expect("the header");
        // The server answers this command after it has read the header of the first client.
        ask(address, DUMP).expect("an answer");
        heard = Some(stream);
    });
    assert_eq!(read_all(&heard.expect("a client")), b"data\x20");
    assert_eq!(asked, [DUMP, DUMP]);
}

#[test]
fn port_that_is_in_use_is_an_error() {
    let taken = TcpListener::bind(anywhere()).expect("a free port");
    let address = taken.local_addr().expect("bound");
    let error = Server::open(address).expect_err("it is taken");
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}

/// Runs a server that answers with these bytes, and returns the client's error as text.
fn asked_of(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind(anywhere()).expect("a free port");
    let address = listener.local_addr().expect("bound");
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        stream.read_exact(&mut [0; 8]).expect("a command");
        stream.write_all(answer).expect("a client");
    });
    let error = ask(address, DUMP).expect_err("it is no answer");
    other.join().expect("no panic");
    error.to_string()
}

#[test]
fn malformed_answers_are_errors() {
    assert!(asked_of(b"HTTP/1.1 400 Bad Request\r\n").contains("does not speak"));
    assert!(asked_of(b"").contains("after 0 bytes"));
    assert!(asked_of(&HEADER).contains("is cut off"));
    assert!(asked_of(b"\x01\xC0\xC0\x10\x07\x10\0").contains("is cut off"));
}
