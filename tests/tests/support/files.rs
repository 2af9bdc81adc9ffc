//! A file server whose content a test replaces.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// The content of each path.
pub type Files = HashMap<String, Vec<u8>>;

/// A server on this machine; it runs until the process ends.
pub struct FileServer {
    /// The URL without a path.
    pub url: String,
    files: Arc<Mutex<Files>>,
}

impl FileServer {
    /// Replaces the content of a path.
    pub fn exchange(&self, path: &str, content: Vec<u8>) {
        let mut files = self.files.lock().expect("no panic");
        files.insert(path.to_owned(), content);
    }
}

/// Starts the server.
pub fn serve(files: Files) -> FileServer {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let files = Arc::new(Mutex::new(files));
    let served = Arc::clone(&files);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &served); // the client may have closed
        }
    });
    FileServer { url, files }
}

fn answer(mut stream: TcpStream, files: &Mutex<Files>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    let first = lines.next().transpose()?.unwrap_or_default();
    for line in lines {
        if line?.is_empty() {
            break;
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default();
    let found = files.lock().expect("no panic").get(path).cloned();
    let status = if found.is_some() {
        "200 OK"
    } else {
        "404 Not Found"
    };
    let body = found.unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(&body)
}
