//! An encrypted connection, or a local one, with a time for each step.

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
use crate::token::BINDING;

/// How long a connection, its encryption and the proofs of both sides may take together.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// The name of what both ends of one connection know (RFC 9266).
const EXPORTER: &[u8] = b"EXPORTER-Channel-Binding";

/// A connection.
pub struct Channel(Stream);

enum Stream {
    Local(Timed),
    Client(Box<StreamOwned<ClientConnection, Timed>>),
    Server(Box<StreamOwned<ServerConnection, Timed>>),
}

/// A socket whose reads and writes end at a time, however many there are: a peer that sends a byte now and then gains
/// nothing.
pub struct Timed {
    socket: Socket,
    until: Instant,
}

/// A socket.
pub enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Channel {
    /// Connects; the peer has [`HANDSHAKE`] for it, and for what is said first.
    ///
    /// # Errors
    /// If nobody is there, or what is there speaks no TLS.
    pub fn connect(to: &Address) -> io::Result<Self> {
        let until = Instant::now() + HANDSHAKE;
        let authority = match to {
            Address::Unix(path) => {
                let socket = Socket::Unix(UnixStream::connect(path)?);
                return Ok(Self(Stream::Local(Timed { socket, until })));
            }
            Address::Tcp(authority) => authority,
        };
        let mut failed = io::Error::other("the host has no address");
        for address in authority.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, HANDSHAKE / 2) {
                Ok(stream) => return Self::encrypt(stream, until),
                Err(error) => failed = error,
            }
        }
        Err(failed)
    }

    fn encrypt(stream: TcpStream, until: Instant) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(io::Error::other)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(AnyCertificate(provider)))
            .with_no_client_auth();
        let name = ServerName::try_from("classhook").map_err(io::Error::other)?;
        let client = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        let socket = Socket::Tcp(stream);
        let mut stream = StreamOwned::new(client, Timed { socket, until });
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self(Stream::Client(Box::new(stream))))
    }

    /// The side of who listens, as [`Channel::connect`].
    ///
    /// # Errors
    /// If what has connected speaks no TLS.
    pub fn accept(socket: Socket, encryption: &Arc<ServerConfig>) -> io::Result<Self> {
        let until = Instant::now() + HANDSHAKE;
        if let Socket::Tcp(stream) = &socket {
            stream.set_nodelay(true)?;
        } else {
            return Ok(Self(Stream::Local(Timed { socket, until })));
        }
        let server = ServerConnection::new(Arc::clone(encryption)).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(server, Timed { socket, until });
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Self(Stream::Server(Box::new(stream))))
    }

    /// What only the two ends of this connection know; none of a local one.
    ///
    /// # Errors
    /// If the connection is not encrypted yet.
    pub fn binding(&self) -> io::Result<Option<[u8; BINDING]>> {
        let empty = [0; BINDING];
        let exported = match &self.0 {
            Stream::Local(_) => return Ok(None),
            Stream::Client(stream) => stream.conn.export_keying_material(empty, EXPORTER, None),
            Stream::Server(stream) => stream.conn.export_keying_material(empty, EXPORTER, None),
        };
        exported.map(Some).map_err(io::Error::other)
    }

    /// What is read and written from now on has so much time.
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

/// How a receiver encrypts: with a certificate that is made now, and says nothing of who it is; the token does.
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

/// Whether a socket of this path is that of nobody who is there.
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
    /// The time that is left, for the next read and write.
    fn hurry(&self) -> io::Result<()> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(late());
        }
        let left = Some(left);
        match &self.socket {
            Socket::Tcp(stream) => {
                stream.set_read_timeout(left)?;
                stream.set_write_timeout(left)
            }
            Socket::Unix(stream) => {
                stream.set_read_timeout(left)?;
                stream.set_write_timeout(left)
            }
        }
    }
}

fn late() -> io::Error {
    io::Error::new(
        io::ErrorKind::TimedOut,
        "the other side did not answer in time",
    )
}

fn in_time<T>(outcome: io::Result<T>) -> io::Result<T> {
    outcome.map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => late(),
        _ => error,
    })
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.hurry()?;
        in_time(match &mut self.socket {
            Socket::Tcp(stream) => stream.read(buffer),
            Socket::Unix(stream) => stream.read(buffer),
        })
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hurry()?;
        in_time(match &mut self.socket {
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
