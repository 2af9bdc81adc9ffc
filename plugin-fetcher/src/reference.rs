//! References to artifacts in a registry: `oci://HOST[:PORT]/REPOSITORY[:TAG][@sha256:DIGEST]`.

use crate::failure::Failure;

/// The scheme of every reference.
pub const SCHEME: &str = "oci://";
/// The default tag.
const LATEST: &str = "latest";

/// A reference to an artifact in a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The registry, with its port if it has one.
    pub host: String,
    /// The repository's name, with slashes.
    pub repository: String,
    /// The tag; `None` if the reference has a digest and no tag.
    pub tag: Option<String>,
    /// The digest of the manifest, as `sha256:…`.
    pub digest: Option<String>,
}

impl Reference {
    /// Parses a reference.
    ///
    /// # Errors
    /// If the text is no reference.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let wrong = |what: &str| {
            Failure::new(what)
                .expected("oci://HOST/REPOSITORY:TAG or oci://HOST/REPOSITORY@sha256:DIGEST")
        };
        let rest = text.strip_prefix(SCHEME).unwrap_or(text);
        let (host, rest) = rest.split_once('/').ok_or_else(|| wrong("no repository"))?;
        let (rest, digest) = match rest.split_once('@') {
            Some((rest, digest)) => (rest, Some(digest)),
            None => (rest, None),
        };
        let (repository, tag) = match rest.rsplit_once(':') {
            Some((repository, tag)) => (repository, Some(tag)),
            None => (rest, None),
        };
        if host.is_empty()
            || !host
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte))
        {
            return Err(wrong("no host"));
        }
        let part = |part: &str| !part.is_empty() && part != ".." && part.bytes().all(is_name_byte);
        if !repository.split('/').all(part) {
            return Err(wrong("no name of a repository"));
        }
        if tag.is_some_and(|tag| tag.len() > 128 || !part(tag)) {
            return Err(wrong("no tag"));
        }
        if digest.is_some_and(|digest| !is_digest(digest)) {
            return Err(wrong("no digest"));
        }
        let tag = tag.or((digest.is_none()).then_some(LATEST));
        Ok(Self {
            host: host.to_owned(),
            repository: repository.to_owned(),
            tag: tag.map(str::to_owned),
            digest: digest.map(str::to_owned),
        })
    }

    /// Checks whether the registry is on this machine, so that plain HTTP is allowed.
    pub fn is_local(&self) -> bool {
        is_local(&self.host)
    }

    /// The manifest's name in a request: the digest, else the tag.
    pub fn manifest(&self) -> &str {
        let tag = self.tag.as_deref().unwrap_or(LATEST);
        self.digest.as_deref().unwrap_or(tag)
    }
}

/// Checks whether a host, with or without a port, is this machine.
pub fn is_local(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<std::net::IpAddr>();
    name == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

/// Checks whether a text is `sha256:` and 64 lower-case hexadecimal digits.
pub fn is_digest(text: &str) -> bool {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    digits.len() == 64
        && digits
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._-".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reference_names_registry_repository_and_manifest() {
        let read = |text: &str| Reference::read(text).unwrap();
        let timer = read("oci://registry.example.com/acme/sql-timer:1.2");
        assert_eq!(timer.host, "registry.example.com");
        assert_eq!(timer.repository, "acme/sql-timer");
        assert_eq!((timer.manifest(), timer.is_local()), ("1.2", false));
        let local = read("oci://localhost:5000/timer");
        assert_eq!((local.manifest(), local.is_local()), ("latest", true));
        assert!(read("oci://[::1]:5000/a").is_local() && read("oci://127.0.0.1/a").is_local());
        assert!(!read("oci://localhost.example.com/a").is_local());
        let digest = format!("sha256:{}", "ab".repeat(32));
        let pinned = read(&format!("oci://example.com/a:1@{digest}"));
        assert_eq!(
            (pinned.manifest(), pinned.tag.as_deref()),
            (&*digest, Some("1"))
        );
    }

    #[test]
    fn text_that_is_no_reference_is_refused() {
        for wrong in [
            "oci://example.com",
            "oci:///a",
            "oci://me:secret@example.com/a",
            "oci://example.com/",
            "oci://example.com/../a",
            "oci://example.com/a?b",
            "oci://example.com/a:",
            "oci://example.com/a@sha256:ab",
            "oci://example.com/a@sha512:ab",
        ] {
            assert!(Reference::read(wrong).is_err(), "{wrong}");
        }
    }
}
