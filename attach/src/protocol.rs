//! The bytes on the attach socket.
//!
//! Version 1 (every JDK): `1 NUL command NUL a NUL b NUL c NUL`, always three arguments of at most 1,024 bytes.
//!
//! Version 2 (JDK 24 and newer): `2 NUL size NUL command NUL arguments… NUL`, where `size` counts the bytes after its
//! own NUL.
//!
//! The answer to both is a decimal status, a line feed, and text up to the end of the stream.

use crate::error::AttachError;

/// Largest length of an argument of version 1, in bytes (HotSpot's `arg_length_max`).
pub const V1_ARGUMENT_LIMIT: usize = 1024;
/// Number of arguments of every version 1 request (HotSpot's `arg_count_max`).
const V1_ARGUMENTS: usize = 3;

/// A version of the request format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// Three arguments of bounded length.
    V1,
    /// Any number of arguments of any length.
    V2,
}

/// The JVM's answer: its status and the text after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// 0 if the JVM knows the command; the outcome of the command is in `text`.
    pub status: i32,
    /// The text after the first line.
    pub text: String,
}

/// Encodes the request for `command` with `arguments`.
///
/// # Errors
///
/// [`AttachError::ArgumentTooLong`] if version 1 cannot carry an argument, or there are too many arguments.
pub fn request(
    version: Version,
    command: &str,
    arguments: &[&str],
) -> Result<Vec<u8>, AttachError> {
    match version {
        Version::V1 => request_v1(command, arguments),
        Version::V2 => Ok(request_v2(command, arguments)),
    }
}

/// Checks whether version 1 can carry these arguments.
#[must_use]
pub fn fits_v1(arguments: &[&str]) -> bool {
    arguments.len() <= V1_ARGUMENTS
        && arguments
            .iter()
            .all(|argument| argument.len() <= V1_ARGUMENT_LIMIT)
}

fn request_v1(command: &str, arguments: &[&str]) -> Result<Vec<u8>, AttachError> {
    if !fits_v1(arguments) {
        let length = arguments
            .iter()
            .map(|argument| argument.len())
            .max()
            .unwrap_or(0);
        return Err(AttachError::ArgumentTooLong {
            length,
            limit: V1_ARGUMENT_LIMIT,
        });
    }
    let mut bytes = b"1\0".to_vec();
    push(&mut bytes, command);
    for index in 0..V1_ARGUMENTS {
        push(&mut bytes, arguments.get(index).copied().unwrap_or(""));
    }
    Ok(bytes)
}

fn request_v2(command: &str, arguments: &[&str]) -> Vec<u8> {
    let mut body = Vec::new();
    push(&mut body, command);
    for argument in arguments {
        push(&mut body, argument);
    }
    let mut bytes = b"2\0".to_vec();
    push(&mut bytes, &body.len().to_string());
    bytes.extend_from_slice(&body);
    bytes
}

fn push(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
}

impl Answer {
    /// Parses an answer, which begins with a status line. Returns `None` for other bytes.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Answer> {
        let text = String::from_utf8_lossy(bytes);
        let (status, rest) = text.split_once('\n').unwrap_or((&text, ""));
        Some(Answer {
            status: status.trim().parse().ok()?,
            text: rest.to_owned(),
        })
    }

    /// The result of `Agent_OnAttach`, from the answer to `load`.
    ///
    /// It is the only reliable sign of success on JDK 11 to 25: JDK 25 reports status 0 even for a library that does
    /// not exist. On JDK 8 the text is this number alone.
    #[must_use]
    pub fn agent_result(&self) -> Option<i32> {
        let mut lines = self.text.lines();
        let named = lines.find_map(|line| line.trim().strip_prefix("return code: ")?.parse().ok());
        named.or_else(|| self.text.trim().parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_always_has_three_arguments() {
        let bytes = request(Version::V1, "load", &["/x.so", "true"]).expect("short");
        assert_eq!(bytes, b"1\0load\0/x.so\0true\0\0");
    }

    #[test]
    fn version_2_contains_its_size() {
        let bytes = request(Version::V2, "load", &["/x.so", "true", "a=b"]).expect("any");
        assert_eq!(
            bytes,
            [&b"2\0"[..], b"20\0load\0/x.so\0true\0a=b\0"].concat()
        );
    }

    #[test]
    fn long_argument_is_refused_by_version_1_only() {
        let long = "x".repeat(V1_ARGUMENT_LIMIT + 1);
        assert!(matches!(
            request(Version::V1, "load", &[&long]),
            Err(AttachError::ArgumentTooLong { length: 1025, .. })
        ));
        assert!(request(Version::V2, "load", &[&long]).is_ok());
    }

    #[test]
    fn status_zero_with_a_missing_library_is_no_success() {
        let answer = Answer::parse(b"0\n/x.so was not loaded.\n").expect("status line");
        assert_eq!((answer.status, answer.agent_result()), (0, None));
        let answer = Answer::parse(b"0\nreturn code: 0\n").expect("status line");
        assert_eq!(answer.agent_result(), Some(0));
        let answer = Answer::parse(b"0\n-1\n").expect("status line");
        assert_eq!(answer.agent_result(), Some(-1), "as on JDK 8");
        assert_eq!(Answer::parse(b"garbage"), None);
    }
}
