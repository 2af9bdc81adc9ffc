//! A registry of OCI artifacts: Debian's `docker-registry`, which `cargo xtask corpus` fetches.

use crate::workspace::target;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A running registry; it ends on drop.
#[derive(Debug)]
pub struct Registry {
    child: Child,
    /// Host and port.
    pub host: String,
}

impl Registry {
    /// Starts a registry that stores its content in this folder.
    ///
    /// # Panics
    /// If the program is missing, or does not answer.
    pub fn start(folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0")
            .expect("a port")
            .local_addr();
        let host = port.expect("an address").to_string();
        let settings = folder.join("registry.yml");
        let text = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: {host}\n",
            folder.join("storage").display()
        );
        std::fs::write(&settings, text).expect("written");
        let program = target("docker-registry/usr/bin/docker-registry");
        let mut command = Command::new(&program);
        command
            .arg("serve")
            .arg(&settings)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let child = command.spawn().unwrap_or_else(|error| {
            panic!("{}: {error}; run `cargo xtask corpus`", program.display())
        });
        let mut registry = Self { child, host };
        while TcpStream::connect(&registry.host).is_err() {
            let ended = registry.child.try_wait().expect("our own child");
            assert!(ended.is_none(), "the registry ended: {ended:?}");
            std::thread::yield_now();
        }
        registry
    }

    /// Uploads a blob to a repository.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn blob(&self, repository: &str, digest: &str, content: &[u8]) {
        let begun = self.send(
            "POST",
            &format!("/v2/{repository}/blobs/uploads/"),
            "text/plain",
            b"",
        );
        let location = begun
            .lines()
            .find_map(|line| line.strip_prefix("Location: "));
        let location = location.unwrap_or_else(|| panic!("no upload: {begun}"));
        let path = location.split(&self.host).last().expect("a path");
        let path = format!("{path}&digest={}", digest.replace(':', "%3A"));
        let answer = self.send("PUT", &path, "application/octet-stream", content);
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    /// Uploads a manifest to a repository.
    ///
    /// # Panics
    /// If the registry refuses it.
    pub fn manifest(&self, repository: &str, tag: &str, manifest: &str) {
        let path = format!("/v2/{repository}/manifests/{tag}");
        let kind = "application/vnd.oci.image.manifest.v1+json";
        let answer = self.send("PUT", &path, kind, manifest.as_bytes());
        assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    }

    fn send(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> String {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.host,
            body.len()
        );
        stream.write_all(head.as_bytes()).expect("sent");
        stream.write_all(body).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("text");
        answer.replace("\r\n", "\n")
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it may have ended
        let _ = self.child.wait();
    }
}
