//! An OTLP receiver in the test's own process: handwritten HTTP/1.1, and gRPC on the server of `h2`.

use h2::server;
use http::{HeaderMap, Response};
use opentelemetry_proto::tonic::collector::metrics::v1::{
    ExportMetricsPartialSuccess, ExportMetricsServiceRequest, ExportMetricsServiceResponse,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTracePartialSuccess, ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The treatment of requests.
#[derive(Debug, Clone, Copy)]
pub enum Behaviour {
    /// Accepts requests.
    Takes,
    /// Refuses requests with this HTTP status, and the gRPC status that corresponds.
    Refuses(u16),
    /// Refuses this number of requests as temporarily unavailable, then accepts.
    Later(usize),
    /// Accepts requests, but rejects one span or data point of each.
    Rejects,
    /// Never answers.
    Waits,
}

/// The received requests.
#[derive(Debug, Default)]
pub struct Received {
    pub traces: Vec<ExportTraceServiceRequest>,
    pub metrics: Vec<ExportMetricsServiceRequest>,
    /// Number of requests, accepted or not.
    pub requests: usize,
    /// Headers of the last request.
    pub headers: HashMap<String, String>,
}

/// A receiver that runs as long as the test.
#[derive(Debug, Clone)]
pub struct Receiver {
    pub url: String,
    behaviour: Behaviour,
    received: Arc<Mutex<Received>>,
}

/// An answer in either protocol.
struct Answer {
    status: u16,
    grpc: u8,
    body: Vec<u8>,
}

impl Receiver {
    /// Starts a receiver for HTTP/1.1.
    pub fn http(behaviour: Behaviour) -> Self {
        let (receiver, listener) = Self::listen(behaviour);
        let theirs = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let receiver = theirs.clone();
                thread::spawn(move || receiver.serve_http(stream.expect("a connection")));
            }
        });
        receiver
    }

    /// Starts a receiver for gRPC.
    pub fn grpc(behaviour: Behaviour) -> Self {
        let (receiver, listener) = Self::listen(behaviour);
        let theirs = receiver.clone();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let receiver = theirs.clone();
                thread::spawn(move || receiver.serve_grpc(stream.expect("a connection")));
            }
        });
        receiver
    }

    fn listen(behaviour: Behaviour) -> (Self, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let receiver = Self {
            url: format!("http://{}", listener.local_addr().expect("its port")),
            behaviour,
            received: Arc::default(),
        };
        (receiver, listener)
    }

    /// Returns the requests so far.
    pub fn received(&self) -> std::sync::MutexGuard<'_, Received> {
        self.received.lock().expect("no thread panicked")
    }

    fn serve_http(&self, stream: TcpStream) {
        let mut input = BufReader::new(stream.try_clone().expect("a handle"));
        let mut output = stream;
        while let Some((path, headers)) = head(&mut input) {
            assert_eq!(headers["content-type"], "application/x-protobuf");
            let mut body = vec![0; headers["content-length"].parse().expect("a number")];
            input.read_exact(&mut body).expect("a whole body");
            let answer = match path.as_str() {
                "/v1/traces" => self.traces(&body, headers),
                "/v1/metrics" => self.metrics(&body, headers),
                other => panic!("an unknown path {other}"),
            };
            let Answer { status, body, .. } = answer;
            let kind = if status == 200 {
                "application/x-protobuf"
            } else {
                "text/plain"
            };
            let head = format!(
                "HTTP/1.1 {status} Words\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let written = output.write_all(&[head.as_bytes(), &body].concat());
            if written.is_err() {
                return; // the client has closed
            }
        }
    }

    fn serve_grpc(&self, stream: TcpStream) {
        stream.set_nonblocking(true).expect("a socket");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        runtime.block_on(async {
            let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
            let Ok(mut connection) = server::handshake(stream).await else {
                return;
            };
            while let Some(Ok((request, respond))) = connection.accept().await {
                let receiver = self.clone();
                tokio::spawn(async move { receiver.call(request, respond).await });
            }
        });
    }

    async fn call(
        &self,
        request: http::Request<h2::RecvStream>,
        mut respond: server::SendResponse<bytes::Bytes>,
    ) {
        let (parts, mut stream) = request.into_parts();
        let mut body = Vec::new();
        while let Some(data) = stream.data().await {
            let data = data.expect("a whole body");
            body.extend_from_slice(&data);
            let _ = stream.flow_control().release_capacity(data.len());
        }
        let headers = parts
            .headers
            .iter()
            .map(|(name, value)| (name.to_string(), value.to_str().expect("text").to_owned()));
        let headers: HashMap<String, String> = headers.collect();
        assert_eq!(headers["content-type"], "application/grpc");
        let length = u32::from_be_bytes(body[1..5].try_into().expect("four bytes"));
        assert_eq!((body[0], length as usize), (0, body.len() - 5));
        let answer = match parts.uri.path() {
            "/opentelemetry.proto.collector.trace.v1.TraceService/Export" => {
                self.traces(&body[5..], headers)
            }
            "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export" => {
                self.metrics(&body[5..], headers)
            }
            other => panic!("an unknown path {other}"),
        };
        let mut trailers = HeaderMap::new();
        trailers.insert("grpc-status", u16::from(answer.grpc).into());
        let head = Response::builder().header("content-type", "application/grpc");
        let mut out = respond
            .send_response(head.body(()).expect("a head"), false)
            .expect("a stream");
        if answer.grpc == 0 {
            let length = u32::try_from(answer.body.len())
                .expect("a short answer")
                .to_be_bytes();
            let framed = [&[0][..], &length, &answer.body].concat();
            out.send_data(framed.into(), false).expect("a stream");
        } else {
            let words = String::from_utf8(answer.body)
                .expect("text")
                .replace(' ', "%20");
            trailers.insert("grpc-message", words.parse().expect("a value"));
        }
        out.send_trailers(trailers).expect("a stream");
    }

    fn traces(&self, body: &[u8], headers: HashMap<String, String>) -> Answer {
        let request = ExportTraceServiceRequest::decode(body).expect("a request");
        let response = ExportTraceServiceResponse {
            partial_success: matches!(self.behaviour, Behaviour::Rejects).then(|| {
                ExportTracePartialSuccess {
                    rejected_spans: 1,
                    error_message: "one is too old".to_owned(),
                }
            }),
        };
        self.answer(headers, response.encode_to_vec(), |received| {
            received.traces.push(request)
        })
    }

    fn metrics(&self, body: &[u8], headers: HashMap<String, String>) -> Answer {
        let request = ExportMetricsServiceRequest::decode(body).expect("a request");
        let response = ExportMetricsServiceResponse {
            partial_success: matches!(self.behaviour, Behaviour::Rejects).then(|| {
                ExportMetricsPartialSuccess {
                    rejected_data_points: 1,
                    error_message: "one is too new".to_owned(),
                }
            }),
        };
        self.answer(headers, response.encode_to_vec(), |received| {
            received.metrics.push(request)
        })
    }

    fn answer(
        &self,
        headers: HashMap<String, String>,
        response: Vec<u8>,
        keep: impl FnOnce(&mut Received),
    ) -> Answer {
        let mut received = self.received();
        received.requests += 1;
        received.headers = headers;
        let refused = |status, grpc| Answer {
            status,
            grpc,
            body: b"there is no room".to_vec(),
        };
        match self.behaviour {
            Behaviour::Waits => {
                drop(received);
                loop {
                    thread::park();
                }
            }
            Behaviour::Refuses(status) => refused(status, if status == 400 { 3 } else { 13 }),
            Behaviour::Later(count) if received.requests <= count => refused(503, 14),
            _ => {
                keep(&mut received);
                Answer {
                    status: 200,
                    grpc: 0,
                    body: response,
                }
            }
        }
    }
}

/// Reads path and headers of the next request; `None` at the end.
fn head(input: &mut impl BufRead) -> Option<(String, HashMap<String, String>)> {
    let mut line = String::new();
    input.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = HashMap::new();
    loop {
        line.clear();
        input.read_line(&mut line).ok()?;
        let Some((name, value)) = line.trim_end().split_once(": ") else {
            return Some((path, headers));
        };
        headers.insert(name.to_lowercase(), value.to_owned());
    }
}
