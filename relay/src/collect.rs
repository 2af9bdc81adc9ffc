//! The receiver: one thread for each sender.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::fs::Mode;
use rustls::ServerConfig;

use crate::address::Address;
use crate::channel::{self, Channel, Socket};
use crate::frame::{Frame, Hello};
use crate::repeat_log::RepeatLog;
use crate::store::{Received, Store};
use crate::token::{PROOF, Side, Token};

/// Most senders at the same time.
const SENDERS: usize = 64;
/// Longest silence of a sender. A sender without new bytes sends [`Frame::Alive`] every 10 s.
const SILENCE: Duration = Duration::from_secs(15);
/// Most files of one sender.
const FILES: usize = 1024;
/// Poll interval for the stop signal.
const TURN: Duration = Duration::from_millis(50);
/// Most distinct lines about refused hosts that are printed; further ones are counted.
const NAMED: usize = 20;
/// Most distinct lines about incomplete files that are printed.
const NAMED_FILES: usize = 1024;

/// Longest path that fits into a socket address, without the zero at its end (unix(7)).
const LONGEST_PATH: usize = 107;

/// Receives until SIGINT or SIGTERM. Returns whether all files are complete.
///
/// Creates the token file, if it does not exist, once the socket listens.
///
/// # Errors
/// If the address, the folder or the token cannot be used.
pub fn run(
    address: &Address,
    token: Option<&Path>,
    folder: &Path,
    most: u64,
) -> Result<bool, String> {
    let ends = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        let registered = signal_hook::flag::register(signal, Arc::clone(&ends));
        registered.map_err(|error| error.to_string())?;
    }
    let store = Arc::new(Store::new(folder, most)?);
    let listener = privately(|| Listener::new(address))?;
    let token = token.map(Token::read_or_make).transpose()?;
    println!("receiving at {}", escape::line(&listener.name));
    let collector = Arc::new(Collector::new(token, store)?);
    collector.serve(&listener, &ends);
    Ok(collector.finish())
}

/// Creates a socket with a umask that excludes group and others. No other thread runs yet that could create a file.
fn privately<T>(make: impl FnOnce() -> T) -> T {
    let others = Mode::RWXG | Mode::RWXO | Mode::XUSR;
    let usual = rustix::process::umask(others);
    let made = make();
    rustix::process::umask(usual);
    made
}

/// A socket that accepts senders.
pub struct Listener {
    socket: ListeningSocket,
    /// Address at which senders reach it.
    pub name: String,
}

enum ListeningSocket {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    /// Listens at an address. Port 0 takes any free port.
    ///
    /// # Errors
    /// If the address cannot be used.
    pub fn new(address: &Address) -> Result<Self, String> {
        let told = |cause: &str| format!("nobody can listen at {address}: {cause}");
        let failed = |error: io::Error| told(&error.to_string());
        match address {
            Address::Tcp(authority) => {
                let listener = TcpListener::bind(authority).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                let name = listener.local_addr().map_err(failed)?;
                Ok(Self {
                    socket: ListeningSocket::Tcp(listener),
                    name: format!("tcp://{name}"),
                })
            }
            Address::Unix(path) => {
                if channel::is_stale(path) {
                    let _ = std::fs::remove_file(path);
                }
                if let Some(cause) = unfit(path) {
                    return Err(told(cause));
                }
                let listener = UnixListener::bind(path).map_err(failed)?;
                listener.set_nonblocking(true).map_err(failed)?;
                Ok(Self {
                    socket: ListeningSocket::Unix(listener),
                    name: address.to_string(),
                })
            }
        }
    }

