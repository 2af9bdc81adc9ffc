//! The shared secret, and the proofs made from it.
//!
//! Neither side sends the secret. Each sends an HMAC of it and of the channel binding, which only both ends of this one
//! encrypted connection know (RFC 9266, `tls-exporter`). So a machine in the middle learns nothing and cannot forward a
//! proof.
//! A recorded proof is worth nothing on another connection, and nobody needs to know a certificate.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of the channel binding.
pub const BINDING: usize = 32;
/// Bytes of a proof.
pub const PROOF: usize = 32;
/// Fewest characters of a token. A generated one has twice as many.
const SHORTEST: usize = 32;
/// Most bytes of a token file.
const LONGEST: u64 = 4096;

/// The side that proves that it has the token.
#[derive(Debug, Clone, Copy)]
pub enum Side {
    Sender,
    Receiver,
}

/// The shared secret, as an HMAC key.
pub struct Token(hmac::Key);

impl Token {
    /// Reads a token file.
    ///
    /// # Errors
    /// If the file cannot be read, has permissions for group or others, or is too short or too long.
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

    /// Reads a token file like [`Token::read`]. Creates the folder and the file, with a new token, if it does not
    /// exist.
    ///
    /// # Errors
    /// As [`Token::read`], and if the file cannot be created.
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

    /// The proof that a side sends: HMAC-SHA-256 over its name and the channel binding.
    pub fn proof(&self, side: Side, binding: &[u8; BINDING]) -> [u8; PROOF] {
        let code = hmac::sign(&self.0, &message(side, binding));
        let mut proof = [0; PROOF];
        proof.copy_from_slice(code.as_ref());
        proof
    }

    /// Checks the proof of a side.
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
