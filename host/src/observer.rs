//! A plugin that observes the JVM: one instance, which receives events in batches on one thread.

use std::sync::Arc;
use std::time::Duration;

use observations::Wish;
use observations::batch::Names;
use observations::request::Request;
use observations::tables::Table;

use crate::instance::Fault;
use crate::observing::{Live, Observing};
use crate::pipeline::Pipeline;

/// Number of consecutive failed calls after which an observer is switched off.
const MOST_FAILURES: u32 = 3;

/// An observing plugin.
pub struct Observer {
    pipeline: Arc<Pipeline>,
    observing: Arc<Observing>,
    live: Option<Live>,
    failures: u32,
}

/// The failure of a call.
#[derive(Debug, Clone)]
pub struct Failed {
    /// The description of the failure.
    pub fault: Fault,
    /// `true` if the observer is switched off.
    pub retired: bool,
}

impl Observer {
    /// Creates an observer for each observing plugin, except for disabled and switched-off ones.
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

    /// The name of the plugin.
    #[must_use]
    pub fn plugin(&self) -> &str {
        self.observing.name()
    }

    /// The subscriptions of the plugin.
    #[must_use]
    pub fn wishes(&self) -> &[Wish] {
        self.observing.wishes()
    }

    /// A number that is unique in the process for each configuration of a plugin.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.observing.number()
    }

    /// Returns whether the plugin may make requests to the JVM.
    #[must_use]
    pub fn may_ask(&self) -> bool {
        self.observing.may_ask()
    }

    /// Returns whether the plugin may request owners of monitors, which a JVM reports only to
    /// agents loaded at its start.
    #[must_use]
    pub fn asks_for_owners(&self) -> bool {
        self.observing.asks_for_owners()
    }

    /// Takes the requests since the last call, and the number of rejected ones.
    pub fn asked(&mut self) -> (Vec<Request>, u64) {
        let live = self.live.as_mut();
        live.map_or_else(Default::default, Live::asked)
    }

    /// Passes events, whose numbers refer to `names`, and the number of lost events. Returns the
    /// CPU time of the call.
    ///
    /// # Errors
    /// If the plugin fails. The events are then lost, and the plugin may be switched off.
    pub fn on_events(
        &mut self,
        names: &mut Names,
        events: &[u64],
        lost: u64,
    ) -> (Duration, Result<(), Failed>) {
        self.call(|live| live.on_events(names, events, lost))
    }

    /// Requests the plugin's current tables; `is_end` marks the last call.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn on_results(
        &mut self,
        names: &mut Names,
        is_end: bool,
    ) -> (Duration, Result<Vec<Table>, Failed>) {
        self.call(|live| live.on_results(names, is_end))
    }

    /// Runs `body` with an instance, on a stack for plugins.
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
