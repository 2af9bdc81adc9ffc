//! A plugin that observes the JVM: one instance, which receives events in batches on one thread.

pub(crate) mod config;
mod instance;

use std::sync::Arc;
use std::time::Duration;

use errors::codes;
use jvm_events::EventSubscription;
use jvm_events::batch::Names;
use jvm_events::request::Request;
use jvm_events::tables::Table;

use crate::bindings::TransformPluginPre;
use crate::plugin_failure::PluginFailure;
use crate::plugin_runner::PluginRunner;
use crate::store_data::{StoreData, StoreSettings};
use config::ObserverConfig;
use instance::ObserverInstance;

/// Number of consecutive failed calls after which an observer is switched off.
const MOST_FAILURES: u32 = 3;

/// An observing plugin.
pub struct Observer {
    runner: Arc<PluginRunner>,
    config: Arc<ObserverConfig>,
    instance: Option<ObserverInstance>,
    failures: u32,
}

/// Configures a first instance of an observing plugin, so that errors are reported when the plugin is
/// loaded.
pub(crate) fn configure(
    plugin: (&TransformPluginPre<StoreData>, String),
    json: &str,
    settings: &StoreSettings,
) -> Result<ObserverConfig, PluginFailure> {
    let config = ObserverConfig::new(plugin, json, settings);
    let (_, subscriptions) = ObserverInstance::new(&config)?;
    Ok(config.with_subscriptions(subscriptions))
}

/// The failure of a call.
#[derive(Debug, Clone)]
pub struct FailedCall {
    /// The failure.
    pub failure: PluginFailure,
    /// `true` if the observer is switched off.
    pub retired: bool,
}

impl Observer {
    /// Creates an observer, whose instance is created at its first call.
    pub(crate) fn new(runner: Arc<PluginRunner>, config: Arc<ObserverConfig>) -> Self {
        Self {
            runner,
            config,
            instance: None,
            failures: 0,
        }
    }

    /// The name of the plugin.
    #[must_use]
    pub fn plugin(&self) -> &str {
        self.config.name()
    }

    /// The subscriptions of the plugin.
    #[must_use]
    pub fn subscriptions(&self) -> &[EventSubscription] {
        self.config.subscriptions()
    }

    /// A number that is unique in the process for each configuration of a plugin.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.config.number()
    }

    /// Returns whether the plugin may make requests to the JVM.
    #[must_use]
    pub fn makes_requests(&self) -> bool {
        self.config.makes_requests()
    }

    /// Returns whether the plugin may request owners of monitors, which a JVM reports only to
    /// agents loaded at its start.
    #[must_use]
    pub fn requests_owners(&self) -> bool {
        self.config.requests_owners()
    }

    /// Takes the requests since the last call, and the number of rejected ones.
    pub fn take_requests(&mut self) -> (Vec<Request>, u64) {
        let instance = self.instance.as_mut();
        instance.map_or_else(Default::default, ObserverInstance::take_requests)
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
    ) -> (Duration, Result<(), FailedCall>) {
        self.call(|instance| instance.on_events(names, events, lost))
    }

    /// Requests the plugin's current tables; `is_end` marks the last call.
    ///
    /// # Errors
    /// If the plugin fails.
    pub fn on_results(
        &mut self,
        names: &mut Names,
        is_end: bool,
    ) -> (Duration, Result<Vec<Table>, FailedCall>) {
        self.call(|instance| instance.on_results(names, is_end))
    }

    /// Runs `body` with an instance, on a stack for plugins.
    fn call<T>(
        &mut self,
        body: impl FnOnce(&mut ObserverInstance) -> Result<T, PluginFailure>,
    ) -> (Duration, Result<T, FailedCall>) {
        let Self {
            runner,
            config,
            instance,
            ..
        } = self;
        let outcome = runner.run(|| {
            let instance = match instance {
                Some(instance) => instance,
                None => instance.insert(ObserverInstance::new(config)?.0),
            };
            let result = body(instance);
            Ok((instance.time(), instance.has_trapped(), result))
        });
        let outcome = outcome.unwrap_or_else(|text| Err(PluginFailure::new(codes::H0305, text)));
        let (time, trapped, result) = match outcome {
            Ok(outcome) => outcome,
            Err(failure) => (Duration::ZERO, true, Err(failure)),
        };
        if trapped {
            self.instance = None;
        }
        let result = match result {
            Ok(value) => {
                self.failures = 0;
                Ok(value)
            }
            Err(failure) => Err(self.failed(failure)),
        };
        (time, result)
    }

    fn failed(&mut self, failure: PluginFailure) -> FailedCall {
        self.failures += 1;
        let retired = self.failures >= MOST_FAILURES;
        if retired {
            let cause = format!("{} calls in a row failed: {}", self.failures, failure.cause);
            self.config.retire(cause);
        }
        FailedCall { failure, retired }
    }
}
