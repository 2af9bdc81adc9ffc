//! The address of a receiver.

use std::fmt;
use std::path::PathBuf;

/// The address of a receiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `tcp://HOST:PORT`: always encrypted.
    Tcp(String),
    /// `unix:PATH`: a Unix domain socket, protected by its file permissions.
    Unix(PathBuf),
}

impl Address {
    /// Reads `tcp://HOST:PORT` or `unix:PATH`.
    ///
    /// # Errors
    /// A sentence with the expected forms.
    pub fn parse(text: &str) -> Result<Self, String> {
        let expected = || format!("`{text}` is neither tcp://HOST:PORT nor unix:PATH");
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(expected()),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let authority = text.strip_prefix("tcp://").ok_or_else(expected)?;
        let (host, port) = authority.rsplit_once(':').ok_or_else(expected)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        let is_host = !bare.unwrap_or(host).is_empty()
            && (bare.is_some() || !host.contains(':'))
            && !host.contains(['/', '@', ' ']);
        match is_host && port.parse::<u16>().is_ok() {
            true => Ok(Self::Tcp(authority.to_owned())),
            false => Err(expected()),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(authority) => write!(f, "tcp://{authority}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_others_refused() {
        let tcp = |text: &str| Ok(Address::Tcp(text.to_owned()));
        assert_eq!(Address::parse("tcp://a.example:7"), tcp("a.example:7"));
        assert_eq!(Address::parse("tcp://[::1]:7"), tcp("[::1]:7"));
        assert_eq!(
            Address::parse("unix:/a b"),
            Ok(Address::Unix("/a b".into()))
        );
        for wrong in [
            "",
            "unix:",
            "tcp://",
            "tcp://a",
            "tcp://:7",
            "tcp://a:70000",
            "tcp://::1:7",
            "http://a:7",
            "tcp://me@a:7",
            "tcp://a/b:7",
        ] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
