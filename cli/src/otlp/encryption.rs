//! TLS for OTLP requests, in the program beside this command, to limit the command's size.

use std::fs;
use std::io::{ErrorKind, Read};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdUnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use tokio::net::UnixStream;

use crate::problem::Problem;
use crate::relay;

/// Number of checks for the end of a process, and the time between them.
const LOOKS: u32 = 50;
const TURN: Duration = Duration::from_millis(10);

/// The PEM files with which the two ends of a connection authenticate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Certificates of trusted authorities; the system's if absent.
    pub authorities: Option<PathBuf>,
    /// Certificates and key of this end, for receivers that require them.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The process that encrypts one connection. Dropping the value ends it.
#[derive(Debug)]
pub struct Encryption(Child);

impl Tls {
    /// Checks the program's version and the kind of each file.
    ///
    /// # Errors
    /// `H0667` without the program, `H0661` for an unusable file.
    pub fn check(&self) -> Result<(), Problem> {
        relay::check_version()?;
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

    /// Connects to a receiver, and checks its certificate. The handshake requests a protocol by its
    /// name (ALPN).
    ///
    /// # Errors
    /// The cause, as the program or the system reports it.
    pub async fn connect(
        &self,
        (host, port): (&str, u16),
        protocol: &str,
    ) -> Result<(UnixStream, Encryption), String> {
        let told = |error: std::io::Error| error.to_string();
        let (ours, theirs) = StdUnixStream::pair().map_err(told)?;
        ours.set_nonblocking(true).map_err(told)?;
        let stream = UnixStream::from_std(ours).map_err(told)?;
        let mut command = relay::command("tls");
        command.args([host, &port.to_string(), protocol]);
        command.arg(self.authorities.as_deref().unwrap_or(Path::new("-")));
        if let Some((certificates, key)) = &self.identity {
            command.arg(certificates).arg(key);
        }
        command.stdin(OwnedFd::from(theirs));
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut encryption = Encryption(command.spawn().map_err(told)?);
        drop(command); // it holds the other end
        match is_ready(&stream).await {
            true => Ok((stream, encryption)),
            false => Err(encryption.cause()),
        }
    }
}

/// Waits for the byte that confirms the receiver's certificate.
async fn is_ready(stream: &UnixStream) -> bool {
    loop {
        if stream.readable().await.is_err() {
            return false;
        }
        match stream.try_read(&mut [0]) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            read => return read.is_ok_and(|length| length > 0),
        }
    }
}

impl Encryption {
    /// Returns the error message of the process, if it has failed or fails within a moment.
    pub async fn ending(&mut self) -> Option<String> {
        for _ in 0..LOOKS {
            match self.0.try_wait() {
                Ok(None) => tokio::time::sleep(TURN).await,
                Ok(Some(status)) if !status.success() => return Some(self.cause()),
                _ => return None,
            }
        }
        None
    }

    /// Returns the error message of a failed process.
    fn cause(&mut self) -> String {
        let mut said = String::new();
        let read = self
            .0
            .stderr
            .take()
            .map(|mut stderr| stderr.read_to_string(&mut said));
        match (read, said.trim()) {
            (Some(Ok(_)), said) if !said.is_empty() => said.to_owned(),
            _ => format!("{} ended without a word", relay::RELAY),
        }
    }
}

impl Drop for Encryption {
    fn drop(&mut self) {
        let _ = self.0.kill(); // it may have ended
        let _ = self.0.wait();
    }
}

/// Checks that a file is text with such a part.
fn holds(file: &Path, part: &str) -> Result<(), Problem> {
    let text = fs::read_to_string(file).map_err(|error| Problem::unreadable(file, &error))?;
    let lines = text.lines();
    let begins = |line: &str| line.starts_with("-----BEGIN ") && line.contains(part);
    match lines.map(str::trim).any(begins) {
        true => Ok(()),
        false => Err(
            Problem::user("H0661", format!("{} cannot be used", file.display()))
                .with("expected", format!("PEM with at least one {part}")),
        ),
    }
}
