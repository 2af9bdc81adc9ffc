//! The plugins at work: one generation at a time, exchanged while classes go on loading.

use crate::changed::Changed;
use host::{Config, Loader, Pipeline};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

/// How long an exchange waits for classes that are still in the hands of the former generation.
const PATIENCE: Duration = Duration::from_secs(5);

/// The plugins of one configuration.
#[derive(Debug)]
pub(crate) struct Generation {
    /// From 1.
    pub number: u32,
    /// What they were configured with.
    pub config: Config,
    /// They themselves.
    pub pipeline: Arc<Pipeline>,
}

impl Generation {
    /// Whether any plugin may want this class.
    pub fn wants(&self, name: &[u8], loader: &Loader, has_location: bool) -> bool {
        self.pipeline.wants(name, loader, has_location)
    }
}

/// The present generation, and what former ones did.
#[derive(Debug)]
pub(crate) struct Plugins {
    current: RwLock<Option<Arc<Generation>>>,
    past: Mutex<host::Summary>,
    /// Which classes hold edits now, and whose.
    pub changed: Changed,
}

impl Plugins {
    /// The first generation.
    pub fn new(config: Config, pipeline: Pipeline) -> Self {
        let first = Generation {
            number: 1,
            config,
            pipeline: Arc::new(pipeline),
        };
        Self {
            current: RwLock::new(Some(Arc::new(first))),
            past: Mutex::default(),
            changed: Changed::default(),
        }
    }

    /// The present generation; `None` once the agent leaves. Whoever holds it transforms a class.
    pub fn current(&self) -> Option<Arc<Generation>> {
        self.current
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Puts another configuration in place of the present one (`None`: nothing more is changed) and
    /// waits until no class is in the hands of the former.
    pub fn exchange(&self, next: Option<(Config, Arc<Pipeline>)>) {
        let former = {
            let mut current = self.current.write().unwrap_or_else(PoisonError::into_inner);
            let number = current.as_ref().map_or(1, |former| former.number + 1);
            let next = next.map(|(config, pipeline)| {
                Arc::new(Generation {
                    number,
                    config,
                    pipeline,
                })
            });
            std::mem::replace(&mut *current, next)
        };
        let Some(former) = former else { return };
        let until = Instant::now() + PATIENCE;
        while Arc::strong_count(&former) > 1 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(1));
        }
        let stays = self
            .current()
            .is_some_and(|next| Arc::ptr_eq(&next.pipeline, &former.pipeline));
        if !stays {
            let summary = former.pipeline.summary();
            self.past
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .add(summary);
        }
    }

    /// What was done so far, by this generation and those before.
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
