//! Writes the counters in several formats.
//!
//! [`exec`] is the data itself, as JaCoCo keeps it; [`xml`], [`csv`], [`lcov`],
//! [`cobertura`], [`json`] and [`sonar`] are for tools; [`html`], [`table`], [`markdown`] and
//! [`badge`] are for reading, and so is [`changed`], of changed lines.
//! Writers take a [`Report`], of one bundle or of the modules of a group, and say nothing that is not in it; they list packages,
//! classes and source files by name, so equal coverage gives equal reports.

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

/// The circumstances of one run: who recorded, from when to when.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// Names the run, e.g. `host-1a2b3c4d`.
    pub id: String,
    /// Start of recording, milliseconds since 1970-01-01 UTC.
    pub start_ms: i64,
    /// When the data was taken, milliseconds since 1970-01-01 UTC.
    pub dump_ms: i64,
    /// What could not be recorded, and why: a sentence. Formats of other tools have no place for it.
    pub incomplete: Option<String>,
    /// What may be missing because the JVM was killed: a sentence.
    pub killed: Option<String>,
}

impl Session {
    /// What is missing, for whichever cause.
    #[must_use]
    pub fn missing(&self) -> Option<&str> {
        self.incomplete.as_deref().or(self.killed.as_deref())
    }

    /// Sessions by the time their data was taken, as every report lists them.
    fn sorted(sessions: &[Self]) -> Vec<&Self> {
        let mut sorted: Vec<_> = sessions.iter().collect();
        sorted.sort_by_key(|session| session.dump_ms);
        sorted
    }
}

/// What was executed of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionData {
    /// CRC-64 of the class file.
    pub id: u64,
    /// Internal name.
    pub name: String,
    /// Executed probes, by probe id.
    pub probes: Vec<bool>,
}

/// Where the text of source files comes from. Pages are made by several threads.
pub trait SourceLookup: Sync {
    /// The text of `file`, e.g. `Account.java`, in `package`, an internal name
    /// that may be empty, or `None` without such a file. `copy` numbers files of one
    /// name from 1; 0 stands for the first. Bytes that are no UTF-8 are replaced.
    fn source(&self, package: &str, file: &str, copy: u16) -> Option<String>;

    /// The path of that file, for reports that name files; none when there is no such file, or it lies in an archive.
    fn path(&self, package: &str, file: &str, copy: u16) -> Option<String> {
        let _ = (package, file, copy);
        None
    }

    /// The folder to which relative paths of files are relative, if there are any.
    fn folder(&self) -> Option<String> {
        None
    }
}

/// The path of a source file; where it is not known, its place below the root of its package.
fn path_of(sources: &dyn SourceLookup, package: &str, (file, copy): (&str, u16)) -> String {
    sources
        .path(package, file, copy)
        .unwrap_or_else(|| match package {
            "" => file.to_owned(),
            package => format!("{package}/{file}"),
        })
}

/// What is reported: one bundle, or the modules of a group; and of which runs.
#[derive(Clone)]
pub struct Report<'a> {
    /// The name of the bundle or of the group.
    pub name: &'a str,
    /// The one bundle, or those of the group.
    pub modules: Vec<Module<'a>>,
    /// Whether the bundles are modules of a group, as a build with several modules has them.
    pub is_group: bool,
    /// The counters of everything.
    pub counters: Counters,
    /// The runs.
    pub sessions: &'a [Session],
    /// What is missing besides what sessions lack, such as files that could not be read: sentences.
    pub missing: &'a [String],
    /// The changed lines that the report is limited to.
    pub changed: Option<&'a Changed>,
    /// The tests that executed the lines, for reports that name them.
    pub per_test: Option<&'a PerTest<'a>>,
    /// The subject of its counters.
    pub counting: Counting,
}

/// A bundle and its sources.
#[derive(Clone, Copy)]
pub struct Module<'a> {
    /// What was counted.
    pub bundle: &'a BundleCoverage,
    /// Where its sources are.
    pub sources: &'a dyn SourceLookup,
}

impl<'a> Report<'a> {
    /// A report of one bundle.
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

    /// A report of several bundles, whose counters add up, as those of JaCoCo's groups do.
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

    /// All that is missing, a sentence each. Formats of other tools have no place for it.
    pub fn incomplete(&self) -> impl Iterator<Item = &'a str> {
        let sessions = Session::sorted(self.sessions).into_iter();
        let of_sessions = sessions.filter_map(Session::missing);
        of_sessions.chain(self.missing.iter().map(String::as_str))
    }

    /// The packages of all modules.
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

/// A lookup that knows no sources.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSources;

impl SourceLookup for NoSources {
    fn source(&self, _: &str, _: &str, _: u16) -> Option<String> {
        None
    }
}
