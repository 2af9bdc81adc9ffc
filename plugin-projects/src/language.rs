//! Programming languages of plugins.

use std::path::Path;

use errors::{Error, codes};

/// The language of a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

impl Language {
    /// All languages.
    pub const ALL: [Self; 4] = [Self::Rust, Self::C, Self::Python, Self::Js];

    /// Returns the file that only projects in this language have.
    const fn mark(self) -> &'static str {
        match self {
            Self::Rust => "Cargo.toml",
            Self::C => "src/plugin.c",
            Self::Python => "plugin.py",
            Self::Js => "plugin.js",
        }
    }

    /// Returns the language of the project in a folder.
    ///
    /// # Errors
    /// If the folder holds no project (`H0682`).
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let mut languages = Self::ALL.into_iter();
        let found = languages.find(|language| folder.join(language.mark()).is_file());
        found.ok_or_else(|| {
            let marks = Self::ALL.map(Self::mark);
            let message = format!("there is no plugin project in {}", folder.display());
            Error::mistake(codes::H0682, message)
                .with("expected", format!("a file {}", marks.join(" or ")))
                .with("help", "`classhook plugin new NAME` makes a project")
        })
    }
}
