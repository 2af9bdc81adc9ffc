//! The plugins in force: one set at a time, which can be replaced while classes are being loaded.

use host::{CodeSource, Config, Loader, Pipeline};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// Longest wait for classes that the former set is still transforming.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The plugins of one configuration.
#[derive(Debug)]
pub(crate) struct PluginSet {
    /// The number of this set in the agent, from 1.
    pub revision: u32,
    /// The configuration of the plugins.
    pub config: Config,
    /// The plugins themselves.
    pub pipeline: Arc<Pipeline>,
}

impl PluginSet {
    /// Checks whether any plugin may want this class.
    pub fn wants(&self, name: &[u8], loader: &Loader, location: CodeSource<'_>) -> bool {
        self.pipeline.wants(name, loader, location)
    }
}

/// The plugin set in force, and the counts of former sets.
#[derive(Debug)]
pub(crate) struct Plugins {
    current: RwLock<Option<Arc<PluginSet>>>,
    past: Mutex<host::Summary>,
}

impl Plugins {
    /// Creates the first set.
    pub fn new(config: Config, pipeline: Pipeline) -> Self {
        let first = PluginSet {
            revision: 1,
            config,
            pipeline: Arc::new(pipeline),
        };
        Self {
            current: RwLock::new(Some(Arc::new(first))),
            past: Mutex::default(),
        }
    }

    /// The set in force; `None` once the agent leaves. A thread holds it while it transforms a class.
    pub fn current(&self) -> Option<Arc<PluginSet>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Replaces the configuration, and waits until the former set transforms no class. With `None` no class is
    /// instrumented any more.
    pub fn exchange(&self, next: Option<(Config, Arc<Pipeline>)>) {
        let former = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let revision = current.as_ref().map_or(1, |former| former.revision + 1);
            let next = next.map(|(config, pipeline)| {
                Arc::new(PluginSet {
                    revision,
                    config,
                    pipeline,
                })
            });
            std::mem::replace(&mut *current, next)
        };
        let Some(former) = former else { return };
        let until = Instant::now() + TIMEOUT;
        while Arc::strong_count(&former) > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stays = self
            .current()
            .is_some_and(|next| Arc::ptr_eq(&next.pipeline, &former.pipeline));
        if !stays {
            former.pipeline.write_plans(true);
            let summary = former.pipeline.summary();
            self.past
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(summary);
        }
    }

    /// Drops former sets' failures of a plugin that another version has replaced.
    pub fn forget_failures(&self, plugin: &str) {
        let past = self.past.lock();
        let failed = &mut past.unwrap_or_else(PoisonError::into_inner).failed_plugins;
        failed.retain(|failed| failed.plugin != plugin);
    }

    /// Adds the plugins' plans to the plan cache. Without `now`, only plans that have waited for a while are added.
    pub fn write_plans(&self, now: bool) {
        if let Some(current) = self.current() {
            current.pipeline.write_plans(now);
        }
    }

    /// The counts of this set and of former sets.
    pub fn summary(&self) -> host::Summary {
        let mut summary = self
            .past
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        if let Some(current) = self.current() {
            summary.add(current.pipeline.summary());
        }
        summary
    }
}
