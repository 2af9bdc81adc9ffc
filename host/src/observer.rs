//! A plugin that observes the JVM: one instance, which gets events in batches on one thread.

use std::sync::Arc;
use std::time::Duration;

use observations::Wish;
use observations::batch::Names;
use observations::request::Request;
use observations::tables::Table;

use crate::instance::Fault;
use crate::observing::{Live, Observing};
use crate::pipeline::Pipeline;

/// So many calls in a row that fail retire an observer.
const MOST_FAILURES: u32 = 3;

/// A plugin that observes.
pub struct Observer {
    pipeline: Arc<Pipeline>,
    observing: Arc<Observing>,
    live: Option<Live>,
    failures: u32,
}

/// Why a call brought nothing.
#[derive(Debug, Clone)]
pub struct Failed {
    /// What happened.
    pub fault: Fault,
    /// Whether the observer gets no more.
    pub retired: bool,
}

impl Observer {
    /// The plugins that observe, each anew; those that are switched off or were retired are left out.
    #[must_use]
    pub fn all(pipeline: &Arc<Pipeline>) -> Vec<Self> {
        let observer = |observing: &Arc<Observing>| Self {
            pipeline: Arc::clone(pipeline),
            observing: Arc::clone(observing),
            live: None,
            failures: 0,
        };
        pipeline.observing().map(observer).collect()
    }

    /// The plugin.
    #[must_use]
    pub fn plugin(&self) -> &str {
        self.observing.name()
    }

    /// What it wants to be told.
    #[must_use]
    pub fn wishes(&self) -> &[Wish] {
        self.observing.wishes()
    }

    /// What distinguishes the plugin, as it was configured, from all others of the process.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.observing.number()
    }

    /// Whether it may ask the JVM something.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.observing.may_ask()
    }

    /// Whether it may ask for the owners of monitors, which a JVM tells only to agents that it was started with.
    #[must_use]
    pub fn asks_for_owners(&self) -> bool {
        self.observing.asks_for_owners()
    }

    /// What it asked since the last time, and how many requests were refused.
    pub fn asked(&mut self) -> (Vec<Request>, u64) {
        let live = self.live.as_mut();
        live.map_or_else(Default::default, Live::asked)
    }

    /// Hands it events, whose numbers `names` knows, and says how many were lost before; the CPU time that it took.
    ///
    /// # Errors
    /// If it fails; the events are lost then, and perhaps it gets no more.
    pub fn on_events(
        &mut self,
        names: &mut Names,
        events: &[u64],
        lost: u64,
    ) -> (Duration, Result<(), Failed>) {
        self.call(|live| live.on_events(names, events, lost))
    }

    /// The tables that it makes now; `is_end` says whether it is asked for the last time.
    ///
    /// # Errors
    /// If it fails.
    pub fn on_results(
        &mut self,
        names: &mut Names,
        is_end: bool,
    ) -> (Duration, Result<Vec<Table>, Failed>) {
        self.call(|live| live.on_results(names, is_end))
    }

    /// Runs `body` with an instance, on a stack of the plugins'.
    fn call<T>(
        &mut self,
        body: impl FnOnce(&mut Live) -> Result<T, Fault>,
    ) -> (Duration, Result<T, Failed>) {
        let Self {
            pipeline,
            observing,
            live,
            ..
        } = self;
        let outcome = pipeline.on_plugin_stack(|| {
            let live = match live {
                Some(live) => live,
                None => live.insert(Live::new(observing)?.0),
            };
            let result = body(live);
            Ok((live.time(), live.has_trapped(), result))
        });
        let outcome = outcome.unwrap_or_else(|text| Err(Fault::new("H0305", text)));
        let (time, trapped, result) = match outcome {
            Ok(outcome) => outcome,
            Err(fault) => (Duration::ZERO, true, Err(fault)),
        };
        if trapped {
            self.live = None;
        }
        let result = match result {
            Ok(value) => {
                self.failures = 0;
                Ok(value)
            }
            Err(fault) => Err(self.failed(fault)),
        };
        (time, result)
    }

    fn failed(&mut self, fault: Fault) -> Failed {
        self.failures += 1;
        let retired = self.failures >= MOST_FAILURES;
        if retired {
            let cause = format!("{} calls in a row failed: {}", self.failures, fault.cause);
            self.observing.retire(cause);
        }
        Failed { fault, retired }
    }
}
