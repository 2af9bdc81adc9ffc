//! The secret that both sides share.
//!
//! Neither side sends it: each sends a code that is made of it and of what only the two ends of this one encrypted
//! connection know (RFC 9266, `tls-exporter`). So who is between learns nothing and cannot pass codes on, what was
//! recorded of another connection is worth nothing, and no certificate has to be known to anybody.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of what both ends of a connection know.
pub const BINDING: usize = 32;
/// Bytes of a proof.
pub const PROOF: usize = 32;
/// Shortest token; one that is made has twice as much.
const SHORTEST: usize = 32;
/// Longest file of a token.
const LONGEST: u64 = 4096;

/// Who proves that it has the token.
#[derive(Debug, Clone, Copy)]
pub enum Side {
    Sender,
    Receiver,
}

/// The secret.
pub struct Token(hmac::Key);

impl Token {
    /// Reads the file.
    ///
    /// # Errors
    /// If it cannot be read, others can read it as well, or it is too short.
    pub fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let unread =
            |error: std::io::Error| format!("the token in {shown} cannot be read: {error}");
        let about = fs::metadata(file).map_err(unread)?;
        if about.mode() & 0o077 != 0 {
            return Err(format!(
                "others may read the token in {shown}; make it private with chmod 600"
            ));
        }
        if about.len() > LONGEST {
            return Err(format!("expected at most {LONGEST} bytes in {shown}"));
        }
        let text = fs::read_to_string(file).map_err(unread)?;
        let text = text.trim();
        if text.len() < SHORTEST {
            let found = text.len();
            return Err(format!(
                "expected a token of at least {SHORTEST} characters in {shown}, found {found}; `classhook collect` makes one"
            ));
        }
        Ok(Self(hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes())))
    }

    /// As [`Token::read`], of a file that is made with a new token, and its folder, if it is not there.
    ///
    /// # Errors
    /// Also if it cannot be made.
    pub fn read_or_make(file: &Path) -> Result<Self, String> {
        let unmade = |cause: String| format!("no token can be made in {}: {cause}", file.display());
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|error| unmade(error.to_string()))?;
        }
        let mut options = OpenOptions::new();
        let opened = options.write(true).create_new(true).mode(0o600).open(file);
        match opened {
            Ok(mut made) => {
                let mut bytes = [0; SHORTEST];
                let random = SystemRandom::new().fill(&mut bytes);
                random.map_err(|_| unmade("the system has no random numbers".to_owned()))?;
                let mut text = String::new();
                bytes.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
                let written = writeln!(made, "{text}");
                written.map_err(|error| unmade(error.to_string()))?;
                println!(
                    "made a new token in {}; senders need this file",
                    escape::line(&file.to_string_lossy())
                );
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(unmade(error.to_string())),
        }
        Self::read(file)
    }

    /// What a side sends to prove that it has the token.
    pub fn proof(&self, side: Side, binding: &[u8; BINDING]) -> [u8; PROOF] {
        let code = hmac::sign(&self.0, &message(side, binding));
        let mut proof = [0; PROOF];
        proof.copy_from_slice(code.as_ref());
        proof
    }

    /// Whether a side has it.
    pub fn proves(&self, side: Side, binding: &[u8; BINDING], proof: &[u8; PROOF]) -> bool {
        hmac::verify(&self.0, &message(side, binding), proof).is_ok()
    }
}

fn message(side: Side, binding: &[u8; BINDING]) -> Vec<u8> {
    let name: &[u8] = match side {
        Side::Sender => b"classhook relay 1 sender",
        Side::Receiver => b"classhook relay 1 receiver",
    };
    [name, binding].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn token_is_made_once_and_must_be_private_and_long() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new/token");
        let made = Token::read_or_make(&file).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(text.trim().len(), 64);
        let again = Token::read_or_make(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        let proof = made.proof(Side::Sender, &[7; BINDING]);
        assert!(again.proves(Side::Sender, &[7; BINDING], &proof));
        assert!(
            !again.proves(Side::Receiver, &[7; BINDING], &proof),
            "sent back"
        );
        assert!(
            !again.proves(Side::Sender, &[8; BINDING], &proof),
            "another connection"
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(Token::read(&file).is_err_and(|cause| cause.contains("chmod 600")));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file, "short\n").unwrap();
        assert!(Token::read(&file).is_err_and(|cause| cause.contains("found 5")));
    }
}
