//! OTLP requests and answers over a persistent connection: HTTP/1.1 with protocol buffers, and
//! gRPC.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::client::conn::{http1, http2};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderValue, RETRY_AFTER, TE, USER_AGENT};
use hyper::{Request, Response, StatusCode, rt};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::endpoint::{Endpoint, Protocol};

/// Length limit of an answer, in bytes.
const ANSWER: usize = 1 << 16;
/// Length limit of displayed text from an answer, in characters.
const SHOWN: usize = 200;
/// gRPC puts a flag (compressed or not) and the length in front of each message.
const FRAME: usize = 5;

/// Sends requests to one endpoint.
#[derive(Debug)]
pub struct Client {
    endpoint: Endpoint,
    connection: Option<Connection>,
}

#[derive(Debug)]
enum Connection {
    Http(http1::SendRequest<Full<Bytes>>),
    Grpc(http2::SendRequest<Full<Bytes>>),
}

/// The failure of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Message of the receiver or the network.
    pub cause: String,
    /// Possible recovery.
    pub remedy: Remedy,
}

/// Recovery from a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The same request would fail again.
    Nothing,
    /// The receiver requests a later attempt, possibly after this time.
    Later(Option<Duration>),
    /// The connection is lost.
    Reconnect,
}

impl Failure {
    fn network(what: &str, error: &(dyn Error + 'static)) -> Self {
        Self {
            cause: format!("{what}: {}", chain(error)),
            remedy: Remedy::Reconnect,
        }
    }
}

impl Client {
    /// Creates a client, which connects for the first request.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self {
            endpoint,
            connection: None,
        }
    }

    /// Sends an encoded message, and returns the encoded answer.
    ///
    /// # Errors
    /// If the receiver rejects it, or does not answer in time.
    pub async fn send(&mut self, message: &[u8]) -> Result<Bytes, Failure> {
        let was_kept = self.connection.is_some();
        match self.send_in_time(message).await {
            // The receiver may have closed an idle connection.
            Err(failure) if was_kept && failure.remedy == Remedy::Reconnect => {
                self.send_in_time(message).await
            }
            outcome => outcome,
        }
    }

    async fn send_in_time(&mut self, message: &[u8]) -> Result<Bytes, Failure> {
        let time = self.endpoint.timeout;
        let outcome = tokio::time::timeout(time, self.exchange(message)).await;
        let outcome = outcome.unwrap_or_else(|_| {
            Err(Failure {
                cause: format!("no answer within {time:?}"),
                remedy: Remedy::Later(None),
            })
        });
        if outcome.is_err() {
            self.connection = None;
        }
        outcome
    }

    async fn exchange(&mut self, message: &[u8]) -> Result<Bytes, Failure> {
        let request = self.request(message)?;
        let mut connection = match self.connection.take() {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        let response = match &mut connection {
            Connection::Http(sender) => match sender.ready().await {
                Ok(()) => sender.send_request(request).await,
                Err(error) => Err(error),
            },
            Connection::Grpc(sender) => match sender.ready().await {
                Ok(()) => sender.send_request(request).await,
                Err(error) => Err(error),
            },
        };
        let response = match response {
            Ok(response) => response,
            Err(error) => return Err(Failure::network("no answer", &error)),
        };
        let answer = match self.endpoint.protocol {
            Protocol::Http => http_answer(response).await,
            Protocol::Grpc => grpc_answer(response).await,
        };
        self.connection = Some(connection);
        answer
    }

    async fn connect(&mut self) -> Result<Connection, Failure> {
        let (address, protocol) = (self.endpoint.address(), self.endpoint.protocol);
        let stream = TcpStream::connect(address).await;
        let stream = stream.map_err(|error| Failure::network("cannot connect", &error))?;
        let _ = stream.set_nodelay(true); // it only waits a little longer without
        if let Some(tls) = &self.endpoint.tls {
            let encrypted = tls.encrypt(stream, address.0, protocol.in_handshakes());
            let encrypted = encrypted.await.map_err(|cause| Failure {
                cause: format!("cannot connect: {cause}"),
                remedy: Remedy::Reconnect,
            })?;
            return self.shake_hands(TokioIo::new(encrypted)).await;
        }
        self.shake_hands(TokioIo::new(stream)).await
    }

    async fn shake_hands<S>(&self, io: TokioIo<S>) -> Result<Connection, Failure>
    where
        TokioIo<S>: rt::Read + rt::Write + Unpin + Send + 'static,
    {
        let failed = |error: hyper::Error| Failure::network("cannot connect", &error);
        match self.endpoint.protocol {
            Protocol::Http => {
                let (sender, driver) = http1::handshake(io).await.map_err(failed)?;
                tokio::spawn(driver);
                Ok(Connection::Http(sender))
            }
            Protocol::Grpc => {
                let handshake = http2::handshake(TokioExecutor::new(), io);
                let (sender, driver) = handshake.await.map_err(failed)?;
                tokio::spawn(driver);
                Ok(Connection::Grpc(sender))
            }
        }
    }

    fn request(&self, message: &[u8]) -> Result<Request<Full<Bytes>>, Failure> {
        const AGENT: &str = concat!("classhook/", env!("CARGO_PKG_VERSION"));
        let uri = &self.endpoint.uri;
        let request = match self.endpoint.protocol {
            Protocol::Http => {
                let path = uri.path_and_query().map_or("/", |path| path.as_str());
                let authority = uri.authority().map_or("", |authority| authority.as_str());
                Request::post(path)
                    .header(HOST, authority)
                    .header(CONTENT_TYPE, "application/x-protobuf")
            }
            Protocol::Grpc => Request::post(uri.clone())
                .header(CONTENT_TYPE, "application/grpc")
                .header(TE, "trailers"),
        };
        let mut request = request.header(USER_AGENT, AGENT);
        for (name, value) in &self.endpoint.headers {
            request = request.header(name, value);
        }
        let body = match self.endpoint.protocol {
            Protocol::Http => message.to_vec(),
            Protocol::Grpc => framed(message),
        };
        let request = request.body(Full::new(Bytes::from(body)));
        request.map_err(|error| Failure {
            cause: chain(&error),
            remedy: Remedy::Nothing,
        })
    }
}

