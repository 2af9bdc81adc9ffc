//! The client's side: requests the coverage data of a JVM.

use super::{Command, DONE, HEADER};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// Timeout for connecting, and for each read and write.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for the whole answer.
const ANSWER: Duration = Duration::from_secs(120);
/// Longest answer, in bytes.
const LIMIT: usize = 1 << 30;
/// Size of one read, in bytes.
const CHUNK: usize = 1 << 16;

/// The reason why a command got no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AskError {
    /// No process listens at the address.
    #[error("no process listens at this address: {0}")]
    Connect(#[source] io::Error),
    /// The connection was lost, or a read or write timed out.
    #[error("the connection was lost: {0}")]
    Lost(#[source] io::Error),
    /// The server speaks another protocol.
    #[error("the server at this address does not speak JaCoCo's protocol")]
    Stranger,
    /// The server closed the connection before the end of its answer.
    #[error("the answer is cut off after {0} bytes")]
    CutOff(usize),
    /// The answer is longer than `LIMIT`, which no plausible `.exec` file reaches.
    #[error("the answer is longer than {LIMIT} bytes")]
    TooLong,
    /// The whole answer took longer than `ANSWER`.
    #[error("the answer took longer than {} s", ANSWER.as_secs())]
    TooSlow,
}

/// Sends one command and returns the blocks of an `.exec` file, with its header.
///
/// # Errors
///
/// See [`AskError`].
pub fn ask(address: SocketAddr, command: Command) -> Result<Vec<u8>, AskError> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).map_err(AskError::Connect)?;
    let request = [&HEADER[..], &command.to_bytes()].concat();
    let begun = stream
        .set_read_timeout(Some(TIMEOUT))
        .and_then(|()| stream.set_write_timeout(Some(TIMEOUT)))
        .and_then(|()| stream.write_all(&request))
        // The answer has no length: the server closes the connection behind it once the client sends no more.
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
