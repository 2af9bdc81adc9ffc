//! Requests, with limits of time, length and redirects.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body};

use crate::failure::Failure;

/// Longest time to connect.
const CONNECT: Duration = Duration::from_secs(30);
/// Longest time for one request, with its redirects and body.
const WHOLE: Duration = Duration::from_secs(600);
/// Most redirects of one request.
const REDIRECTS: u32 = 5;
/// Environment variable with the path of the trusted certificates, as for curl and openssl.
const ROOTS: &str = "SSL_CERT_FILE";
/// System files of trusted certificates.
const SYSTEM_ROOTS: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];

/// An HTTP client.
pub struct Http {
    agent: Agent,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Answer {
    response: ureq::http::Response<Body>,
}

impl Http {
    /// Creates a client that uses the proxy of `HTTPS_PROXY` and its siblings. `encrypted` refuses plain HTTP,
    /// redirects included.
    ///
    /// # Errors
    /// If the file of `SSL_CERT_FILE` holds no certificates.
    pub fn new(encrypted: bool) -> Result<Self, Failure> {
        let tls = TlsConfig::builder().root_certs(roots()?).build();
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .https_only(encrypted)
            .max_redirects(REDIRECTS)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE))
            .user_agent(concat!("classhook/", env!("CARGO_PKG_VERSION")))
            .tls_config(tls);
        Ok(Self {
            agent: config.build().into(),
        })
    }

    /// Sends a GET request. The `Authorization` header does not follow a redirect to another server.
    ///
    /// # Errors
    /// If there is no answer.
    pub fn get(&self, url: &str, headers: &[(&str, &str)]) -> Result<Answer, Failure> {
        let request = headers
            .iter()
            .fold(self.agent.get(url), |request, (name, value)| {
                request.header(*name, *value)
            });
        let response = request.call().map_err(|error| no_answer(&error))?;
        Ok(Answer { response })
    }
}

impl Answer {
    /// The status code.
    pub fn status(&self) -> u16 {
        self.response.status().as_u16()
    }

    /// Returns the answer if its status is 200.
    ///
    /// # Errors
    /// An error with any other status.
    pub fn only_found(self) -> Result<Self, Failure> {
        if self.status() == 200 {
            return Ok(self);
        }
        let status = self.response.status();
        let found = format!("the server answers {status}");
        Err(Failure::new(found).help("check the address"))
    }

    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<String> {
        let value = self.response.headers().get(name)?;
        value.to_str().ok().map(str::to_owned)
    }

    /// Reads the body.
    ///
    /// # Errors
    /// If the body is longer than `most` bytes, or ends early.
    pub fn bytes(self, most: u64) -> Result<Vec<u8>, Failure> {
        let mut bytes = Vec::new();
        let mut body = self.body(most)?.take(most.saturating_add(1));
        body.read_to_end(&mut bytes).map_err(|error| cut(&error))?;
        match bytes.len() as u64 > most {
            true => Err(too_long(None, most)),
            false => Ok(bytes),
        }
    }

    /// Writes the body to a new file. Returns its SHA-256 in lower-case hexadecimal digits, and its length.
    ///
    /// # Errors
    /// If the body is longer than `most` bytes, ends early, or cannot be written.
    pub fn write(self, to: &Path, most: u64) -> Result<(String, u64), Failure> {
        let unwritable = |error: io::Error| Failure::new(format!("{}: {error}", to.display()));
        let mut file = File::create_new(to).map_err(unwritable)?;
        let mut body = self.body(most)?;
        let (mut buffer, mut left, mut digest) = (vec![0; 1 << 16], most, Sha256::new());
        loop {
            let count = body.read(&mut buffer).map_err(|error| cut(&error))?;
            let Some(part) = buffer.get(..count).filter(|part| !part.is_empty()) else {
                file.flush().map_err(unwritable)?;
                return Ok((hex(&digest.finalize()), most.saturating_sub(left)));
            };
            left = left
                .checked_sub(count as u64)
                .ok_or_else(|| too_long(None, most))?;
            digest.update(part);
            file.write_all(part).map_err(unwritable)?;
        }
    }

    fn body(self, most: u64) -> Result<impl Read, Failure> {
        let body = self.response.into_body();
        match body.content_length() {
            Some(length) if length > most => Err(too_long(Some(length), most)),
            _ => Ok(body.into_reader()),
        }
    }
}

/// The SHA-256 of bytes, in lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn too_long(length: Option<u64>, most: u64) -> Failure {
    let found = match length {
        Some(length) => format!("{length} bytes"),
        None => format!("more than {most} bytes"),
    };
    Failure::new(found).expected(format!("at most {most} bytes"))
}

fn cut(error: &io::Error) -> Failure {
    Failure::new(format!("the answer ends early: {error}")).help("try again")
}

fn no_answer(error: &ureq::Error) -> Failure {
    Failure::new(format!("no answer: {error}"))
        .help("check the address, the network, and the proxy in HTTPS_PROXY, if there is one")
}

/// Trusted certificates: the file of `SSL_CERT_FILE`, else the system's, else Mozilla's list.
fn roots() -> Result<RootCerts, Failure> {
    if let Some(file) = std::env::var_os(ROOTS) {
        let file = Path::new(&file);
        return certificates(file).ok_or_else(|| {
            Failure::new(format!("{ROOTS} names {}", file.display()))
                .expected("a file with certificates in PEM form")
        });
    }
    let found = SYSTEM_ROOTS
        .iter()
        .find_map(|file| certificates(Path::new(file)));
    Ok(found.unwrap_or(RootCerts::WebPki))
}

fn certificates(file: &Path) -> Option<RootCerts> {
    let pem = std::fs::read(file).ok()?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let all: Vec<Certificate<'static>> = parse_pem(&pem).filter_map(certificate).collect();
    (!all.is_empty()).then(|| all.into())
}
