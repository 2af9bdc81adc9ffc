//! Builds components in interpreted languages, with a program that embeds the interpreter.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use errors::Error;
use local_files::programs::find_program;

use super::failure::{not_built, not_startable};
use super::folder;

/// A program that builds components, run in the project's folder.
pub struct Componentizer {
    /// Its name in `PATH`.
    pub program: &'static str,
    /// Its location in the project, which takes precedence.
    pub installed: Option<&'static str>,
    /// Installation help.
    pub help: &'static str,
    /// The extensions of sources.
    pub sources: [&'static str; 2],
    /// Arguments in front of the component's path.
    pub words: &'static [&'static str],
}

impl Componentizer {
    /// Builds the component, which takes up to half a minute, unless it is newer than the project's
    /// sources. `lay_out` writes the program's inputs to the folder `target`.
    ///
    /// # Errors
    /// If the program cannot be started (`H0683`), or the sources have an error (`H0684`).
    pub fn build(
        &self,
        folder: &Path,
        lay_out: impl FnOnce(&Path) -> io::Result<()>,
    ) -> Result<PathBuf, Error> {
        let component = folder::component(folder)?;
        if folder::is_newest(&component, folder, &self.sources) {
            return Ok(component);
        }
        let program = self.find(folder)?;
        let target = folder.join("target");
        let laid_out = std::fs::create_dir_all(&target).and_then(|()| lay_out(folder));
        laid_out.map_err(|error| Error::unwritable(&target, &error))?;
        let status = Command::new(program)
            .args(self.words)
            .arg(Path::new("target").join(component.file_name().unwrap_or_default()))
            .current_dir(folder)
            .env("RUST_BACKTRACE", "0") // hides the program's own backtrace
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status();
        let status = status.map_err(|error| self.not_startable(&error.to_string()))?;
        if status.success() {
            return Ok(component);
        }
        let found = format!(
            "{} ended with {status}; its messages are above",
            self.program
        );
        Err(not_built(folder).with("found", found))
    }

    fn find(&self, folder: &Path) -> Result<PathBuf, Error> {
        let installed = self.installed.map(|path| folder.join(path));
        let found = match installed.filter(|path| path.is_file()) {
            Some(installed) => Some(installed),
            None => find_program(self.program.as_ref()),
        };
        // It starts in the project's folder.
        let found = found.map(|program| std::path::absolute(&program).unwrap_or(program));
        found.ok_or_else(|| {
            let places = match self.installed {
                Some(_) => "no such program in node_modules or PATH",
                None => "no such program in PATH",
            };
            self.not_startable(places)
        })
    }

    fn not_startable(&self, found: &str) -> Error {
        not_startable(self.program, found, self.help)
    }
}
