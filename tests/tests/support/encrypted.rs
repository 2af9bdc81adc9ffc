//! A TLS server in front of another server, in the test's own process.

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// A self-signed certificate.
pub struct Identity {
    der: CertificateDer<'static>,
    key: Vec<u8>,
}

impl Identity {
    /// Creates a certificate for this host name.
    pub fn of(host: &str) -> Self {
        let made = rcgen::generate_simple_self_signed(vec![host.to_owned()]).expect("a key");
        Self {
            der: made.cert.der().clone(),
            key: made.signing_key.serialize_der(),
        }
    }

    /// Writes the certificate and the key to files (PEM).
    pub fn files(&self, folder: &Path, name: &str) -> (PathBuf, PathBuf) {
        let write = |extension: &str, label: &str, der: &[u8]| {
            let text = STANDARD.encode(der);
            let pem = format!("-----BEGIN {label}-----\n{text}\n-----END {label}-----\n");
            let file = folder.join(format!("{name}.{extension}"));
            fs::write(&file, pem).expect("written");
            file
        };
        (
            write("pem", "CERTIFICATE", &self.der),
            write("key", "PRIVATE KEY", &self.key),
        )
    }
}

/// Listens with TLS, and forwards all bytes to the server at this URL. Returns its own URL with `https`. Clients must
/// present the certificate of `client`, if given.
pub fn in_front_of(url: &str, server: &Identity, client: Option<&Identity>) -> String {
    let address = url.strip_prefix("http://").expect("a URL").to_owned();
    let config = Arc::new(config(server, client));
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("its port").port();
    thread::spawn(move || {
        for client in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a configuration");
            let server = TcpStream::connect(&address).expect("the server behind");
            let client = client.expect("a connection");
            thread::spawn(move || pass(connection, client, server));
        }
    });
    format!("https://localhost:{port}")
}

fn config(server: &Identity, client: Option<&Identity>) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .expect("versions");
    let builder = match client {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let mut roots = RootCertStore::empty();
            roots.add(client.der.clone()).expect("a certificate");
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().expect("a verifier"))
        }
    };
    let key = PrivatePkcs8KeyDer::from(server.key.clone());
    let mut config = builder
        .with_single_cert(vec![server.der.clone()], key.into())
        .expect("a certificate with its key");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    config
}

/// Forwards bytes until one side closes.
fn pass(mut tls: ServerConnection, mut client: TcpStream, mut server: TcpStream) {
    for socket in [&client, &server] {
        socket.set_nonblocking(true).expect("a socket");
    }
    let mut chunk = vec![0; 1 << 14];
    loop {
        let mut is_idle = true;
        while tls.wants_write() {
            match tls.write_tls(&mut client) {
                Ok(_) => is_idle = false,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return,
            }
        }
        match tls.read_tls(&mut client) {
            Ok(0) => return,
            Ok(_) => is_idle = false,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        if tls.process_new_packets().is_err() {
            let _ = tls.write_tls(&mut client); // sends the alert with the cause
            return;
        }
        while let Ok(length @ 1..) = tls.reader().read(&mut chunk) {
            server.set_nonblocking(false).expect("a socket");
            if server.write_all(&chunk[..length]).is_err() {
                return;
            }
            server.set_nonblocking(true).expect("a socket");
        }
        match server.read(&mut chunk) {
            Ok(0) => return,
            Ok(length) => {
                tls.writer().write_all(&chunk[..length]).expect("memory");
                is_idle = false;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return,
        }
        if is_idle {
            thread::sleep(Duration::from_millis(1));
        }
    }
}
