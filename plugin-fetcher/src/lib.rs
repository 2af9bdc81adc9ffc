//! Fetches the components of plugins from the network, for `classhook plugin add`.
//!
//! | module | |
//! |---|---|
//! | `http` | requests, their limits, and the trusted certificates |
//! | `registry` | the requests of the OCI distribution specification, for a `reference`, with `credentials` |
//! | `failure` | reasons why no component was fetched |

mod credentials;
mod failure;
mod http;
mod reference;
mod registry;
#[cfg(test)]
mod test_server;

use std::path::Path;

use http::Http;
use reference::{Reference, SCHEME};

pub use failure::Failure;

/// Fetches a component of at most `most` bytes from a URL or an OCI reference into the new file `to`. Returns its
/// version, if the registry names one.
///
/// With a digest (SHA-256, hexadecimal) a registry is asked for this component alone. The caller checks the digest.
///
/// # Errors
/// The cause for which there is no component.
pub fn fetch(
    source: &str,
    to: &Path,
    most: u64,
    digest: Option<&str>,
) -> Result<Option<String>, Failure> {
    if source.starts_with(SCHEME) {
        return registry::fetch(&Reference::read(source)?, to, most, digest);
    }
    check(source)?;
    let http = Http::new(source.starts_with("https://"))?;
    http.get(source, &[])?.only_found()?.write(to, most)?; // the caller checks the digest
    Ok(None)
}

/// Refuses a URL with credentials: `classhook.lock` keeps the URL, and users share that file.
fn check(url: &str) -> Result<(), Failure> {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err(Failure::new("a user or password in the URL")
            .expected("a URL that can be shown to others: it is kept in classhook.lock")
            .help("fetch the component by other means, and add the file"));
    }
    if authority.is_empty() {
        return Err(Failure::new("no server in the URL").expected("https://HOST/PATH"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_server::{Server, reply};

    fn failed(source: &str) -> Failure {
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("x.wasm");
        fetch(source, &to, 1000, None).unwrap_err()
    }

    #[test]
    fn body_is_written_and_an_existing_file_is_kept() {
        let server = Server::start(|_| reply(200, &[], b"component"));
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("x.wasm");
        let url = server.url("/x.wasm");
        assert_eq!(fetch(&url, &to, 1000, None), Ok(None));
        assert_eq!(std::fs::read(&to).unwrap(), b"component");
        let again = fetch(&url, &to, 1000, None).unwrap_err();
        assert!(again.found.contains("exists"), "{again:?}");
    }

    #[test]
    fn redirects_are_followed_but_not_without_end() {
        let server = Server::start(|request| match request.path.as_str() {
            "/a" => reply(302, &[("Location", "/b")], b""),
            "/b" => reply(200, &[], b"component"),
            _ => reply(301, &[("Location", "/round")], b""),
        });
        let folder = tempfile::tempdir().unwrap();
        let to = folder.path().join("x.wasm");
        fetch(&server.url("/a"), &to, 1000, None).unwrap();
        assert_eq!(std::fs::read(&to).unwrap(), b"component");
        let round = failed(&server.url("/round"));
        assert!(round.found.contains("redirect"), "{round:?}");
        assert!(server.count() < 20);
    }

    #[test]
    fn too_large_body_is_refused_with_and_without_an_announced_length() {
        let server = Server::start(|request| match request.path.as_str() {
            "/told" => reply(200, &[], &[0; 1001]),
            "/huge" => b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999\r\n\r\nx".to_vec(),
            _ => {
                let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
                for _ in 0..1000 {
                    answer.extend(b"2\r\nxx\r\n");
                }
                answer
            }
        });
        for path in ["/told", "/huge", "/chunks"] {
            let failure = failed(&server.url(path));
            assert!(failure.found.contains("bytes"), "{path}: {failure:?}");
            assert_eq!(failure.expected.as_deref(), Some("at most 1000 bytes"));
        }
    }

    #[test]
    fn broken_answers_are_reported_with_their_cause() {
        let server = Server::start(|request| match request.path.as_str() {
            "/short" => b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc".to_vec(),
            "/garbage" => b"\x00\x01\x02 what?\r\n\r\n".to_vec(),
            "/nothing" => Vec::new(),
            "/head" => [b"HTTP/1.1 200 OK\r\nX: ".as_slice(), &[b'x'; 1 << 20]].concat(),
            _ => reply(404, &[], b"\x1b[2Jno"),
        });
        let missing = failed(&server.url("/no"));
        assert_eq!(missing.found, "the server answers 404 Not Found");
        for path in ["/short", "/garbage", "/nothing", "/head"] {
            let failure = failed(&server.url(path));
            assert!(
                failure.found.starts_with("no answer") || failure.found.contains("end"),
                "{path}: {failure:?}"
            );
        }
    }

    #[test]
    fn wrong_urls_are_refused_before_any_request() {
        for (url, found) in [
            ("https://me:secret@example.com/x.wasm", "password"),
            ("https:///x.wasm", "no server"),
            ("http://127.0.0.1:1/x.wasm", "no answer"),
            ("http://no-such-host.invalid/x.wasm", "no answer"),
            ("http://a b/x.wasm", "no answer"),
            ("oci://example.com", "no repository"),
        ] {
            let failure = failed(url);
            assert!(failure.found.contains(found), "{url}: {failure:?}");
        }
    }

    #[test]
    fn encrypted_source_stays_encrypted() {
        let http = Http::new(true).unwrap();
        let server = Server::start(|_| reply(200, &[], b"component"));
        let failure = http.get(&server.url("/"), &[]).unwrap_err();
        assert!(failure.found.contains("https"), "{failure:?}");
        assert_eq!(server.count(), 0);
    }
}
