//! An encrypted connection or a local one, with a time limit for each step.

use std::fs;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::version::TLS13;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, ServerConfig, ServerConnection,
    SignatureScheme, StreamOwned,
};

use crate::address::Address;
use crate::deadline::Deadline;
use crate::token::BINDING;

/// Longest time for the connection, the TLS handshake and the proofs of both sides together.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// Poll interval for the end of the recording while a sender waits.
const TURN: Duration = Duration::from_millis(250);
/// The exporter label of the channel binding (RFC 9266).
const EXPORTER: &[u8] = b"EXPORTER-Channel-Binding";

/// A connection between sender and receiver.
pub struct Channel(Stream);

enum Stream {
    Local(Timed),
    Client(Box<StreamOwned<ClientConnection, Timed>>),
    Server(Box<StreamOwned<ServerConnection, Timed>>),
}

/// A socket with a deadline for all its reads and writes together. A peer that sends single bytes cannot extend it.
pub struct Timed {
    socket: Socket,
    until: Instant,
    /// The end of the sender's recording. It brings the deadline forward to the last moment for sending.
    deadline: Option<Arc<Deadline>>,
}

/// A TCP or Unix domain socket.
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Channel {
    /// Connects within [`HANDSHAKE`], which includes the proofs of both sides.
    ///
    /// The deadline after the end of the recording ([`Deadline::last`]) limits this and all later steps.
    ///
    /// # Errors
    /// If nobody listens at the address, or the peer does not speak TLS 1.3.
    pub fn connect(to: &Address, deadline: &Arc<Deadline>) -> io::Result<Self> {
        let timed = |socket| Timed {
            socket,
            until: Instant::now() + HANDSHAKE,
            deadline: Some(Arc::clone(deadline)),
        };
        let authority = match to {
            Address::Unix(path) => {
                let socket = Socket::Unix(UnixStream::connect(path)?);
                return Ok(Self(Stream::Local(timed(socket))));
            }
            Address::Tcp(authority) => authority,
        };
        let mut failed = io::Error::other("the host has no address");
        for address in authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, HANDSHAKE / 2) {
                Ok(stream) => {
                    stream.set_nodelay(true)?;
                    return Self::encrypt(timed(Socket::Tcp(stream)));
                }
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn encrypt(timed: Timed) -> io::Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        let name = ServerName::try_from("classhook").map_err(io::Error::other)?;
        let client = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(client, timed);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self(Stream::Client(Box::new(stream))))
    }

    /// The listening side of [`Channel::connect`].
    ///
    /// # Errors
    /// If the peer does not speak TLS 1.3.
    pub fn accept(socket: Socket, encryption: &Arc<ServerConfig>) -> io::Result<Self> {
        if let Socket::Tcp(stream) = &socket {
            stream.set_nodelay(true)?;
        }
        let is_local = matches!(socket, Socket::Unix(_));
        let timed = Timed {
            socket,
            until: Instant::now() + HANDSHAKE,
            deadline: None,
        };
        if is_local {
            return Ok(Self(Stream::Local(timed)));
        }
        let server = ServerConnection::new(Arc::clone(encryption)).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(server, timed);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self(Stream::Server(Box::new(stream))))
    }

    /// The channel binding, known only to both ends of this connection (RFC 9266). `None` for a local one.
    ///
    /// # Errors
    /// If the TLS handshake is not complete.
    pub fn binding(&self) -> io::Result<Option<[u8; BINDING]>> {
        let empty = [0; BINDING];
        let exported = match &self.0 {
            Stream::Local(_) => return Ok(None),
            Stream::Client(stream) => stream.conn.export_keying_material(empty, EXPORTER, None),
            Stream::Server(stream) => stream.conn.export_keying_material(empty, EXPORTER, None),
        };
        exported.map(Some).map_err(io::Error::other)
    }

    /// Sets the time limit for all reads and writes from now on.
    pub fn within(&mut self, time: Duration) -> &mut Self {
        let timed = match &mut self.0 {
            Stream::Local(timed) => timed,
            Stream::Client(stream) => &mut stream.sock,
            Stream::Server(stream) => &mut stream.sock,
        };
        timed.until = Instant::now() + time;
        self
    }

    fn stream(&mut self) -> &mut dyn ReadWrite {
        match &mut self.0 {
            Stream::Local(timed) => timed,
            Stream::Client(stream) => stream.as_mut(),
            Stream::Server(stream) => stream.as_mut(),
        }
    }
}

/// TLS settings of a receiver. The certificate is made anew and does not identify the receiver; the token does.
///
/// # Errors
/// If the system has no random numbers.
pub fn encryption() -> Result<Arc<ServerConfig>, String> {
    let made = rcgen::generate_simple_self_signed(vec!["classhook".to_owned()]);
    let made = made.map_err(|error| error.to_string())?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS13])
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key.into())
        .map_err(|error| error.to_string())?;
    Ok(Arc::new(config))
}

/// Checks whether a path is a socket that nobody listens at.
pub fn is_stale(path: &Path) -> bool {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|it| it.file_type().is_socket());
    let refused = |error: io::Error| error.kind() == io::ErrorKind::ConnectionRefused;
    is_socket && UnixStream::connect(path).is_err_and(refused)
}

trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}

impl Read for Channel {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream().read(buffer)
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream().flush()
    }
}

impl Timed {
    /// Time left until the deadline.
    fn left(&self) -> Duration {
        let last = self.deadline.as_ref().and_then(|deadline| deadline.last());
        let until = last.map_or(self.until, |last| last.min(self.until));
        until.saturating_duration_since(Instant::now())
    }

    /// Repeats the attempt until the deadline, which may move forward meanwhile.
    fn in_time<T>(
        &mut self,
        mut attempt: impl FnMut(&mut Socket) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            let left = self.left();
            if left.is_zero() {
                return Err(late());
            }
            let turn = Some(match self.deadline {
                Some(_) => left.min(TURN),
                None => left,
            });
            match &self.socket {
                Socket::Tcp(stream) => {
                    stream.set_read_timeout(turn)?;
                    stream.set_write_timeout(turn)?;
                }
                Socket::Unix(stream) => {
                    stream.set_read_timeout(turn)?;
                    stream.set_write_timeout(turn)?;
                }
            }
            match attempt(&mut self.socket) {
                Err(error) if is_late(&error) => {}
                outcome => return outcome,
            }
        }
    }
}

fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

fn late() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        "the other side did not answer in time",
    )
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.in_time(|socket| match socket {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        })
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.in_time(|socket| match socket {
            Socket::Tcp(stream) => stream.write(bytes),
            Socket::Unix(stream) => stream.write(bytes),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Takes every certificate: who the receiver is, is proved with the token, which is bound to this connection. That the
/// receiver has the certificate's key is checked.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::Error::General("expected TLS 1.3".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.0.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
