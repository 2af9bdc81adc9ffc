//! `classhook plugin new`: creates a project with an example plugin.

use std::path::PathBuf;

use clap::Args;
use errors::Error;

use crate::plugin_project::language::Language;
use crate::plugin_project::template;
use crate::show::{path, show};

const AFTER_HELP: &str = "\
The example plugin counts calls. The project contains the sources of the SDK. A Rust project needs only cargo and its
registry to build. A C project needs clang and the WebAssembly linker (`apt-get install clang lld`), a Python project
componentize-py (`pip install componentize-py`), a JavaScript project Node.js and componentize-js (`npm install`).

Examples:
  classhook plugin new call-counter
  classhook plugin new --lang c call-counter";

/// Creates a project with an example plugin.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct New {
    /// Create the project in this new or empty folder; its name is the plugin's
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// Use this programming language
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t)]
    pub lang: Language,
}

impl New {
    /// Creates the project and lists its files.
    ///
    /// # Errors
    /// As [`template::make`].
    pub fn run(&self) -> Result<u8, Error> {
        template::make(&self.folder, self.lang)?;
        let (name, folder) = (template::name(&self.folder), path(&self.folder));
        let mut text = format!("made the plugin {name} in {folder}\n");
        for file in template::files(&self.folder, self.lang) {
            text += &format!("wrote {file}\n");
        }
        text += &format!("next: classhook plugin test {folder}\n");
        show(&text)?;
        Ok(0)
    }
}
