//! `classhook man-pages`: writes manual pages, for packages of Classhook. The help does not list it.

use std::path::PathBuf;

use clap::{Args, Command};
use errors::Error;

/// Writes a manual page for each command.
#[derive(Debug, Args)]
pub struct ManPages {
    /// Write the pages into this folder
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

impl ManPages {
    /// Writes the pages of all commands that are not hidden. They hold no date, so the same version has the same pages.
    ///
    /// # Errors
    /// If a page cannot be written.
    pub fn run(&self, classhook: Command) -> Result<u8, Error> {
        let written = std::fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(classhook, &self.folder));
        written
            .map(|()| 0)
            .map_err(|error| Error::unwritable(&self.folder, &error))
    }
}
