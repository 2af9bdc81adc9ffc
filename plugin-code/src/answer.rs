//! The answer of the compiler: a line of JSON, and code after it.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use crate::limits::MAX_CODE;

/// Most bytes of an answer.
pub const MAX_ANSWER: u64 = MAX_CODE + (1 << 16);

/// The first line of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Code follows.
    Code {
        /// SHA-256 of the component that was read, lower-case hex.
        of: String,
        /// Length in bytes.
        length: u64,
    },
    /// The component is invalid, with the reason.
    Invalid(String),
    /// The component exceeds a limit: the size found, and the size allowed.
    TooLarge(String, String),
}

impl Answer {
    /// Writes the line and the code.
    ///
    /// # Errors
    /// The errors of the output.
    pub fn write(&self, code: &[u8], output: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *output, self)?;
        output.write_all(b"\n")?;
        output.write_all(code)?;
        output.flush()
    }

    /// Separates an answer from the code behind it. Returns `None` if one of the two is incomplete.
    #[must_use]
    pub fn read(mut bytes: Vec<u8>) -> Option<(Self, Vec<u8>)> {
        let end = bytes.iter().position(|byte| *byte == b'\n')?;
        let answer: Self = serde_json::from_slice(bytes.get(..end)?).ok()?;
        bytes.drain(..=end);
        let expected = match &answer {
            Self::Code { length, .. } => *length,
            _ => 0,
        };
        (bytes.len() as u64 == expected).then_some((answer, bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_read_as_it_was_written_and_only_whole() {
        let answer = Answer::Code {
            of: "ab".to_owned(),
            length: 3,
        };
        let mut written = Vec::new();
        answer.write(b"\n\n1", &mut written).unwrap();
        let (read, code) = Answer::read(written.clone()).unwrap();
        assert_eq!((read, &code[..]), (answer, &b"\n\n1"[..]));
        written.pop();
        assert!(Answer::read(written).is_none());
        assert!(Answer::read(b"hello\n".to_vec()).is_none());
        assert!(Answer::read(Vec::new()).is_none());
    }
}
