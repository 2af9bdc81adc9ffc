//! The input and output types of the pipeline.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use probes::FailedPlugin;

use crate::code_source::CodeSource;
use crate::plugin_failure::PluginFailure;

/// A class loader, as selectors distinguish loaders.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Loader {
    /// The bootstrap loader.
    Boot,
    /// The platform loader (extension loader on JDK 8).
    Platform,
    /// The application loader.
    App,
    /// Any other loader, by the internal name of its class, `com/acme/Loader`.
    Other(Arc<str>),
    /// Any other loader, with its number in the JVM, so that its results are kept separate.
    Numbered(Arc<str>, u32),
}

impl Loader {
    /// Returns `boot`, `platform`, `app` or the class name of the loader.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Boot => "boot",
            Self::Platform => "platform",
            Self::App => "app",
            Self::Other(name) | Self::Numbered(name, _) => name,
        }
    }

    /// Returns the loader's name in snapshots, with its number, if any: `com/acme/Loader#2`.
    #[must_use]
    pub fn recorded_name(&self) -> Cow<'_, str> {
        match self {
            Self::Numbered(class, number) => Cow::Owned(format!("{class}#{number}")),
            of_kind => Cow::Borrowed(of_kind.as_str()),
        }
    }
}

/// The input of the pipeline for one class.
#[derive(Debug, Clone, Copy)]
pub struct ClassRequest<'a> {
    /// Internal name (JVMS 4.2.1) in modified UTF-8; empty if the JVM passed no name.
    pub name: &'a [u8],
    /// The defining loader.
    pub loader: &'a Loader,
    /// The code source of the class.
    pub location: CodeSource<'a>,
    /// The class file that the JVM passed.
    pub bytes: &'a [u8],
    /// The bytes of the loader's resource, if known and different from `bytes`. That is the case
    /// for classes that are retransformed or whose native methods are wrapped.
    pub original: Option<&'a [u8]>,
    /// `true` if the class is already loaded, so that its shape must not change.
    pub retransforming: bool,
}

impl<'a> ClassRequest<'a> {
    /// Creates the request for a class as if the application's loader had just read it from a file.
    #[must_use]
    pub fn of_file(name: &'a [u8], bytes: &'a [u8]) -> Self {
        Self {
            name,
            loader: &Loader::App,
            location: CodeSource::Unread,
            bytes,
            original: None,
            retransforming: false,
        }
    }
}

/// The result of the pipeline for one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// No plugin requested an edit; `out` is empty.
    Unchanged,
    /// `out` holds the new class file.
    Changed,
    /// At least one plugin failed; its edits are left out.
    Failed {
        /// `true` if `out` holds the class file with the other plugins' edits; `out` is empty
        /// otherwise.
        changed: bool,
        /// The failures, one per plugin.
        failures: Vec<PluginFailure>,
    },
}

impl Outcome {
    /// Returns whether `out` holds a new class file.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self, Self::Changed | Self::Failed { changed: true, .. })
    }

    /// Returns the failures.
    #[must_use]
    pub fn failures(&self) -> &[PluginFailure] {
        match self {
            Self::Failed { failures, .. } => failures,
            Self::Changed | Self::Unchanged => &[],
        }
    }
}

/// A remark about one method of a changed class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRemark {
    /// Internal name of the class, for display.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// The text of the remark.
    pub text: String,
}

/// Counts of look-ups in the plan cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// Plans that the cache had.
    pub hits: u64,
    /// Plans for which the plugin was called.
    pub misses: u64,
    /// Damaged files and plans, which are replaced.
    pub damaged: u64,
    /// Bytes read from the files. The number does not depend on the lengths of the files.
    pub read: u64,
    /// Plans that no cache could store, for example on a full disk. The next write tries again.
    pub unwritten: u64,
}

impl PlanCounts {
    /// Adds the counts of another plugin or pipeline.
    pub fn add(&mut self, other: Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.damaged += other.damaged;
        self.read += other.read;
        self.unwritten += other.unwritten;
    }
}

/// The work of a pipeline so far, for the summary at exit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Classes that reached a plugin.
    pub classes: u64,
    /// Classes that were changed.
    pub changed: u64,
    /// Classes without the edits of a failed plugin (each class counts once).
    pub failed: u64,
    /// The first failures, one per class and plugin, at most [`Summary::KEPT`].
    pub failures: Vec<PluginFailure>,
    /// Number of methods that were left unchanged while the rest of their class was changed.
    pub skipped_methods: u64,
    /// The first skipped methods with the reason, at most [`Summary::KEPT`].
    pub skipped: Vec<MethodRemark>,
    /// Number of methods that became longer than HotSpot compiles.
    pub huge_methods: u64,
    /// The first such methods, at most [`Summary::KEPT`].
    pub huge: Vec<MethodRemark>,
    /// Time spent on classes that reached a plugin, summed over threads.
    pub time: Duration,
    /// The part of `time` that the self-check took.
    pub check_time: Duration,
    /// The part of `time` that plugins took, with their calls of the host.
    pub plugin_time: Duration,
    /// Notes of plugins about methods that they left out on purpose, at most [`Summary::KEPT`].
    pub notes: Vec<String>,
    /// Plugins that failed on classes, or were switched off.
    pub failed_plugins: Vec<FailedPlugin>,
    /// Counts of the plan cache; `None` without one.
    pub plans: Option<PlanCounts>,
    /// `true` if `on-error` is `strict` and a plugin failed, so that the run must fail.
    pub strict_failure: bool,
}

impl Summary {
    /// Maximum number of entries in each list; the counters have no limit.
    pub const KEPT: usize = 1_000;

    /// Adds the summary of a later pipeline.
    pub fn add(&mut self, later: Self) {
        self.classes += later.classes;
        self.changed += later.changed;
        self.failed += later.failed;
        self.skipped_methods += later.skipped_methods;
        self.huge_methods += later.huge_methods;
        self.time += later.time;
        self.check_time += later.check_time;
        self.plugin_time += later.plugin_time;
        keep(&mut self.huge, later.huge);
        keep(&mut self.failures, later.failures);
        keep(&mut self.skipped, later.skipped);
        keep(&mut self.notes, later.notes);
        keep(&mut self.failed_plugins, later.failed_plugins);
        self.strict_failure |= later.strict_failure;
        if let Some(plans) = later.plans {
            self.plans.get_or_insert_default().add(plans);
        }
    }
}

/// Appends to a list up to the maximum length.
fn keep<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = Summary::KEPT.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}
