//! The other side: asking a JVM what was executed.

use super::{Command, DONE, HEADER};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long connecting may take, and how long the JVM may say nothing.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long the whole answer may take.
const ANSWER: Duration = Duration::from_secs(120);
/// Longest answer, in bytes.
const LIMIT: usize = 1 << 30;
/// Bytes read in one go.
const CHUNK: usize = 1 << 16;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// Nobody listens there.
    #[error("nobody listens there: {0}")]
    Connect(#[source] io::Error),
    /// The connection was lost, or the time is over.
    #[error("the connection was lost: {0}")]
    Lost(#[source] io::Error),
    /// Whoever listens speaks another protocol.
    #[error("whoever listens there does not speak JaCoCo's protocol")]
    Stranger,
    /// The other side closed the connection before the end of its answer.
    #[error("the answer ends after {0} bytes, before its end")]
    CutOff(usize),
    /// The answer is longer than any `.exec` file that would be believed.
    #[error("the answer is longer than {LIMIT} bytes")]
    TooLong,
    /// The time is over.
    #[error("the answer took longer than {} s", ANSWER.as_secs())]
    TooSlow,
}

/// Sends one command; the answer is what an `.exec` file holds.
///
/// # Errors
/// See [`AskError`].
pub fn ask(address: SocketAddr, command: Command) -> Result<Vec<u8>, AskError> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).map_err(AskError::Connect)?;
    let request = [&HEADER[..], &command.to_bytes()].concat();
    let begun = stream
        .set_read_timeout(Some(PATIENCE))
        .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
        .and_then(|()| stream.write_all(&request))
        // So that the other side closes the connection behind its answer, which has no length.
        .and_then(|()| stream.shutdown(Shutdown::Write));
    begun.map_err(AskError::Lost)?;
    let mut answer = read_to_end(&mut stream)?;
    if !HEADER.starts_with(answer.get(..HEADER.len()).unwrap_or(&answer)) {
        return Err(AskError::Stranger);
    }
    if answer.len() <= HEADER.len() || answer.pop() != Some(DONE) {
        return Err(AskError::CutOff(answer.len()));
    }
    Ok(answer)
}

fn read_to_end(stream: &mut TcpStream) -> Result<Vec<u8>, AskError> {
    let begun = Instant::now();
    let (mut answer, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    loop {
        match stream.read(&mut chunk) {
            Ok(0) => return Ok(answer),
            Ok(length) => answer.extend(chunk.iter().take(length)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(AskError::Lost(error)),
        }
        let known = answer.len().min(HEADER.len());
        if answer.get(..known) != HEADER.get(..known) {
            return Err(AskError::Stranger);
        }
        if answer.len() > LIMIT {
            return Err(AskError::TooLong);
        }
        if begun.elapsed() > ANSWER {
            return Err(AskError::TooSlow);
        }
    }
}
