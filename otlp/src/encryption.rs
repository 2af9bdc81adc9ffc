//! TLS for requests of OTLP.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use errors::{Error, codes};
use rustls::client::WantsClientCert;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ConfigBuilder, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Environment variable with the path of the trusted certificates, as for curl and openssl.
const ROOTS: &str = "SSL_CERT_FILE";
/// System files of trusted certificates: Debian and Alpine, Fedora and RHEL, SUSE.
const SYSTEM_ROOTS: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
];

/// Files (PEM) with the certificates and keys of both ends of a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Certificates of the authorities of the receiver. `None` uses the system's.
    pub authorities: Option<PathBuf>,
    /// Certificates and key of this end, for receivers that require them.
    pub identity: Option<(PathBuf, PathBuf)>,
}

impl Tls {
    /// Checks the kind of each file.
    ///
    /// # Errors
    /// `H0661` with a file that cannot be used.
    pub fn check(&self) -> Result<(), Error> {
        let certificates = self
            .authorities
            .iter()
            .chain(self.identity.iter().map(|pair| &pair.0));
        for file in certificates {
            holds(file, "CERTIFICATE")?;
        }
        let mut keys = self.identity.iter().map(|pair| &pair.1);
        keys.try_for_each(|file| holds(file, "PRIVATE KEY"))
    }

    /// Encrypts a connection, and verifies the receiver's certificate. The handshake requests a protocol by its name
    /// (ALPN).
    ///
    /// # Errors
    /// The cause for which the files or the certificate are refused.
    pub async fn encrypt(
        &self,
        stream: TcpStream,
        host: &str,
        protocol: &str,
    ) -> Result<TlsStream<TcpStream>, String> {
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| format!("no certificate can have the name `{host}`"))?;
        let mut config = self.config()?;
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        let connector = TlsConnector::from(Arc::new(config));
        let connected = connector.connect(name, stream).await;
        connected.map_err(|error| error.to_string())
    }

    fn config(&self) -> Result<ClientConfig, String> {
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(self.roots()?);
        self.identified(builder)
    }

    fn identified(
        &self,
        builder: ConfigBuilder<ClientConfig, WantsClientCert>,
    ) -> Result<ClientConfig, String> {
        let Some((certificates, key)) = &self.identity else {
            return Ok(builder.with_no_client_auth());
        };
        let unusable = |error: &dyn std::fmt::Display| format!("{}: {error}", key.display());
        let file = PrivateKeyDer::from_pem_file(key).map_err(|error| unusable(&error))?;
        let config = builder.with_client_auth_cert(read(certificates)?, file);
        config.map_err(|error| unusable(&error))
    }

    /// The trusted certificates.
    fn roots(&self) -> Result<RootCertStore, String> {
        let named = std::env::var_os(ROOTS).map(PathBuf::from);
        let file = self.authorities.clone().or(named);
        let mut system = SYSTEM_ROOTS.iter().map(PathBuf::from);
        let file = file.or_else(|| system.find(|file| file.is_file()));
        let file = file.ok_or_else(|| {
            format!("no file with certificates of authorities is known: name one, or set {ROOTS}")
        })?;
        let mut roots = RootCertStore::empty();
        let (added, _) = roots.add_parsable_certificates(read(&file)?);
        match added {
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

/// Checks that a file is text with such a part.
fn holds(file: &Path, part: &str) -> Result<(), Error> {
    let text = fs::read_to_string(file).map_err(|error| Error::unreadable(file, &error))?;
    let lines = text.lines();
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.contains(part);
    match lines.map(str::trim).any(begins) {
        true => Ok(()),
        false => Err(
            Error::mistake(codes::H0661, format!("{} cannot be used", file.display()))
                .with("expected", format!("PEM with at least one {part}")),
        ),
    }
}
