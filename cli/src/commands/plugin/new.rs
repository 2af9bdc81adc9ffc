//! `classhook plugin new`: creates a project with an example plugin.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use errors::Error;
use plugin_projects::language;
use plugin_projects::template;
use standard_streams::show::{path, show};

const AFTER_HELP: &str = "\
The example plugin counts calls. The project contains the sources of the SDK. A Rust project needs only cargo and its
registry to build. A C project needs clang and the WebAssembly linker (`apt-get install clang lld`), a Python project
componentize-py (`pip install componentize-py`), a JavaScript project Node.js and componentize-js (`npm install`).

Examples:
  classhook plugin new call-counter
  classhook plugin new --lang c call-counter";

/// The language of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// A crate that cargo compiles.
    #[default]
    Rust,
    /// Sources that clang compiles.
    C,
    /// Modules that componentize-py compiles to a component, with an interpreter.
    Python,
    /// Modules that componentize-js compiles to a component, with an engine.
    Js,
}

impl From<Language> for language::Language {
    fn from(language: Language) -> Self {
        match language {
            Language::Rust => Self::Rust,
            Language::C => Self::C,
            Language::Python => Self::Python,
            Language::Js => Self::Js,
        }
    }
}

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
        template::make(&self.folder, self.lang.into())?;
        let (name, folder) = (template::name(&self.folder), path(&self.folder));
        let mut text = format!("made the plugin {name} in {folder}\n");
        for file in template::files(&self.folder, self.lang.into()) {
            text += &format!("wrote {file}\n");
        }
        text += &format!("next: classhook plugin test {folder}\n");
        show(&text)?;
        Ok(0)
    }
}
