//! What goes into the pipeline and what comes out of it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use probes::FailedPlugin;

use crate::code_location::CodeLocation;

/// A class loader, as far as selectors tell loaders apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Loader {
    /// The bootstrap loader.
    Boot,
    /// The platform loader (extension loader on JDK 8).
    Platform,
    /// The application loader.
    App,
    /// Any other, by the internal name of its class, `com/acme/Loader`.
    Other(Arc<str>),
    /// The same, and its number among the loaders of the JVM: results of each are kept apart.
    Numbered(Arc<str>, u32),
}

impl Loader {
    /// `boot`, `platform`, `app` or the loader's class name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Boot => "boot",
            Self::Platform => "platform",
            Self::App => "app",
            Self::Other(name) | Self::Numbered(name, _) => name,
        }
    }

    /// As snapshots name it: with its number, if it has one, as `com/acme/Loader#2`.
    #[must_use]
    pub fn recorded_name(&self) -> Cow<'_, str> {
        match self {
            Self::Numbered(class, number) => Cow::Owned(format!("{class}#{number}")),
            of_kind => Cow::Borrowed(of_kind.as_str()),
        }
    }
}

/// One class on its way through the pipeline.
#[derive(Debug, Clone, Copy)]
pub struct ClassRequest<'a> {
    /// Internal name (JVMS 4.2.1) in modified UTF-8; empty where the JVM gave none.
    pub name: &'a [u8],
    /// The defining loader.
    pub loader: &'a Loader,
    /// Where the class came from.
    pub location: CodeLocation<'a>,
    /// The class file as the JVM hands it over.
    pub bytes: &'a [u8],
    /// The bytes of the loader's resource where they are others and could be had: of a class that is retransformed,
    /// or whose native methods are wrapped.
    pub original: Option<&'a [u8]>,
    /// True when the class is already loaded, so that its shape must not change.
    pub retransforming: bool,
}

/// What became of one class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nobody wanted an edit; `out` is empty.
    Unchanged,
    /// `out` holds the new class file.
    Changed,
    /// Something went wrong with at least one plugin, whose edits are left out.
    Failed {
        /// Whether `out` holds the class file with the edits of the others; it is empty if not.
        changed: bool,
        /// What went wrong, by plugin.
        failures: Vec<Failure>,
    },
}

impl Outcome {
    /// Whether `out` holds a new class file.
    #[must_use]
    pub fn is_changed(&self) -> bool {
        matches!(self, Self::Changed | Self::Failed { changed: true, .. })
    }

    /// What went wrong.
    #[must_use]
    pub fn failures(&self) -> &[Failure] {
        match self {
            Self::Failed { failures, .. } => failures,
            Self::Changed | Self::Unchanged => &[],
        }
    }
}

/// Why a class was left without the edits of a plugin that wanted it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Stable code, `H03xx` (see `docs/errors.md`).
    pub code: &'static str,
    /// Name of the plugin; empty when no plugin is to blame.
    pub plugin: String,
    /// Internal name of the class, for display.
    pub class: String,
    /// Whether the class has the edits of other plugins.
    pub changed: bool,
    /// Name and descriptor of the method the plugin was last seen in.
    pub method: Option<String>,
    /// The instruction that the failing request was about.
    pub bci: Option<u16>,
    /// What happened, in words.
    pub cause: String,
    /// What to do about it, where something is known.
    pub help: Option<String>,
}

/// `warning[H0311]: plugin ... failed on ...` with its `at`, `cause` and `help` lines.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warning[{}]: ", self.code)?;
        let (plugin, class) = (escape::line(&self.plugin), escape::line(&self.class));
        match plugin.as_ref() {
            "" => write!(f, "{class} could not be instrumented")?,
            plugin => write!(f, "plugin `{plugin}` failed on {class}")?,
        }
        f.write_str(if self.changed {
            "; the class was loaded with the edits of the others alone"
        } else {
            "; the class was loaded unchanged"
        })?;
        let at = self.place();
        let notes = [
            ("at", at.as_deref()),
            ("cause", Some(self.cause.as_str())),
            ("help", self.help.as_deref()),
        ];
        crate::error::write_notes(
            f,
            notes
                .into_iter()
                .filter_map(|(label, text)| Some((label, text?))),
        )
    }
}

impl Failure {
    /// `com/acme/Big.parse(I)V  bci 4711`, as much of it as is known.
    fn place(&self) -> Option<String> {
        let method = self.method.as_deref()?;
        let text = match self.bci {
            Some(bci) => format!("{}.{method}  bci {bci}", self.class),
            None => format!("{}.{method}", self.class),
        };
        Some(escape::line(&text).into_owned())
    }
}

/// What is worth saying about one method of a changed class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MethodRemark {
    /// Internal name of the class, for display.
    pub class: String,
    /// Name and descriptor.
    pub method: String,
    /// What, in words.
    pub text: String,
}

/// How often it was known what a plugin asks for in a class, or a plugin was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PlanCounts {
    /// Known from before.
    pub hits: u64,
    /// Asked.
    pub misses: u64,
    /// Files and plans that were no longer what was stored; they are made anew.
    pub damaged: u64,
    /// Bytes that were read from the files, which does not depend on their lengths.
    pub read: u64,
    /// Plans that no cache took, as on a full disk; the next write tries again.
    pub unwritten: u64,
}

impl PlanCounts {
    /// Adds what another plugin or pipeline counted.
    pub fn add(&mut self, other: Self) {
        self.hits += other.hits;
        self.misses += other.misses;
        self.damaged += other.damaged;
        self.read += other.read;
        self.unwritten += other.unwritten;
    }
}

/// What a pipeline has done so far, for the exit summary.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Classes that reached a plugin.
    pub classes: u64,
    /// Of these, changed.
    pub changed: u64,
    /// Of these, without the edits of a plugin that failed (each class counted once).
    pub failed: u64,
    /// The first failures, one per class and plugin, at most [`Summary::KEPT`].
    pub failures: Vec<Failure>,
    /// How many methods were left as they are while the rest of their class was changed.
    pub skipped_methods: u64,
    /// The first of them and why, at most [`Summary::KEPT`].
    pub skipped: Vec<MethodRemark>,
    /// How many methods became longer than HotSpot compiles.
    pub huge_methods: u64,
    /// The first of them, at most [`Summary::KEPT`].
    pub huge: Vec<MethodRemark>,
    /// Time on classes that reached a plugin, summed over threads.
    pub time: Duration,
    /// The part of `time` that was spent on checking what was spliced.
    pub check_time: Duration,
    /// The part of `time` that the code of plugins took, with what it asked the host.
    pub plugin_time: Duration,
    /// Notes of plugins about methods that they left out on purpose, at most [`Summary::KEPT`].
    pub notes: Vec<String>,
    /// Plugins that failed on classes, or were switched off.
    pub failed_plugins: Vec<FailedPlugin>,
    /// What came of the plan cache; none if there is none.
    pub plans: Option<PlanCounts>,
    /// Whether `on-error` is `strict` and something failed: the run must fail too.
    pub strict_failure: bool,
}

impl Summary {
    /// Most entries kept in each list; the counters go on.
    pub const KEPT: usize = 1_000;

    /// Adds what another pipeline did later.
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

/// Adds to a list as long as there is room.
fn keep<T>(list: &mut Vec<T>, more: Vec<T>) {
    let room = Summary::KEPT.saturating_sub(list.len());
    list.extend(more.into_iter().take(room));
}
