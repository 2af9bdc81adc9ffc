//! The agent's state, shared by its threads and the callbacks.
//!
//! | part | holds |
//! |---|---|
//! | `plugins` | the plugin set in force |
//! | `instrumented` | the classes that hold edits, each with the plugins of its edits |
//! | `unprepared` | classes that cannot be retransformed yet |
//! | `reconstituted` | class files of classes for which the JVM passes other bytes to the hook |
//! | `patches` | hot patches in force |
//! | `helper_classes` | the helper classes of plugins that each loader has |
//! | `loaders`, `code_sources` | loaders and code sources of classes, for the hook |
//! | `huge_methods` | HotSpot's length limit for methods that it compiles |
//! | `failures` | failures |
//! | `snapshot` | the snapshot file |
//! | `sessions` | the event files: the agent's own, and those of commands |
//! | `test_runs` | the tests that are under way |
//! | `subscribers` | the state that recordings of JVM events share with the threads of the application |
//! | `references` | global references of JNI that a recording follows |
//! | `work`, `metaspace` | the progress of a change of the loaded classes, and the metaspace that it may take |
//! | `thread_signal`, `control_channel` | signals to the agent thread, the upkeep thread, the control thread and the
//! JaCoCo thread |
//!
//! Nothing here acts on the JVM. The modules that do take the parts that they need.

pub(crate) mod code_sources;
pub(crate) mod control_channel;
pub(crate) mod failures;
pub(crate) mod helper_classes;
pub(crate) mod huge_methods;
pub(crate) mod instrumented;
pub(crate) mod loaders;
pub(crate) mod metaspace;
pub(crate) mod patches;
pub(crate) mod plugins;
pub(crate) mod reconstituted;
pub(crate) mod references;
pub(crate) mod sessions;
pub(crate) mod snapshot;
pub(crate) mod subscribers;
pub(crate) mod test_runs;
pub(crate) mod thread_signal;
pub(crate) mod unprepared;
pub(crate) mod work;

use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::Live;
use crate::ffi::refs::{Local, LocalRef};
use crate::probe_table;
use crate::spans::event_file::EventFile;
use code_sources::CodeSources;
use control_channel::ControlChannel;
use failures::Failures;
use helper_classes::HelperClasses;
use host::config::{Agent as Settings, OnError};
use host::{Config, Loader, Pipeline};
use huge_methods::HugeMethods;
use instrumented::Instrumented;
use loaders::Loaders;
use metaspace::Metaspace;
use patches::Patches;
use plugins::Plugins;
use probes::{Meta, ProbeTable, SnapshotWriter, Unselected};
use reconstituted::Reconstituted;
use sessions::Sessions;
use snapshot::Snapshot;
use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use subscribers::Subscribers;
use test_runs::TestRuns;
use thread_signal::ThreadSignal;
use unprepared::Unprepared;
use work::Work;

/// The agent of one JVM.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The environment that receives the events and retransforms classes.
    pub jvmti: Jvmti,
    /// The settings of the agent itself, from its start.
    pub settings: Settings,
    /// The probe ranges of each class.
    pub table: &'static ProbeTable,
    /// The plugins.
    pub plugins: Plugins,
    /// The classes that hold edits.
    pub instrumented: Instrumented,
    /// Classes that cannot be retransformed yet.
    pub unprepared: Unprepared,
    /// Class files of classes for which the JVM passes other bytes to the hook.
    pub reconstituted: Reconstituted,
    /// Hot patches.
    pub patches: Patches,
    /// Class loaders.
    pub loaders: Loaders,
    /// Helper classes of plugins.
    pub helpers: HelperClasses,
    /// The code sources of classes.
    pub code_sources: CodeSources,
    /// The loaded classes, if the selectors selected no class; set at the end of the JVM.
    pub unselected: OnceLock<Unselected>,
    /// HotSpot's length limit for methods that it compiles.
    pub huge_methods: HugeMethods,
    /// The failures.
    pub failures: Failures,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The tests that are under way.
    pub tests: TestRuns,
    /// The event files.
    pub sessions: Sessions,
    /// The signal to the agent thread.
    pub signal: ThreadSignal,
    /// The signal to the upkeep thread.
    pub upkeep: ThreadSignal,
    /// The channel to the control thread.
    pub control: ControlChannel,
    /// The channel to the JaCoCo thread.
    pub jacoco: ControlChannel,
    /// The address at which the JaCoCo thread listens.
    pub jacoco_address: OnceLock<SocketAddr>,
    /// The recordings of JVM events.
    pub subscribers: Subscribers,
    /// The metadata of the run.
    pub meta: Meta,
    /// The id of this JVM, unique among JVMs.
    pub jvm_id: String,
    /// The change of loaded classes that is under way.
    pub work: Work,
    /// The metaspace that a change of loaded classes may take.
    pub metaspace: Metaspace,
    started: Instant,
    /// True between the start of the live phase and `VMDeath`.
    running: AtomicBool,
    /// True if the agent was loaded for one command, and that command has ended.
    visit_over: AtomicBool,
    /// True once the agent has left.
    left: AtomicBool,
    seen: AtomicU64,
    /// Instrumentations of classes that held edits before; each such class counts once.
    again: AtomicU64,
    /// Instrumentations among these that changed the class again.
    changed_again: AtomicU64,
}

