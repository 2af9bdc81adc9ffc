//! `classhook plugin new`: a project that builds, is tested, and counts calls.

use std::path::PathBuf;

use clap::Args;

use crate::plugin_project::language::Language;
use crate::plugin_project::template;
use crate::problem::Problem;
use crate::show::{path, show};

const AFTER_HELP: &str = "\
The project holds the SDK's sources. In Rust it builds wherever cargo and its registry are, also without this command;
in C it needs clang and its linker for WebAssembly (`apt-get install clang lld`), in Python componentize-py
(`pip install componentize-py`), in JavaScript Node.js and componentize-js (`npm install` in the project).

Examples:
  classhook plugin new call-counter
  classhook plugin new --lang c call-counter";

/// Makes a project for a plugin.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub struct New {
    /// The plugin's name, or a path that ends in it: a folder that is new or empty; those on the way to it are made
    #[arg(value_name = "NAME")]
    pub folder: PathBuf,
    /// The language it is written in
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t)]
    pub lang: Language,
}

impl New {
    /// Makes it and lists its files.
    ///
    /// # Errors
    /// As [`template::make`].
    pub fn run(&self) -> Result<u8, Problem> {
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
