//! The class files of a request.

use crate::names::dotted;
use class_versions::fitting::Companion;
use control::Refusal;
use control::patch::{ClassBytes, PatchRequest};
use errors::codes;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// A class file of a request.
pub(super) struct NewClass {
    /// Its internal name.
    pub name: Vec<u8>,
    /// The class file.
    pub bytes: Vec<u8>,
    /// Its digest.
    pub digest: String,
    /// The names and numbers that it got from the loaded class.
    pub remarks: Vec<String>,
    /// Objects and switches of the program that would refer to something else.
    pub confused: Vec<String>,
    /// Reasons why it cannot replace the loaded class.
    pub refused: Vec<String>,
    /// Additional classes that the new code needs.
    pub companions: Vec<Companion>,
    /// Internal names of the classes of the patch whose companions the new code uses.
    pub needs: Vec<Vec<u8>>,
}

/// The class files of a request.
///
/// # Errors
///
/// If the request has no class file, if one cannot be read, or if a class occurs twice.
pub(super) fn read(request: &PatchRequest) -> Result<Vec<NewClass>, Refusal> {
    let mut new: Vec<NewClass> = Vec::with_capacity(request.classes.len());
    for (ClassBytes(bytes), number) in request.classes.iter().zip(1..) {
        let class = rewriter::ClassFile::read(bytes).map_err(|error| {
            Refusal::new(
                codes::H0721,
                format!("class file {number} of the request cannot be read"),
            )
            .with("found", error.to_string())
        })?;
        let name = class.this_class().as_bytes().to_vec();
        if new.iter().any(|other| other.name == name) {
            return Err(
                Refusal::new(codes::H0721, format!("{} occurs twice", dotted(&name)))
                    .with("help", "name each class once"),
            );
        }
        new.push(NewClass {
            name,
            digest: digest(bytes),
            bytes: bytes.clone(),
            remarks: Vec::new(),
            confused: Vec::new(),
            refused: Vec::new(),
            companions: Vec::new(),
            needs: Vec::new(),
        });
    }
    if new.is_empty() {
        return Err(Refusal::new(codes::H0721, "the request has no class"));
    }
    Ok(new)
}

/// SHA-256 in lower-case hex.
pub(super) fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
}
