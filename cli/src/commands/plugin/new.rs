//! `classhook plugin new`: a project that builds, is tested, and counts calls.

use std::path::PathBuf;

use clap::Args;

use crate::plugin_project::template;
use crate::problem::Problem;
use crate::show::{path, show};

const AFTER_HELP: &str = "\
The project holds the SDK's sources, so that it builds wherever cargo and its registry are, also without this command.

Example:
  classhook plugin new call-counter";

/// Makes a project for a plugin.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct New {
    /// The plugin's name, or a path that ends in it: a folder that is new or empty
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
}

impl New {
    /// Makes it and lists its files.
    ///
    /// # Errors
    /// As [`template::make`].
    pub fn run(&self) -> Result<u8, Problem> {
        template::make(&self.folder)?;
        let mut text = String::new();
        for file in template::files(&self.folder) {
            text += &format!("wrote {file}\n");
        }
        let folder = path(&self.folder);
        text += &format!("next: classhook plugin test {folder}\n");
        show(&text)?;
        Ok(0)
    }
}
