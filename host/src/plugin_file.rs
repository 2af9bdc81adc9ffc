//! A plugin's component, read from a file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::config::lock;
use crate::regular_file;
use errors::{Error, codes};
pub use plugin_code::limits::MAX_COMPONENT;
use plugin_code::sha256_hex;

/// An open component file and its content.
#[derive(Debug)]
pub struct PluginFile {
    /// The plugin's name.
    pub name: String,
    /// The content, at most [`MAX_COMPONENT`] bytes.
    pub wasm: Vec<u8>,
    /// SHA-256 of the content, lower-case hex.
    pub digest: String,
    /// The open file, so that a compiler reads the same content.
    pub(crate) file: File,
}

impl PluginFile {
    /// Reads the file of the plugin `name`.
    ///
    /// # Errors
    /// If it is no regular file, cannot be read (`H0106`), or is too large (`H0117`).
    pub fn open(name: &str, path: &Path) -> Result<Self, Error> {
        let opened = regular_file::open(path, MAX_COMPONENT).and_then(|(mut file, found)| {
            let wasm = regular_file::read(&mut file, found.len(), MAX_COMPONENT)?;
            Ok((file, wasm))
        });
        let (file, wasm) = opened.map_err(|error| refused(name, path, &error))?;
        Ok(Self {
            name: name.to_owned(),
            digest: sha256_hex(&wasm),
            wasm,
            file,
        })
    }
}

fn refused(name: &str, path: &Path, error: &io::Error) -> Error {
    let unfit = error.kind() == io::ErrorKind::InvalidInput;
    let too_large = unfit && error.to_string().starts_with("a file of");
    let (code, message) = match too_large {
        true => (codes::H0117, "is too large"),
        false => (codes::H0106, "cannot be read"),
    };
    let mut error_of_host = Error::mistake(code, format!("plugin `{name}` {message}"))
        .with("file", path.display().to_string());
    if unfit {
        let expected = format!("a regular file of at most {} MiB", MAX_COMPONENT >> 20);
        error_of_host = error_of_host.with("expected", expected);
    }
    let help = match lock::digest_of(path) {
        Some(_) => "`classhook plugin add` fetches missing plugins of the lock",
        None => "check the path; in classhook.toml it is relative to that file's folder",
    };
    error_of_host
        .with("found", error.to_string())
        .with("help", help)
}
