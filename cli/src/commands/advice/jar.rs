//! `classhook advice jar`: writes the jar of the annotations.

use std::path::PathBuf;

use advice::api;
use clap::Args;
use errors::Error;
use local_files::atomic;
use standard_streams::show::{path, show};

use crate::args::output_path;

const AFTER_HELP: &str = "\
The jar holds the annotations of io.github.classhook.advice, for editors and for builds that compile advice. The program
does not need it.

Example:
  classhook advice jar lib/classhook-advice.jar";

/// Writes the jar of the annotations.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct Jar {
    /// Write the jar to this file
    #[arg(value_name = "FILE", default_value = "classhook-advice.jar", value_parser = output_path())]
    pub file: PathBuf,
}

impl Jar {
    /// Writes the jar.
    ///
    /// # Errors
    /// If it cannot be written (`H0620`).
    pub fn run(&self) -> Result<u8, Error> {
        atomic::file(&self.file, &|out| {
            let mut jar = std::io::Cursor::new(Vec::new());
            api::write_jar(&mut jar)?;
            out.write_all(jar.get_ref())
        })?;
        show(&format!("wrote {}\n", path(&self.file)))?;
        Ok(0)
    }
}