impl Agent {
    /// Creates an agent that waits for the live phase.
    pub fn new(
        jvmti: Jvmti,
        config: Config,
        pipeline: Pipeline,
        writer: SnapshotWriter,
        meta: Meta,
        subscribers: Subscribers,
    ) -> Self {
        let table = probe_table::table();
        table.keep_loaders_apart(config.agent.per_loader);
        Self {
            jvmti,
            metaspace: Metaspace::new(config.agent.metaspace),
            settings: config.agent.clone(),
            table,
            jvm_id: meta.jvm_id(),
            sessions: Sessions::new(
                EventFile::new(0, meta.clone(), &config.agent),
                meta.start_ms,
            ),
            subscribers,
            meta,
            huge_methods: HugeMethods::new(config.agent.compile_huge),
            plugins: Plugins::new(config, pipeline),
            instrumented: Instrumented::default(),
            unprepared: Unprepared::default(),
            reconstituted: Reconstituted::default(),
            patches: Patches::default(),
            loaders: Loaders::default(),
            helpers: HelperClasses::default(),
            code_sources: CodeSources::default(),
            unselected: OnceLock::new(),
            failures: Failures::default(),
            snapshot: Snapshot::new(writer),
            tests: TestRuns::default(),
            signal: ThreadSignal::default(),
            upkeep: ThreadSignal::default(),
            control: ControlChannel::default(),
            jacoco: ControlChannel::default(),
            jacoco_address: OnceLock::new(),
            work: Work::default(),
            started: Instant::now(),
            running: AtomicBool::new(false),
            visit_over: AtomicBool::new(false),
            left: AtomicBool::new(false),
            seen: AtomicU64::new(0),
            again: AtomicU64::new(0),
            changed_again: AtomicU64::new(0),
        }
    }

    /// The agent's environment, for calls on this thread.
    pub fn jvm<'a>(&self, live: Live, local: Local<'a>) -> Jvm<'a> {
        Jvm::new(self.jvmti, live, local)
    }

    /// Checks whether the hook may transform classes now.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire)
    }

    /// Sets whether the hook may transform classes, and returns the former value.
    pub fn set_running(&self, running: bool) -> bool {
        self.running.swap(running, Ordering::AcqRel)
    }

    /// Notes that a command has ended which needed this plugin.
    pub fn end_visit(&self, plugin: &str) {
        if self.settings.visit.as_deref() == Some(plugin) {
            self.visit_over.store(true, Ordering::Release);
        }
    }

    /// Checks whether the agent was loaded for one command, and that command has ended.
    pub fn is_visit_over(&self) -> bool {
        self.visit_over.load(Ordering::Acquire)
    }

    /// Checks whether the agent has left.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// Notes that the agent has left.
    pub fn set_left(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Checks whether the worker thread instruments the loaded classes. Then a client can ask for the progress.
    pub fn instruments_later(&self) -> bool {
        self.settings.later && self.settings.control
    }

    /// The time since the start of the agent.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The loader of a class as results name it: with its number if loaders are recorded separately.
    pub fn recorded_loader<'k>(
        &self,
        local: Local<'_>,
        loader: Option<&LocalRef<'_>>,
        kind: &'k Loader,
    ) -> Cow<'k, Loader> {
        match self.settings.per_loader {
            true => Cow::Owned(self.loaders.numbered(self.jvmti, local, loader, kind)),
            false => Cow::Borrowed(kind),
        }
    }

    /// Counts a class that is being loaded, or that was loaded earlier and is selected now.
    pub fn count_seen(&self) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    /// The number of classes that were loaded, or loaded earlier and selected.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Counts another instrumentation of a class, and whether it changed the class again.
    pub fn count_again(&self, is_changed: bool) {
        self.again.fetch_add(1, Ordering::Relaxed);
        self.changed_again
            .fetch_add(is_changed.into(), Ordering::Relaxed);
    }

    /// The number of repeated instrumentations, and the number that changed the class again.
    pub fn again(&self) -> (u64, u64) {
        let counts = [&self.again, &self.changed_again];
        let [again, changed] = counts.map(|count| count.load(Ordering::Relaxed));
        (again, changed)
    }

    /// Checks whether a failure fails the run.
    pub fn is_strict(&self) -> bool {
        let current = self.plugins.current();
        let on_error = current.map_or(self.settings.on_error, |current| {
            current.config.agent.on_error
        });
        on_error == OnError::Strict
    }
}
