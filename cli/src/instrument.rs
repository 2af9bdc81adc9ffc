//! Instruments classes before they run: `classhook instrument`.
//!
//! ```text
//! paths: inputs and outputs ── conflicts: one source a file ── classes: one class file ──┐
//!                                                          └─ archive: part by part ────┴─ Record: what came of it → summary, baseline
//! ```
//!
//! Everything is made in a staging folder beside the output and moved at the end, so that nothing is ever half-written.

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

use host::LeftAloneMethod;
use rewriter::HelperClass;

use crate::inputs::execution_data::LEFT_ALONE;
use crate::warnings::Warning;

/// What came of class files and archives; of several, one after the other.
#[derive(Debug, Default)]
pub struct Record {
    /// In numbers.
    pub tally: Tally,
    /// What the user should know.
    pub warnings: Vec<Warning>,
    /// The original classes, if they are kept.
    pub kept: Vec<baseline::KeptClass>,
    /// Methods that have no probes, once for each plugin that asked for some.
    pub left_alone: Vec<probes::Failure>,
    /// Helper classes of plugins that belong beside the class file, until they are written.
    pub helpers: Vec<HelperClass>,
}

impl Record {
    /// The helper classes, which are the caller's to write: each by the name of its file.
    pub fn take_helpers(&mut self) -> impl Iterator<Item = (String, Vec<u8>)> {
        let helpers = std::mem::take(&mut self.helpers).into_iter();
        helpers.map(|helper| {
            let simple = helper.name.rsplit('/').next().unwrap_or(&helper.name);
            (format!("{simple}.class"), helper.bytes)
        })
    }

    /// Notes a method that has none of the edits that plugins asked for.
    pub fn leave_alone(&mut self, class: &str, method: LeftAloneMethod, plugins: &[String]) {
        let LeftAloneMethod { method, cause } = method;
        let message = format!("{class}.{method} was kept as it is and is not measured");
        let warning = Warning::new(LEFT_ALONE, message);
        self.warnings.push(warning.with("cause", cause.clone()));
        self.left_alone
            .extend(plugins.iter().map(|plugin| probes::Failure {
                class: class.to_owned(),
                method: method.clone(),
                plugin: plugin.clone(),
                code: LEFT_ALONE.to_owned(),
                message: cause.clone(),
            }));
    }

    /// Adds what came next.
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
    /// Of these, those that got probes.
    pub instrumented: u64,
    /// Of these, those that had probes already and were left alone.
    pub already: u64,
    /// Of these, those that a plugin wanted and that were kept as they are after a failure.
    pub failed: u64,
    /// Class files and archives that cannot be read and were kept as they are.
    pub unreadable: u64,
    /// Everything else.
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