/// Formats an uncompressed message of gRPC.
fn framed(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap_or(u32::MAX);
    let mut framed = Vec::with_capacity(FRAME + message.len());
    framed.push(0);
    framed.extend_from_slice(&length.to_be_bytes());
    framed.extend_from_slice(message);
    framed
}

async fn http_answer(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let (parts, body) = response.into_parts();
    let (body, _) = read(body).await?;
    if parts.status.is_success() {
        return Ok(body);
    }
    let is_text = parts
        .headers
        .get(CONTENT_TYPE)
        .is_none_or(|kind| !kind.as_bytes().ends_with(b"protobuf"));
    let text = if is_text {
        shown(&body)
    } else {
        status_message(&body)
    };
    Err(refused(parts.status, &parts.headers, &text))
}

/// Returns the failure for an HTTP error status, with OTLP's recovery for it.
fn refused(status: StatusCode, headers: &HeaderMap, text: &str) -> Failure {
    let separator = if text.is_empty() { "" } else { ": " };
    let remedy = match status.as_u16() {
        429 | 502 | 503 | 504 => Remedy::Later(retry_after(headers)),
        _ => Remedy::Nothing,
    };
    Failure {
        cause: format!("HTTP {status}{separator}{text}"),
        remedy,
    }
}

fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse();
    seconds.ok().map(Duration::from_secs)
}

async fn grpc_answer(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let (parts, body) = response.into_parts();
    if parts.status != StatusCode::OK {
        return Err(refused(parts.status, &parts.headers, "no gRPC answer"));
    }
    let (body, trailers) = read(body).await?;
    let trailers = trailers.as_ref().unwrap_or(&parts.headers);
    let code = trailers
        .get("grpc-status")
        .or_else(|| parts.headers.get("grpc-status"));
    let code = code.and_then(|code| code.to_str().ok()?.parse::<usize>().ok());
    match code {
        Some(0) => unframed(&body),
        Some(code) => Err(Failure {
            cause: format!(
                "gRPC {}{}",
                name_of(code),
                message_of(trailers.get("grpc-message"))
            ),
            remedy: remedy_of(code),
        }),
        None => Err(Failure {
            cause: "no gRPC status in the answer".to_owned(),
            remedy: Remedy::Nothing,
        }),
    }
}

