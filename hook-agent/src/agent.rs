//! The agent's state, shared by its threads and the callbacks.
//!
//! | part | holds |
//! |---|---|
//! | `run` | the states of the run |
//! | `plugins` | the plugin set in force |
//! | `classes` | the classes that hold edits, class files, loaders, code sources, helper classes and counts |
//! | `change` | a change of the loaded classes: its progress, and the metaspace that it may take |
//! | `patches` | hot patches in force |
//! | `results` | probe ranges, failures, snapshot, event files and tests |
//! | `subscribers` | the state that recordings of JVM events share with the threads of the application |
//! | `threads` | signals to the agent thread, the upkeep thread, the control thread and the JaCoCo thread |
//!
//! Nothing here acts on the JVM. The modules that do take the parts that they need.

pub(crate) mod change;
pub(crate) mod classes;
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
pub(crate) mod results;
pub(crate) mod run;
pub(crate) mod sessions;
pub(crate) mod snapshot;
pub(crate) mod subscribers;
pub(crate) mod test_runs;
pub(crate) mod thread_signal;
pub(crate) mod threads;
pub(crate) mod unprepared;
pub(crate) mod work;

use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::Live;
use crate::ffi::refs::{Local, LocalRef};
use change::Change;
use classes::Classes;
use host::config::{Agent as Settings, OnError};
use host::{Config, Loader, Pipeline};
use huge_methods::HugeMethods;
use metaspace::Metaspace;
use patches::Patches;
use plugins::Plugins;
use probes::{Meta, SnapshotWriter};
use results::Results;
use run::Run;
use std::borrow::Cow;
use subscribers::Subscribers;
use threads::Threads;

/// The agent of one JVM.
#[derive(Debug)]
pub(crate) struct Agent {
    /// The environment that receives the events and retransforms classes.
    pub jvmti: Jvmti,
    /// The settings of the agent itself, from its start.
    pub settings: Settings,
    /// The states of the run.
    pub run: Run,
    /// The plugins.
    pub plugins: Plugins,
    /// The classes.
    pub classes: Classes,
    /// The change of loaded classes that is under way.
    pub change: Change,
    /// Hot patches.
    pub patches: Patches,
    /// The results.
    pub results: Results,
    /// The recordings of JVM events.
    pub subscribers: Subscribers,
    /// Signals and channels to the agent's threads.
    pub threads: Threads,
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
        let settings = config.agent.clone();
        Self {
            jvmti,
            run: Run::new(),
            plugins: Plugins::new(config, pipeline),
            classes: Classes::new(HugeMethods::new(settings.compile_huge)),
            change: Change::new(Metaspace::new(settings.metaspace)),
            patches: Patches::default(),
            results: Results::new(&settings, writer, meta),
            subscribers,
            threads: Threads::default(),
            settings,
        }
    }

    /// The agent's environment, for calls on this thread.
    pub fn jvm<'a>(&self, live: Live, local: Local<'a>) -> Jvm<'a> {
        Jvm::new(self.jvmti, live, local)
    }

    /// Notes that a command has ended which needed this plugin.
    pub fn end_visit(&self, plugin: &str) {
        if self.settings.visit.as_deref() == Some(plugin) {
            self.run.end_visit();
        }
    }

    /// Checks whether the worker thread instruments the loaded classes. Then a client can ask for the progress.
    pub fn instruments_later(&self) -> bool {
        self.settings.later && self.settings.control
    }

    /// The loader of a class as results name it: with its number if loaders are recorded separately.
    pub fn recorded_loader<'k>(
        &self,
        local: Local<'_>,
        loader: Option<&LocalRef<'_>>,
        kind: &'k Loader,
    ) -> Cow<'k, Loader> {
        let loaders = &self.classes.loaders;
        match self.settings.per_loader {
            true => Cow::Owned(loaders.numbered(self.jvmti, local, loader, kind)),
            false => Cow::Borrowed(kind),
        }
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
