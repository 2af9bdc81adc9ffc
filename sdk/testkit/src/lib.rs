//! Native tests for Classhook plugins, without WebAssembly and without a JVM.
//!
//! A [`Harness`] runs a [`Transformer`] on the bytes of a class. The views and the rules for plans
//! are those of the plugin host. So a plan that passes here passes in production, apart from limits
//! of time and memory, and a rejection has the same text.
//!
//! ```
//! use classhook_sdk::prelude::*;
//! use classhook_testkit::Harness;
//! # const CLASS: &[u8] = include_bytes!("../tests/Counter.class");
//!
//! #[derive(Deserialize)]
//! #[serde(deny_unknown_fields)]
//! struct Settings {
//!     method: String,
//! }
//!
//! struct One(Settings);
//!
//! impl Transformer for One {
//!     type Config = Settings;
//!
//!     fn new(config: Settings) -> Result<Self> {
//!         Ok(One(config))
//!     }
//!
//!     fn transform(&self, class: &Class<'_>, plan: &mut Plan<'_>) -> Result {
//!         for method in class.methods().filter(|m| m.name() == self.0.method) {
//!             plan.hit(&[method.entry()], b"")?;
//!         }
//!         Ok(())
//!     }
//! }
//!
//! Harness::<One>::new(r#"method = "increment""#)
//!     .transform(CLASS)
//!     .assert_plan("increment(I)I entry: hit 0\n");
//! ```
//!
//! [`java!`] compiles classes for tests from source.
//!
//! [`Transformed::assert_plan_file`] compares a longer plan with a file, which `BLESS=1 cargo test`
//! writes.

mod class;
mod declared;
mod edits;
pub mod java;
mod jvm_events;
mod plan;
mod report;

use std::fmt;
use std::marker::PhantomData;
use std::path::Path;

use classhook_sdk::{Class, Error, Plan, Transformer};
use plan_rules::{CheckedClass, PlanRequest};
use rewriter::{Action, CheckScratch, ClassFile, EditPlan, PluginPlan, ProbeStorage, Scratch};

use class::NativeClass;
pub use jvm_events::{JvmEvents, observe, requests, subscriptions};
use plan::PlanRecord;
pub use report::{Recording, Reported};

/// Runs a plugin on classes.
pub struct Harness<T> {
    config: String,
    plugin: PhantomData<T>,
}

/// Converts a configuration from TOML to the JSON that a plugin gets.
fn json(config: &str) -> String {
    let table: toml::Table = toml::from_str(config)
        .unwrap_or_else(|error| panic!("the configuration is not valid TOML: {error}"));
    serde_json::to_string(&table)
        .unwrap_or_else(|error| panic!("the configuration has no JSON: {error}"))
}

impl<T: Transformer> Default for Harness<T> {
    /// Uses an empty configuration.
    fn default() -> Self {
        Self::new("")
    }
}

impl<T: Transformer> Harness<T> {
    /// Uses a configuration in TOML, the content of `[plugin.config]`.
    ///
    /// # Panics
    /// If it is no valid TOML, or the plugin rejects it.
    #[must_use]
    pub fn new(config: &str) -> Self {
        let harness = Self {
            config: json(config),
            plugin: PhantomData,
        };
        if let Err(error) = harness.plugin() {
            panic!("the plugin rejects its configuration: {error}");
        }
        harness
    }

    /// Creates a plugin from a configuration in TOML; for tests of rejections.
    ///
    /// # Errors
    /// The error of the plugin.
    ///
    /// # Panics
    /// If the text is no valid TOML.
    pub fn try_config(config: &str) -> Result<(), Error> {
        classhook_sdk::guest::parse::<T>(&json(config)).map(drop)
    }

    fn plugin(&self) -> Result<T, Error> {
        classhook_sdk::guest::parse(&self.config)
    }

    /// Runs the plugin on one class, on a new instance and on one that has already seen the class.
    /// This detects a plugin that depends on earlier classes.
    ///
    /// # Panics
    /// If the bytes are no class file, or the two plans differ.
    #[must_use]
    pub fn transform(&self, bytes: &[u8]) -> Transformed {
        self.run(bytes, false)
    }

    /// Like [`Harness::transform`], for a class that is already loaded.
    ///
    /// # Panics
    /// Those of [`Harness::transform`].
    #[must_use]
    pub fn retransform(&self, bytes: &[u8]) -> Transformed {
        self.run(bytes, true)
    }

    fn run(&self, bytes: &[u8], loaded: bool) -> Transformed {
        let plugin = self
            .plugin()
            .unwrap_or_else(|error| panic!("the plugin rejects its configuration: {error}"));
        let fresh = run(&plugin, bytes, loaded);
        let used = run(&plugin, bytes, loaded);
        assert_eq!(
            fresh.to_string(),
            used.to_string(),
            "the plan depends on earlier classes"
        );
        fresh
    }
}

fn run<T: Transformer>(plugin: &T, bytes: &[u8], loaded: bool) -> Transformed {
    let class = ClassFile::read(bytes)
        .unwrap_or_else(|error| panic!("the bytes are not a class file: {error}"));
    let checked = CheckedClass::read(bytes, loaded)
        .unwrap_or_else(|error| panic!("the bytes are not a class file: {error}"));
    let record = PlanRecord::new(checked);
    let source = NativeClass::new(&class, &record);
    let error = plugin
        .transform(&Class::new(&source), &mut Plan::new(&record))
        .err();
    let (request, text, trap) = record.finish();
    Transformed {
        bytes: bytes.to_vec(),
        request,
        text,
        error: trap.map(Error::from).or(error),
    }
}