/// Returns the message in the body of an answer.
fn unframed(body: &Bytes) -> Result<Bytes, Failure> {
    match body.first() {
        None => Ok(Bytes::new()),
        Some(0) if body.len() >= FRAME => Ok(body.slice(FRAME..)),
        Some(_) => Err(Failure {
            cause: "a compressed or truncated gRPC answer".to_owned(),
            remedy: Remedy::Nothing,
        }),
    }
}

/// The codes of gRPC, by number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

fn name_of(code: usize) -> String {
    let name = CODES.get(code).map(|name| (*name).to_owned());
    name.unwrap_or_else(|| format!("status {code}"))
}

/// Returns OTLP's recovery for a status code.
fn remedy_of(code: usize) -> Remedy {
    match name_of(code).as_str() {
        "CANCELLED" | "DEADLINE_EXCEEDED" | "ABORTED" | "OUT_OF_RANGE" | "UNAVAILABLE"
        | "DATA_LOSS" => Remedy::Later(None),
        _ => Remedy::Nothing,
    }
}

/// Formats `: text` from gRPC's message, which encodes special characters as `%XX`.
fn message_of(message: Option<&HeaderValue>) -> String {
    let text = message
        .and_then(|message| message.to_str().ok())
        .unwrap_or_default();
    let text = super::endpoint::decoded(text).unwrap_or_else(|| text.to_owned());
    match text.is_empty() {
        true => text,
        false => format!(": {}", shown(text.as_bytes())),
    }
}

async fn read(body: Incoming) -> Result<(Bytes, Option<HeaderMap>), Failure>
where
    Incoming: Body,
{
    let collected = Limited::new(body, ANSWER).collect().await;
    let collected = collected.map_err(|error| Failure::network("incomplete answer", &*error))?;
    let trailers = collected.trailers().cloned();
    Ok((collected.to_bytes(), trailers))
}

/// Returns the text of an answer, shortened.
fn shown(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let text = text.trim();
    let short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short + "…"
    } else {
        short
    }
}

/// Returns the message of a `google.rpc.Status`: field 2, a text.
fn status_message(body: &[u8]) -> String {
    let mut rest = body;
    while let Some((tag, value, after)) = field(rest) {
        if tag == (2 << 3) | 2 {
            return shown(value);
        }
        rest = after;
    }
    String::new()
}

/// Splits off the first field of a protocol buffers message: tag, content if it has a length, and
/// the rest.
fn field(bytes: &[u8]) -> Option<(u64, &[u8], &[u8])> {
    let (tag, rest) = varint(bytes)?;
    let (number, rest) = varint(rest)?;
    match tag & 7 {
        0 => Some((tag, &[], rest)),
        2 => {
            let (value, rest) = rest.split_at_checked(usize::try_from(number).ok()?)?;
            Some((tag, value, rest))
        }
        _ => None,
    }
}

fn varint(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate().take(10) {
        number |= u64::from(byte & 0x7F) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((number, &bytes[at + 1..]));
        }
    }
    None
}

/// Formats an error with its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_of_a_status_is_found() {
        let status = [&[8, 3, 18, 4][..], b"oops", &[26, 1, 0]].concat();
        assert_eq!(status_message(&status), "oops");
        for damaged in [&status[..5], &[18, 0xFF], &[0xFF; 20], &[]] {
            assert_eq!(status_message(damaged), "");
        }
    }

    #[test]
    fn status_determines_the_recovery() {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
        for (status, remedy) in [
            (400, Remedy::Nothing),
            (500, Remedy::Nothing),
            (429, Remedy::Later(Some(Duration::from_secs(7)))),
            (503, Remedy::Later(Some(Duration::from_secs(7)))),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            assert_eq!(refused(status, &headers, "").remedy, remedy, "{status}");
        }
        assert_eq!(remedy_of(14), Remedy::Later(None));
        assert_eq!(
            (remedy_of(3), remedy_of(99)),
            (Remedy::Nothing, Remedy::Nothing)
        );
    }

    #[test]
    fn messages_of_grpc_are_framed_and_decoded() {
        assert_eq!(framed(b"ab"), [0, 0, 0, 0, 2, b'a', b'b']);
        assert_eq!(unframed(&Bytes::from(framed(b"ab"))).unwrap(), "ab");
        assert!(unframed(&Bytes::from_static(&[1, 0])).is_err());
        let message = HeaderValue::from_static("no%20room");
        assert_eq!(message_of(Some(&message)), ": no room");
    }
}
