//! TLS for the command, which has none of its own. Bytes from a local socket go encrypted to a server with a valid
//! certificate, and the server's bytes come back decrypted.

use std::env;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, ConfigBuilder, RootCertStore};

/// Longest time to connect to one address of the server.
const CONNECT: Duration = Duration::from_secs(10);
/// Most bytes passed on in one step.
const CHUNK: usize = 1 << 14;
/// First byte on the local socket; sent once the server's certificate is verified.
pub const READY: u8 = b'\n';
/// Environment variable with the path of the trusted certificates, as for curl and openssl.
const ROOTS: &str = "SSL_CERT_FILE";
/// System files of trusted certificates: Debian and Alpine, Fedora and RHEL, SUSE.
const SYSTEM_ROOTS: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// A server, with the credentials of both sides.
pub struct Peer<'a> {
    /// Host name or address; the certificate must have it.
    pub host: &'a str,
    /// Port.
    pub port: u16,
    /// Application protocol, by its ALPN name: `h2`, `http/1.1`.
    pub protocol: &'a str,
    /// File of trusted certificates (PEM). `None` uses the system's.
    pub authorities: Option<&'a Path>,
    /// Files of the client's certificates and key (PEM).
    pub identity: Option<(&'a Path, &'a Path)>,
}

/// Connects, writes [`READY`] to the local socket, and passes bytes on until one side closes.
///
/// # Errors
/// The cause of a failed or broken connection.
pub fn run(peer: &Peer<'_>, mut local: UnixStream) -> Result<(), String> {
    let config = Arc::new(peer.config()?);
    let name = ServerName::try_from(peer.host.to_owned());
    let name = name.map_err(|_| format!("no certificate can have the name `{}`", peer.host))?;
    let mut connection = ClientConnection::new(config, name).map_err(|error| error.to_string())?;
    let mut socket = connect(peer.host, peer.port).map_err(|error| error.to_string())?;
    while connection.is_handshaking() {
        let done = connection.complete_io(&mut socket);
        done.map_err(|error| error.to_string())?;
    }
    let ready = local.write_all(&[READY]);
    let passed = ready.and_then(|()| pass(&mut connection, &mut socket, &mut local));
    passed.map_err(|error| error.to_string())
}

impl Peer<'_> {
    fn config(&self) -> Result<ClientConfig, String> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.roots()?);
        let mut config = self.identified(builder)?;
        config.alpn_protocols = vec![self.protocol.as_bytes().to_vec()];
        Ok(config)
    }

    fn identified(
        &self,
        builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    ) -> Result<ClientConfig, String> {
        let Some((certificates, key)) = self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let unusable = |error: &dyn std::fmt::Display| format!("{}: {error}", key.display());
        let file = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(&error))?;
        let config = builder.with_client_auth_cert(read(certificates)?, file);
        config.map_err(|error| unusable(&error))
    }

    /// The trusted certificates.
    fn roots(&self) -> Result<RootCertStore, String> {
        let named = env::var_os(ROOTS).map(PathBuf::from);
        let file = self.authorities.map(Path::to_owned).or(named);
        let system = || {
            SYSTEM_ROOTS
                .iter()
                .map(PathBuf::from)
                .find(|file| file.is_file())
        };
        let file = file.or_else(system).ok_or_else(|| {
            format!("no file with certificates of authorities is known: name one, or set {ROOTS}")
        })?;
        let mut roots = RootCertStore::empty();
        let (taken, _) = roots.add_parsable_certificates(read(&file)?);
        match taken {
            0 => Err(format!(
                "{}: no certificate of an authority",
                file.display()
            )),
            _ => Ok(roots),
        }
    }
}

fn read(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    let opened = File::open(file).map_err(|error| unreadable(&error))?;
    let read: Result<Vec<_>, _> = CertificateDer::pem_reader_iter(opened).collect();
    match read {
        Ok(found) if found.is_empty() => Err(unreadable(&"no certificate")),
        Ok(found) => Ok(found),
        Err(error) => Err(unreadable(&error)),
    }
}

fn connect(host: &str, port: u16) -> io::Result<TcpStream> {
    let mut failed = io::Error::other("the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

/// Passes bytes on in both directions. The local side reads at once; the server may be slow.
fn pass(
    connection: &mut ClientConnection,
    socket: &mut TcpStream,
    local: &mut UnixStream,
) -> io::Result<()> {
    socket.set_nonblocking(true)?;
    let mut chunk = vec![0; CHUNK];
    loop {
        hand_over(connection, local, &mut chunk)?;
        let from_local = match connection.wants_write() {
            true => PollFlags::empty(), // pending bytes first
            false => PollFlags::IN,
        };
        let with_server = match connection.wants_write() {
            true => PollFlags::IN | PollFlags::OUT,
            false => PollFlags::IN,
        };
        let mut waited = [
            PollFd::new(&*local, from_local),
            PollFd::new(&*socket, with_server),
        ];
        match poll(&mut waited, None) {
            Err(Errno::INTR) => continue,
            polled => polled?,
        };
        let [ours, theirs] = waited.map(|one| one.revents());
        if theirs.contains(PollFlags::OUT) {
            when_ready(connection.write_tls(socket))?;
        }
        if theirs.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR)
            && !receive(connection, socket)?
        {
            hand_over(connection, local, &mut chunk)?;
            return local.shutdown(Shutdown::Both);
        }
        if ours.intersects(PollFlags::IN) {
            match local.read(&mut chunk)? {
                0 => return close(connection, socket),
                length => connection.writer().write_all(&chunk[..length])?,
            }
        } else if ours.intersects(PollFlags::HUP | PollFlags::ERR) {
            return close(connection, socket);
        }
    }
}

/// Decrypts the server's bytes. Returns `false` if the server has closed the connection.
fn receive(connection: &mut ClientConnection, socket: &mut TcpStream) -> io::Result<bool> {
    match connection.read_tls(socket) {
        Ok(0) => return Ok(false),
        Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(true),
        read => read?,
    };
    let state = connection.process_new_packets().map_err(io::Error::other)?;
    Ok(!state.peer_has_closed())
}

/// Writes decrypted bytes to the local side.
fn hand_over(
    connection: &mut ClientConnection,
    local: &mut UnixStream,
    chunk: &mut [u8],
) -> io::Result<()> {
    loop {
        match connection.reader().read(chunk) {
            Ok(0) => return Ok(()),
            Ok(length) => local.write_all(&chunk[..length])?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}

/// Sends the rest and the alert `close_notify`.
fn close(connection: &mut ClientConnection, socket: &mut TcpStream) -> io::Result<()> {
    socket.set_nonblocking(false)?;
    socket.set_write_timeout(Some(CONNECT))?;
    connection.send_close_notify();
    while connection.wants_write() {
        connection.write_tls(socket)?;
    }
    Ok(())
}

/// Treats a full socket as success: the rest is sent once the socket is ready.
fn when_ready(written: io::Result<usize>) -> io::Result<()> {
    match written {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        written => written.map(drop),
    }
}
