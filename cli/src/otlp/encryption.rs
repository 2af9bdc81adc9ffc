//! TLS for requests of OTLP, by the program beside this command: it would be more than the command may grow by.

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

/// Number of looks at a process that may be ending, and the time between them.
const LOOKS: u32 = 50;
const TURN: Duration = Duration::from_millis(10);

/// The files (PEM) by which the two ends of a connection prove who they are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// Certificates of the authorities that the receiver's certificate may be from; the system's without.
    pub authorities: Option<PathBuf>,
    /// Certificates and key of this end, where the receiver asks for them.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// The process that encrypts one connection; it ends with this value.
#[derive(Debug)]
pub struct Encryption(Child);

impl Tls {
    /// Checks the version of the program and the kind of each file.
    ///
    /// # Errors
    /// `H0667` without the program, `H0661` with a file that cannot be used.
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

    /// Connects to a receiver, and checks its certificate; the handshake asks for a protocol by its name (ALPN).
    ///
    /// # Errors
    /// The cause, in the words of the program or the system.
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
        drop(command); // which holds the other end
        match is_ready(&stream).await {
            true => Ok((stream, encryption)),
            false => Err(encryption.cause()),
        }
    }
}

/// Waits for the byte that says that the receiver's certificate was checked.
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
    /// Returns the words of the process if it has ended with a failure, or does so within a moment.
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

    /// Returns the words of a process that has given up.
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
