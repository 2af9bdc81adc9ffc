//! The agent's state: what its threads and the callbacks share.
//!
//! | part | holds |
//! |---|---|
//! | `plugins` | the plugin set in force |
//! | `instrumented` | which classes hold edits, and from which plugins |
//! | `unprepared` | classes that cannot be retransformed yet |
//! | `reconstituted` | class files of classes of which the JVM hands over other bytes |
//! | `patches` | hot patches in force |
//! | `helper_classes` | which helper classes of plugins each loader has |
//! | `loaders`, `code_sources` | what the hook asks of a class besides its bytes |
//! | `huge_methods` | HotSpot's limit for the length of methods that it compiles |
//! | `failures` | what went wrong |
//! | `snapshot` | the snapshot file |
//! | `sessions` | the event files: the agent's own, and those of commands that are at work |
//! | `test_runs` | which tests are under way |
//! | `observation` | what a recording of the JVM's own events shares with the threads of the application |
//! | `references` | global references of JNI that a recording follows |
//! | `work`, `metaspace` | how far a change of the loaded classes is, and how much metaspace it may take |
//! | `thread_signal`, `control_channel` | how other threads talk to the agent thread, the upkeep thread, the control thread and the one that speaks JaCoCo's protocol |
//!
//! Nothing here acts on the JVM; the modules that do take the parts that they need.

pub(crate) mod code_sources;
pub(crate) mod control_channel;
pub(crate) mod failures;
pub(crate) mod helper_classes;
pub(crate) mod huge_methods;
pub(crate) mod instrumented;
pub(crate) mod loaders;
pub(crate) mod metaspace;
pub(crate) mod observation;
pub(crate) mod patches;
pub(crate) mod plugins;
pub(crate) mod reconstituted;
pub(crate) mod references;
pub(crate) mod sessions;
pub(crate) mod snapshot;
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
use observation::Observation;
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
use test_runs::TestRuns;
use thread_signal::ThreadSignal;
use unprepared::Unprepared;
use work::Work;

/// The agent of one JVM.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The environment that takes the events and retransforms classes.
    pub jvmti: Jvmti,
    /// The settings of the agent itself that it was started with.
    pub settings: Settings,
    /// Where the probes of each class lie.
    pub table: &'static ProbeTable,
    /// The plugins.
    pub plugins: Plugins,
    /// Which classes hold edits.
    pub instrumented: Instrumented,
    /// Classes that cannot be retransformed yet.
    pub unprepared: Unprepared,
    /// Class files of classes of which the JVM hands over other bytes.
    pub reconstituted: Reconstituted,
    /// Hot patches.
    pub patches: Patches,
    /// Class loaders.
    pub loaders: Loaders,
    /// Helper classes of plugins.
    pub helpers: HelperClasses,
    /// Where classes came from.
    pub code_sources: CodeSources,
    /// What was loaded, if nothing was selected; known when the JVM ends.
    pub unselected: OnceLock<Unselected>,
    /// Methods longer than HotSpot compiles.
    pub huge_methods: HugeMethods,
    /// What went wrong.
    pub failures: Failures,
    /// The snapshot.
    pub snapshot: Snapshot,
    /// The tests that are under way.
    pub tests: TestRuns,
    /// The event files.
    pub sessions: Sessions,
    /// Talks to the agent thread.
    pub signal: ThreadSignal,
    /// Talks to the upkeep thread.
    pub upkeep: ThreadSignal,
    /// Talks to the control thread.
    pub control: ControlChannel,
    /// Talks to the thread that speaks JaCoCo's protocol.
    pub jacoco: ControlChannel,
    /// Where that thread listens.
    pub jacoco_address: OnceLock<SocketAddr>,
    /// What is recorded of the JVM's own events.
    pub observation: Observation,
    /// What is known of the run.
    pub meta: Meta,
    /// What distinguishes this JVM from others.
    pub jvm_id: String,
    /// The change of loaded classes that is under way.
    pub work: Work,
    /// The metaspace that it may take.
    pub metaspace: Metaspace,
    started: Instant,
    /// Between the start of the live phase and `VMDeath`.
    running: AtomicBool,
    /// It came for one command, which needs it no more.
    visit_over: AtomicBool,
    /// It was asked to leave, and has.
    left: AtomicBool,
    seen: AtomicU64,
    /// Classes that hold edits and were instrumented again: they count once.
    again: AtomicU64,
    /// Of these, changed again.
    changed_again: AtomicU64,
}

impl Agent {
    /// An agent that waits for the live phase.
    pub fn new(
        jvmti: Jvmti,
        config: Config,
        pipeline: Pipeline,
        writer: SnapshotWriter,
        meta: Meta,
        observation: Observation,
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
            observation,
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

    /// Calls of the agent's environment on this thread.
    pub fn jvm<'a>(&self, live: Live, local: Local<'a>) -> Jvm<'a> {
        Jvm::new(self.jvmti, live, local)
    }

    /// Whether classes may be transformed now.
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Acquire)
    }

    /// Says whether classes may be transformed from now on; whether they might before.
    pub fn set_running(&self, running: bool) -> bool {
        self.running.swap(running, Ordering::AcqRel)
    }

    /// A command needs this plugin no more.
    pub fn end_visit(&self, plugin: &str) {
        if self.settings.visit.as_deref() == Some(plugin) {
            self.visit_over.store(true, Ordering::Release);
        }
    }

    /// Whether the agent came for one command, which needs it no more.
    pub fn is_visit_over(&self) -> bool {
        self.visit_over.load(Ordering::Acquire)
    }

    /// Whether the agent was asked to leave, and has.
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Acquire)
    }

    /// The agent has left.
    pub fn set_left(&self) {
        self.left.store(true, Ordering::Release);
    }

    /// Whether the worker thread instruments the classes that are loaded, which can be asked how far it is.
    pub fn instruments_later(&self) -> bool {
        self.settings.later && self.settings.control
    }

    /// How long the agent has been at work.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The loader of a class as its results are recorded: with its number where loaders are kept apart.
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

    /// Counts a class that was loaded, or that was loaded earlier and is now selected.
    pub fn count_seen(&self) {
        self.seen.fetch_add(1, Ordering::Relaxed);
    }

    /// How many classes were loaded, or loaded earlier and selected.
    pub fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed)
    }

    /// Counts a class that plugins were asked about again, and whether it was changed again.
    pub fn count_again(&self, is_changed: bool) {
        self.again.fetch_add(1, Ordering::Relaxed);
        self.changed_again
            .fetch_add(is_changed.into(), Ordering::Relaxed);
    }

    /// How often plugins were asked about a class again, and how often it was changed again.
    pub fn again(&self) -> (u64, u64) {
        let counts = [&self.again, &self.changed_again];
        let [again, changed] = counts.map(|count| count.load(Ordering::Relaxed));
        (again, changed)
    }

    /// Whether a failure fails the run.
    pub fn is_strict(&self) -> bool {
        let current = self.plugins.current();
        let on_error = current.map_or(self.settings.on_error, |current| {
            current.config.agent.on_error
        });
        on_error == OnError::Strict
    }
}
