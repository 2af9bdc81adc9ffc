//! The configuration of an observing plugin, shared by its instances.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use jvm_events::EventSubscription;

use crate::bindings::TransformPluginPre;
use crate::capabilities;
use crate::store_data::{StoreData, StoreSettings};

/// The configuration of an observing plugin, shared by all its instances.
pub(crate) struct ObserverConfig {
    /// A number that is unique in the process.
    number: u64,
    pub(super) pre: TransformPluginPre<StoreData>,
    pub(super) interface: String,
    /// The configuration as JSON.
    pub(super) json: String,
    pub(super) settings: StoreSettings,
    subscriptions: Vec<EventSubscription>,
    /// `true` if it imports requests to the JVM, and the request for owners of monitors.
    makes_requests: bool,
    requests_owners: bool,
    /// The reason why the plugin was switched off, if it was.
    retired: Mutex<Option<String>>,
}

impl ObserverConfig {
    /// Creates a configuration without subscriptions.
    pub(super) fn new(
        (pre, interface): (&TransformPluginPre<StoreData>, String),
        json: &str,
        settings: &StoreSettings,
    ) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let component = pre.instance_pre().component();
        Self {
            makes_requests: capabilities::makes_requests(component, pre.engine()),
            requests_owners: capabilities::requests_owners(component, pre.engine()),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            pre: pre.clone(),
            interface,
            json: json.to_owned(),
            settings: settings.clone(),
            subscriptions: Vec::new(),
            retired: Mutex::default(),
        }
    }

    /// Sets the subscriptions, which are the same for each instance.
    pub(super) fn with_subscriptions(self, subscriptions: Vec<EventSubscription>) -> Self {
        Self {
            subscriptions,
            ..self
        }
    }

    /// The name of the plugin.
    pub fn name(&self) -> &str {
        &self.settings.plugin
    }

    /// A number that is unique in the process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The subscriptions of the plugin.
    pub fn subscriptions(&self) -> &[EventSubscription] {
        &self.subscriptions
    }

    /// Returns whether the plugin imports requests to the JVM.
    pub fn makes_requests(&self) -> bool {
        self.makes_requests
    }

    /// Returns whether the plugin imports the request for owners of monitors.
    pub fn requests_owners(&self) -> bool {
        self.requests_owners
    }

    /// Returns the reason why the plugin was switched off, if it was.
    pub fn retired(&self) -> Option<String> {
        let retired = self.retired.lock();
        retired.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Switches the plugin off.
    pub fn retire(&self, cause: String) {
        let retired = self.retired.lock();
        *retired.unwrap_or_else(PoisonError::into_inner) = Some(cause);
    }
}