    /// Accepts a pending connection, if any, and returns it with the name of its host.
    fn accept(&self) -> Option<(Socket, String)> {
        match &self.socket {
            ListeningSocket::Tcp(listener) => {
                let (stream, peer) = listener.accept().ok()?;
                stream.set_nonblocking(false).ok()?;
                Some((Socket::Tcp(stream), peer.ip().to_string()))
            }
            ListeningSocket::Unix(listener) => {
                let (stream, _) = listener.accept().ok()?;
                stream.set_nonblocking(false).ok()?;
                Some((Socket::Unix(stream), "a local sender".to_owned()))
            }
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = self.name.strip_prefix("unix:") {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Explains why no socket can be created at a path, where the system's error does not.
fn unfit(path: &Path) -> Option<&'static str> {
    if path.as_os_str().len() > LONGEST_PATH {
        return Some("the path of a socket may have 107 bytes at most; name a shorter one");
    }
    let kind = path.symlink_metadata().ok()?.file_type();
    Some(match kind.is_socket() {
        true => "another program receives there already; end it, or name another path",
        false => "there is something else than a socket, which stays; name another path",
    })
}

/// State shared by all connections.
pub struct Collector {
    token: Option<Token>,
    encryption: Arc<ServerConfig>,
    store: Arc<Store>,
    senders: AtomicUsize,
    whole: AtomicU64,
    cut: AtomicU64,
    refused: RepeatLog,
    missing: RepeatLog,
}

impl Collector {
    /// A collector without connections.
    ///
    /// # Errors
    /// If TLS cannot be set up.
    pub fn new(token: Option<Token>, store: Arc<Store>) -> Result<Self, String> {
        Ok(Self {
            token,
            encryption: channel::encryption()?,
            store,
            senders: AtomicUsize::new(0),
            whole: AtomicU64::new(0),
            cut: AtomicU64::new(0),
            refused: RepeatLog::new(NAMED),
            missing: RepeatLog::new(NAMED_FILES),
        })
    }

    /// Accepts senders until `ends` is set. Each has a thread of its own.
    pub fn serve(self: &Arc<Self>, listener: &Listener, ends: &AtomicBool) {
        while !ends.load(Ordering::Relaxed) {
            let Some((socket, peer)) = listener.accept() else {
                std::thread::sleep(TURN);
                continue;
            };
            if self.senders.fetch_add(1, Ordering::Relaxed) >= SENDERS {
                self.senders.fetch_sub(1, Ordering::Relaxed);
                continue; // closes the connection; the sender retries
            }
            let collector = Arc::clone(self);
            std::thread::spawn(move || {
                collector.receive(socket, &peer);
                collector.senders.fetch_sub(1, Ordering::Relaxed);
            });
        }
    }

    /// Prints the summary. Returns whether all files are complete.
    pub fn finish(&self) -> bool {
        let [whole, cut] = [&self.whole, &self.cut].map(|count| count.load(Ordering::Relaxed));
        for (line, count) in [&self.missing, &self.refused]
            .map(RepeatLog::repeated)
            .concat()
        {
            println!("{line} ({count} times in all)");
        }
        let refused = self.refused.total();
        if refused > 0 {
            println!("connections that were refused: {refused}");
        }
        let files = match whole {
            1 => "1 file is whole".to_owned(),
            _ => format!("{whole} files are whole"),
        };
        let times = if cut == 1 { "time" } else { "times" };
        println!("received: {files}, {cut} {times} a sender went before the end");
        cut == 0
    }

    fn receive(&self, socket: Socket, peer: &str) {
        let mut channel = match self.admit(socket) {
            Ok(channel) => channel,
            Err(error) => {
                let cause = error.to_string();
                self.refused
                    .say(&format!("refused {peer}: {}", escape::line(&cause)));
                return;
            }
        };
        let mut session = Session {
            collector: self,
            files: HashMap::new(),
        };
        let cause = loop {
            match session.step(channel.within(SILENCE)) {
                Ok(()) => {}
                Err(Left::Refused(cause)) => {
                    let _ = Frame::Refused(cause.clone()).write(channel.within(SILENCE));
                    break cause;
                }
                Err(Left::Gone(error)) => break error.to_string(),
            }
        };
        for (file, is_whole) in session.files.values() {
            if !is_whole {
                self.cut.fetch_add(1, Ordering::Relaxed);
                let (name, length, cause) = (file.name(), file.length(), escape::line(&cause));
                self.missing.say(&format!(
                    "{name}: {length} bytes, and the end is missing: {cause}"
                ));
            }
        }
    }

    /// Checks the sender's proof and answers with the receiver's.
    fn admit(&self, socket: Socket) -> io::Result<Channel> {
        let mut channel = Channel::accept(socket, &self.encryption)?;
        let binding = channel.binding()?;
        let hello = Hello::read(&mut channel)?;
        let proof = match (&self.token, &binding) {
            (Some(token), Some(binding)) => {
                if !token.proves(Side::Sender, binding, &hello.proof) {
                    Hello { proof: [0; PROOF] }.write(&mut channel)?;
                    return Err(io::Error::other("it has another token"));
                }
                token.proof(Side::Receiver, binding)
            }
            (None, Some(_)) => return Err(io::Error::other("there is no token")),
            (_, None) => [0; PROOF],
        };
        Hello { proof }.write(&mut channel)?;
        Ok(channel)
    }
}

/// The files of one sender.
struct Session<'a> {
    collector: &'a Collector,
    /// Files by the sender's numbers, each with a flag: complete or not.
    files: HashMap<u32, (Received, bool)>,
}

/// Reason for the end of a connection.
enum Left {
    Refused(String),
    Gone(io::Error),
}

impl From<io::Error> for Left {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::InvalidData => Self::Refused(error.to_string()),
            _ => Self::Gone(error),
        }
    }
}

impl From<String> for Left {
    fn from(cause: String) -> Self {
        Self::Refused(cause)
    }
}

impl Session<'_> {
    /// Handles one frame and answers it.
    fn step(&mut self, channel: &mut Channel) -> Result<(), Left> {
        let answer = match Frame::read(channel)? {
            Frame::Alive => return Ok(()),
            Frame::File(number, name) => {
                if self.files.contains_key(&number) || self.files.len() >= FILES {
                    return Err("expected another number of a file".to_owned().into());
                }
                let file = self.collector.store.open(&name)?;
                let have = Frame::Have(file.length(), file.check()?);
                println!("receiving {name}");
                self.files.insert(number, (file, false));
                have
            }
            Frame::Restart(number) => {
                self.file(number)?.restart()?;
                return Ok(());
            }
            Frame::Append(number, bytes) => {
                let file = self.file(number)?;
                file.append(&bytes)?;
                Frame::Kept(file.length())
            }
            Frame::Current(number) => {
                let file = self.file(number)?;
                file.is_current()?;
                Frame::Kept(file.length())
            }
            Frame::End(number) => {
                let file = self.file(number)?;
                file.complete()?;
                let length = file.length();
                println!("{}: {length} bytes, whole", file.name());
                if let Some((_, is_whole)) = self.files.get_mut(&number) {
                    *is_whole = true;
                }
                self.collector.whole.fetch_add(1, Ordering::Relaxed);
                Frame::Kept(length)
            }
            Frame::Have(..) | Frame::Kept(_) | Frame::Refused(_) => {
                return Err("expected what a sender says".to_owned().into());
            }
        };
        answer.write(channel)?;
        Ok(())
    }

    /// A file that was announced and is not complete.
    fn file(&mut self, number: u32) -> Result<&mut Received, Left> {
        match self.files.get_mut(&number) {
            Some((file, false)) => Ok(file),
            _ => Err("expected the number of a file that has begun"
                .to_owned()
                .into()),
        }
    }
}