/// The edits of a plugin for one class.
#[derive(Debug)]
pub struct Transformed {
    bytes: Vec<u8>,
    request: PlanRequest,
    text: String,
    error: Option<Error>,
}

impl Transformed {
    /// The requested edits.
    #[must_use]
    pub fn plan(&self) -> &EditPlan {
        &self.request.plan
    }

    /// The request, as far as it was granted.
    #[must_use]
    pub fn request(&self) -> &PlanRequest {
        &self.request
    }

    /// The error of a plugin that gave up or was stopped.
    #[must_use]
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// Asserts the whole text: one line per edit and note, in the order of the calls, then the
    /// error, if any.
    ///
    /// # Panics
    /// If the text differs.
    pub fn assert_plan(&self, expected: &str) {
        assert_eq!(
            self.to_string(),
            expected,
            "the plan is not the expected one"
        );
    }

    /// Asserts the text of a file, relative to the crate's folder. With `BLESS=1` in the
    /// environment, writes the file instead.
    ///
    /// # Panics
    /// If the text differs, or the file cannot be read or written.
    pub fn assert_plan_file(&self, path: impl AsRef<Path>) {
        let path = path.as_ref();
        let found = self.to_string();
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, found)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            return;
        }
        let expected = std::fs::read_to_string(path);
        let expected = expected
            .unwrap_or_else(|error| panic!("{}: {error}; BLESS=1 writes it", path.display()));
        assert_eq!(
            found,
            expected,
            "the plan is not the one in {}; BLESS=1 accepts it",
            path.display()
        );
    }

    /// Asserts that the plugin gave up, with a text that contains `part`.
    ///
    /// # Panics
    /// If it did not.
    pub fn assert_error(&self, part: &str) {
        match &self.error {
            Some(error) if error.to_string().contains(part) => {}
            Some(error) => panic!("expected an error with {part:?}, found {error}"),
            None => panic!("expected an error with {part:?}, found a plan"),
        }
    }

    /// Iterates over the helper classes of the plugin, with their names and class files.
    pub fn helpers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let helpers = self.request.helpers.iter();
        helpers.map(|helper| (helper.name.as_str(), helper.bytes.as_slice()))
    }

    /// Returns the class with the plan applied and checked. Hits are bytes of `Probes.hits`, counts
    /// are numbers of `Probes.counts`. Spans are left out, because the agent generates their code.
    ///
    /// # Panics
    /// If the plugin gave up, or the plan cannot be applied as a whole.
    #[must_use]
    pub fn splice(&self) -> Vec<u8> {
        assert!(self.error.is_none(), "the plugin gave up: {self}");
        let class = ClassFile::read(&self.bytes)
            .unwrap_or_else(|error| panic!("the bytes are not a class file: {error}"));
        let storage = ProbeStorage::SharedArray {
            owner: "Probes",
            field: "hits",
        };
        let (mut scratch, mut out) = (Scratch::default(), Vec::new());
        let mut plan = self.with_counters();
        let replacement = self.request.replacement.as_deref();
        let class = match replacement.map(ClassFile::read) {
            None => class,
            Some(replaced) => {
                let replaced = replaced.unwrap_or_else(|error| panic!("no class: {error}"));
                let (carried, refused) = class_versions::transfer(&plan, &class, &replaced);
                assert!(refused.is_empty(), "edits of replaced code: {refused:?}");
                plan = carried;
                replaced
            }
        };
        let report = rewriter::splice(&class, &plan, &storage, &mut scratch, &mut out);
        let report = report.unwrap_or_else(|error| panic!("the plan cannot be applied: {error}"));
        assert!(
            report.skipped.is_empty() && report.refused.is_none(),
            "methods were skipped: {:?}, class edits refused: {:?}",
            report.skipped,
            report.refused
        );
        let mut check_scratch = CheckScratch::default();
        let checked = rewriter::check_splice(&class, &plan, &storage, &out, &mut check_scratch);
        checked.unwrap_or_else(|error| panic!("the result is wrong: {error}"));
        self.expect_helpers(&out);
        out
    }

    /// Checks that the helper classes have all members that the generated code uses.
    fn expect_helpers(&self, made: &[u8]) {
        let class = ClassFile::read(made)
            .unwrap_or_else(|error| panic!("the result is not a class file: {error}"));
        let used = plan_rules::check_helper_uses(&class, &self.request.helpers);
        used.unwrap_or_else(|error| panic!("code that is inserted: {error}"));
    }

    /// Returns the plan with its counters as code.
    fn with_counters(&self) -> EditPlan {
        let asked = self.plan();
        let part = PluginPlan {
            by: "the plugin",
            plan: asked,
            hits: 0,
        };
        let class = ClassFile::read(&self.bytes)
            .unwrap_or_else(|error| panic!("the bytes are not a class file: {error}"));
        let merged = EditPlan::merge(&class, &[part]);
        let merged = merged.unwrap_or_else(|conflict| panic!("the plan conflicts: {conflict}"));
        let mut plan = merged.plan;
        for edit in asked.edits() {
            if let Action::Count(number) = edit.action {
                let code = plan_rules::counter::increment(
                    "Probes".to_owned(),
                    "counts",
                    number.cast_signed(),
                );
                let code = code.expect("names that a class file may hold");
                let added = plan.insert(edit.point, code);
                added.unwrap_or_else(|error| panic!("the plan cannot be applied: {error}"));
            }
        }
        plan
    }
}

impl fmt::Display for Transformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.error {
            // Without the line of the plugin, so that the expected text outlives changes above it.
            Some(Error::Refused(refusal, _)) => {
                writeln!(f, "error: {}: {}", refusal.code, refusal.message)
            }
            Some(error) => writeln!(f, "error: {error}"),
            None => Ok(()),
        }
    }
}
