//! Instruments class files, folders and archives before they run.
//!
//! ```text
//! paths: inputs and outputs ── conflicts: one source a file ── classes: one class file ──┐
//!                                                          └─ archive: part by part ────┴─ Record: results → summary, baseline
//! ```
//!
//! All output is written to a staging folder beside the output and moved at the end, so that no
//! file is half-written. Each step fails with a coded [`errors::Error`], and what it leaves
//! unchanged is in the warnings of the [`Record`].
//!
//! ```
//! use static_instrumentation::conflicts::{OnConflict, Targets};
//! use static_instrumentation::signature::is_signature;
//!
//! // Signatures do not survive instrumentation, so archives lose them.
//! assert!(is_signature("META-INF/SHOP.SF"));
//! assert!(!is_signature("META-INF/MANIFEST.MF"));
//!
//! // Of two class files with one name, a class path takes the first.
//! let folder = tempfile::tempdir()?;
//! let (first, second) = (folder.path().join("a"), folder.path().join("b"));
//! std::fs::write(&first, "one")?;
//! std::fs::write(&second, "another")?;
//! let mut targets = Targets::new(OnConflict::First);
//! let target = folder.path().join("Shop.class");
//! assert!(targets.take_file(&first, &target)?);
//! assert!(!targets.take_file(&second, &target)?);
//! assert_eq!(targets.check()?, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod archive;
pub mod baseline;
pub mod classes;
pub mod conflicts;
mod embedding;
mod failing_once;
pub mod folder;
mod module_packages;
pub mod paths;
pub mod runtime;
mod shared_file;
pub mod signature;
mod stage;

use coverage_inputs::execution_data::LEFT_ALONE;
use errors::Warning;
use host::HelperClass;
use host::LeftAloneMethod;

/// Accumulated results for class files and archives.
#[derive(Debug, Default)]
pub struct Record {
    /// Counts of files and entries.
    pub tally: Tally,
    /// Warnings for the user.
    pub warnings: Vec<Warning>,
    /// The original classes, if the command keeps them.
    pub kept: Vec<baseline::KeptClass>,
    /// Methods without probes, once for each plugin that wanted probes there.
    pub left_alone: Vec<probes::Failure>,
    /// Helper classes of plugins that belong beside the class file, until they are written.
    pub helpers: Vec<HelperClass>,
}

impl Record {
    /// Returns the helper classes by file name. The caller writes them.
    pub fn take_helpers(&mut self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let helpers = std::mem::take(&mut self.helpers).into_iter();
        helpers.map(|helper| {
            let simple = helper.name.rsplit('/').next().unwrap_or(&helper.name);
            (format!("{simple}.class"), helper.bytes)
        })
    }

    /// Records a method without the edits that plugins wanted.
    pub fn leave_alone(&mut self, class: &str, method: LeftAloneMethod, plugins: &[String]) {
        let LeftAloneMethod { method, cause } = method;
        let message = format!("{class}.{method} is not measured");
        let warning = Warning::new(LEFT_ALONE, message).of_missing();
        let warning = warning.always_printed().with("cause", cause.clone());
        self.warnings.push(warning);
        self.left_alone
            .extend(plugins.iter().map(|plugin| probes::Failure {
                class: class.to_owned(),
                method: method.clone(),
                plugin: plugin.clone(),
                code: LEFT_ALONE.to_owned(),
                message: cause.clone(),
            }));
    }

    /// Records a method with some of the edits that plugins wanted.
    pub fn leave_partly_alone(&mut self, class: &str, method: LeftAloneMethod) {
        let LeftAloneMethod { method, cause } = method;
        let message = format!("{class}.{method} is without some of its probes");
        let warning = Warning::new(LEFT_ALONE, message).always_printed();
        self.warnings.push(warning.with("cause", cause));
    }

    /// Appends the results of the next files.
    pub fn append(&mut self, mut other: Self) {
        self.tally.add(&other.tally);
        self.warnings.append(&mut other.warnings);
        self.kept.append(&mut other.kept);
        self.left_alone.append(&mut other.left_alone);
        self.helpers.append(&mut other.helpers);
    }
}

/// Numbers of files and entries.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Tally {
    /// Class files of every kind.
    pub classes: u64,
    /// Class files that got probes.
    pub instrumented: u64,
    /// Class files that had probes already and were left alone.
    pub already: u64,
    /// Class files that a plugin selected and that a failure left unchanged.
    pub failed: u64,
    /// Unreadable class files and archives, which were copied unchanged.
    pub unreadable: u64,
    /// All other files.
    pub others: u64,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.classes += other.classes;
        self.instrumented += other.instrumented;
        self.already += other.already;
        self.failed += other.failed;
        self.unreadable += other.unreadable;
        self.others += other.others;
    }
}
