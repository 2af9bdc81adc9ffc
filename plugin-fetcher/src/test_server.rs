//! An HTTP server that answers each request with bytes chosen by the test.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A request without a body.
pub struct Request {
    pub path: String,
    /// The header `Host`.
    pub host: String,
    /// The header `Authorization`.
    pub authorization: Option<String>,
}

/// A server on this machine; it runs until the process ends.
pub struct Server {
    port: u16,
    count: Arc<AtomicUsize>,
}

impl Server {
    /// Starts the server on a free port.
    pub fn start(answer: impl Fn(&Request) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(request) = read(&mut stream) else {
                    continue;
                };
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.write_all(&answer(&request)); // a client that has read enough closes the connection
            }
        });
        Self { port, count }
    }

    /// The URL of a path on this server.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.host())
    }

    /// The server's host and port.
    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The number of requests so far.
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }
}

fn read(stream: &mut impl Read) -> Option<Request> {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let path = lines.next()?.split(' ').nth(1)?.to_owned();
    let mut request = Request {
        path,
        host: String::new(),
        authorization: None,
    };
    for line in lines.take_while(|line| !line.is_empty()) {
        match line.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                request.authorization = Some(value.to_owned());
            }
            Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                value.clone_into(&mut request.host)
            }
            _ => {}
        }
    }
    Some(request)
}

/// A complete response with a length, after which the connection closes.
pub fn reply(status: u16, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let headers: String = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"))
        .collect();
    let head = format!(
        "HTTP/1.1 {status} Text\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
