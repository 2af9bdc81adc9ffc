//! Writes the counters in several formats.
//!
//! [`exec`] is JaCoCo's format of execution data. [`xml`], [`csv`], [`lcov`], [`cobertura`], [`json`] and [`sonar`]
//! are for tools; [`html`], [`table`], [`markdown`] and [`badge`] are for readers, as is [`changed`] for changed
//! lines. Writers take a [`Report`] of one bundle or of the modules of a group. They list packages, classes and
//! source files by name, so equal coverage gives equal reports.

mod append;
pub mod badge;
pub mod changed;
pub mod cobertura;
pub mod csv;
mod decisions;
pub mod exec;
pub mod html;
pub mod json;
pub mod lcov;
pub mod markdown;
mod markup;
pub mod names;
pub mod per_test;
mod processors;
pub mod sonar;
pub mod table;
pub mod xml;

#[cfg(test)]
mod fixture;

use crate::filter::Counting;
use crate::model::{BundleCoverage, Changed, Counters, PackageCoverage};
use per_test::PerTest;

/// The origin of one run's data: session id and times.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// Id of the run, e.g. `host-1a2b3c4d`.
    pub id: String,
    /// Start of recording, milliseconds since 1970-01-01 UTC.
    pub start_ms: i64,
    /// Time of the dump, milliseconds since 1970-01-01 UTC.
    pub dump_ms: i64,
    /// A sentence about data that could not be recorded, and the cause. Formats of other tools have no field for it.
    pub incomplete: Option<String>,
    /// A sentence about data that may be missing because the JVM was killed.
    pub killed: Option<String>,
}

impl Session {
    /// Returns the sentence about missing data, of either cause.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.incomplete.as_deref().or(self.killed.as_deref())
    }

    /// Sorts sessions by dump time, the order of every report.
    fn sorted(sessions: &[Self]) -> Vec<&Self> {
        let mut sorted: Vec<_> = sessions.iter().collect();
        sorted.sort_by_key(|session| session.dump_ms);
        sorted
    }
}

/// The execution data of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionData {
    /// CRC-64 of the class file.
    pub id: u64,
    /// Internal name.
    pub name: String,
    /// Executed probes, by probe id.
    pub probes: Vec<bool>,
}

/// Finds the text of source files. Several threads write pages.
pub trait SourceLookup: Sync {
    /// Returns the text of `file`, e.g. `Account.java`, in `package`, an internal name that may be empty. `None`
    /// without such a file. `copy` numbers files of one name from 1; 0 is the first. Invalid UTF-8 is replaced.
    fn source(&self, package: &str, file: &str, copy: u16) -> Option<String>;

    /// Returns the path of that file, for reports with file names; `None` if it does not exist or is in an archive.
    fn path(&self, package: &str, file: &str, copy: u16) -> Option<String> {
        let _ = (package, file, copy);
        None
    }

    /// Returns the folder that relative paths are relative to, if there are any.
    fn folder(&self) -> Option<String> {
        None
    }
}

/// Returns the path of a source file; if unknown, its path below the root of its package.
fn path_of(sources: &dyn SourceLookup, package: &str, (file, copy): (&str, u16)) -> String {
    sources
        .path(package, file, copy)
        .unwrap_or_else(|| match package {
            "" => file.to_owned(),
            package => format!("{package}/{file}"),
        })
}

/// The content of a report: one bundle, or the modules of a group, and their sessions.
#[derive(Clone)]
pub struct Report<'a> {
    /// Name of the bundle or group.
    pub name: &'a str,
    /// The bundle, or those of the group.
    pub modules: Vec<Module<'a>>,
    /// `true` if the bundles are modules of a group, as in a multi-module build.
    pub is_group: bool,
    /// The total counters.
    pub counters: Counters,
    /// The sessions.
    pub sessions: &'a [Session],
    /// Sentences about missing data apart from that of sessions, such as unreadable files.
    pub missing: &'a [String],
    /// The changed lines that limit the report.
    pub changed: Option<&'a Changed>,
    /// The tests that executed the lines, for reports that name them.
    pub per_test: Option<&'a PerTest<'a>>,
    /// The code that its counters count.
    pub counting: Counting,
}

/// A bundle and its sources.
#[derive(Clone, Copy)]
pub struct Module<'a> {
    /// The coverage.
    pub bundle: &'a BundleCoverage,
    /// The source lookup.
    pub sources: &'a dyn SourceLookup,
}

impl<'a> Report<'a> {
    /// Creates a report of one bundle.
    #[must_use]
    pub fn of_bundle(
        bundle: &'a BundleCoverage,
        sources: &'a dyn SourceLookup,
        sessions: &'a [Session],
    ) -> Self {
        let module = Module { bundle, sources };
        Self {
            is_group: false,
            ..Self::of_group(&bundle.name, vec![module], sessions)
        }
    }

    /// Creates a report of several bundles with summed counters, as JaCoCo's groups have.
    #[must_use]
    pub fn of_group(name: &'a str, modules: Vec<Module<'a>>, sessions: &'a [Session]) -> Self {
        let mut counters = Counters::default();
        let all = modules.iter().map(|module| module.bundle.counters);
        all.for_each(|of_module| counters += of_module);
        Self {
            name,
            modules,
            is_group: true,
            counters,
            sessions,
            missing: &[],
            changed: None,
            per_test: None,
            counting: Counting::Jacoco,
        }
    }

    /// Returns a sentence for each kind of missing data. Formats of other tools have no field for it.
    pub fn incomplete(&self) -> impl Iterator<Item = &'a str> {
        let sessions = Session::sorted(self.sessions).into_iter();
        let of_sessions = sessions.filter_map(Session::missing);
        of_sessions.chain(self.missing.iter().map(String::as_str))
    }

    /// Iterates over the packages of all modules.
    fn packages(&self) -> impl Iterator<Item = (Module<'a>, &'a PackageCoverage)> {
        let packages = |module: &Module<'a>| {
            let module = *module;
            module
                .bundle
                .packages
                .iter()
                .map(move |package| (module, package))
        };
        self.modules.iter().flat_map(packages)
    }
}

/// A lookup without sources.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSources;

impl SourceLookup for NoSources {
    fn source(&self, _: &str, _: &str, _: u16) -> Option<String> {
        None
    }
}
