//! Reports on disk: each appears whole or not at all.

pub mod atomic;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use coverage::model::BundleCoverage;
use coverage::report::{self, SourceLookup};

use crate::args::Outputs;
use crate::inputs::execution_data::ExecutionDataStore;
use crate::inputs::sources::Sources;
use crate::problem::Problem;

impl SourceLookup for Sources {
    fn source(&self, package: &str, file: &str) -> Option<String> {
        self.find(package, file)
    }
}

impl Outputs {
    /// Whether any report is asked for.
    #[must_use]
    pub fn any(&self) -> bool {
        let files = [
            &self.html,
            &self.xml,
            &self.csv,
            &self.lcov,
            &self.cobertura,
            &self.exec,
        ];
        files.iter().any(|path| path.is_some())
    }

    /// The report's title.
    #[must_use]
    pub fn title(&self) -> &str {
        self.name.as_deref().unwrap_or("Code coverage")
    }

    /// Writes what is asked for, and lists what is `written`.
    ///
    /// # Errors
    /// If one cannot be written; those written before stay.
    pub fn write(
        &self,
        bundle: &BundleCoverage,
        recorded: &ExecutionDataStore,
        sources: &Sources,
        written: &mut Vec<PathBuf>,
    ) -> Result<(), Problem> {
        let sessions = recorded.sessions.as_slice();
        let mut file = |path: &Option<PathBuf>,
                        content: &dyn Fn(&mut dyn Write) -> io::Result<()>| {
            let Some(path) = path else { return Ok(()) };
            atomic::file(path, content)?;
            written.push(path.clone());
            Ok::<(), Problem>(())
        };
        file(&self.exec, &|out| {
            report::exec::write(out, sessions, &recorded.execution_data())
        })?;
        file(&self.xml, &|out| report::xml::write(bundle, sessions, out))?;
        file(&self.csv, &|out| report::csv::write(bundle, out))?;
        file(&self.lcov, &|out| report::lcov::write(bundle, out))?;
        file(&self.cobertura, &|out| {
            report::cobertura::write(bundle, sessions, out)
        })?;
        if let Some(folder) = &self.html {
            atomic::folder(folder, &|folder: &Path| {
                report::html::write(bundle, sessions, sources, folder)
            })?;
            written.push(folder.join("index.html"));
        }
        Ok(())
    }
}
