//! An instance of an observing plugin, which subscribes when it is created.

use std::sync::Arc;
use std::time::Duration;

use errors::codes;
use jvm_events::EventSubscription;
use jvm_events::batch::Names;
use jvm_events::request::Request;
use jvm_events::tables::Table;
use plan_rules::ComputedTables;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, Instance};

use super::config::ObserverConfig;
use crate::instance::{explain, new_store};
use crate::observer_call::ObserverCall;
use crate::plugin_failure::PluginFailure;
use crate::recorded::{NothingRecorded, ReportCall};
use crate::store_data::StoreData;

/// The result of an observer's function.
type Outcome = (Result<(), String>,);
/// An instance with its functions `on-events` and `on-results`, or the text of the plugin's error.
type Configured = Result<(Instance, [ComponentExportIndex; 2]), String>;

/// A running instance.
pub(crate) struct ObserverInstance {
    store: Store<StoreData>,
    instance: Instance,
    on_events: ComponentExportIndex,
    on_results: ComponentExportIndex,
    trapped: bool,
}

impl ObserverInstance {
    /// Creates and configures an instance. Also returns its subscriptions.
    pub fn new(config: &ObserverConfig) -> Result<(Self, Vec<EventSubscription>), PluginFailure> {
        let mut store = new_store(config.pre.engine(), &config.settings);
        store.data_mut().observer = Some(ObserverCall {
            configures: true,
            ..ObserverCall::default()
        });
        let made = Self::configured(&mut store, config);
        let state = store.data_mut();
        let (instance, [on_events, on_results]) = match made {
            Err(error) => return Err(explain(&error, state)),
            Ok(Err(text)) => return Err(PluginFailure::new(codes::H0111, text)),
            Ok(Ok(made)) => made,
        };
        state.flush();
        let observer = state.observer.get_or_insert_default();
        observer.configures = false;
        let subscriptions = std::mem::take(&mut observer.subscriptions);
        let created = Self {
            store,
            instance,
            on_events,
            on_results,
            trapped: false,
        };
        Ok((created, subscriptions))
    }

    /// Creates and configures an instance, and finds its functions. Returns the text of the
    /// plugin's error if it rejects its configuration.
    fn configured(
        store: &mut Store<StoreData>,
        config: &ObserverConfig,
    ) -> wasmtime::Result<Configured> {
        let instance = config.pre.instance_pre().instantiate(&mut *store)?;
        let interface = &config.interface;
        let mut function = |name| {
            let exported = instance.get_export_index(&mut *store, None, interface);
            let found = instance.get_export_index(&mut *store, exported.as_ref(), name);
            let missing = || format!("it exports {interface} without `{name}`");
            found.ok_or_else(|| wasmtime::Error::msg(missing()))
        };
        let configure = function("configure")?;
        let functions = [function("on-events")?, function("on-results")?];
        let configure = instance.get_typed_func::<(&str,), Outcome>(&mut *store, configure)?;
        let (answer,) = configure.call(&mut *store, (&config.json,))?;
        Ok(answer.map(|()| (instance, functions)))
    }

    /// Returns the CPU time of the last call.
    pub fn time(&self) -> Duration {
        self.store.data().time()
    }

    /// Returns whether the instance has trapped and cannot be called again.
    pub fn has_trapped(&self) -> bool {
        self.trapped
    }

    /// Takes the requests since the last call, and the number of rejected ones.
    pub fn take_requests(&mut self) -> (Vec<Request>, u64) {
        let observer = self.store.data_mut().observer.get_or_insert_default();
        observer.open_requests.take()
    }

    /// Passes events to the plugin.
    pub fn on_events(
        &mut self,
        names: &mut Names,
        events: &[u64],
        lost: u64,
    ) -> Result<(), PluginFailure> {
        let generation = names.generation;
        self.call_with(names, |this| {
            let (store, instance) = (&mut this.store, this.instance);
            let function = instance
                .get_typed_func::<(u32, &[u64], u64), Outcome>(&mut *store, this.on_events)?;
            function.call(store, (generation, events, lost))
        })
    }

    /// Requests the plugin's current tables.
    pub fn on_results(
        &mut self,
        names: &mut Names,
        is_end: bool,
    ) -> Result<Vec<Table>, PluginFailure> {
        self.store.data_mut().report = Some(ReportCall {
            recorded: Arc::new(NothingRecorded),
            computed: ComputedTables::default(),
        });
        let outcome = self.call_with(names, |this| {
            let (store, instance) = (&mut this.store, this.instance);
            let reason = if is_end { "end" } else { "interval" };
            let function =
                instance.get_typed_func::<(&str,), Outcome>(&mut *store, this.on_results)?;
            function.call(store, (reason,))
        });
        let report = self.store.data_mut().report.take();
        let table = |table: plan_rules::ComputedTable| Table {
            name: table.name,
            columns: table.columns,
            rows: table.rows,
        };
        let made = report.map(|report| report.computed.into_tables());
        outcome.map(|()| made.into_iter().flatten().map(table).collect())
    }

    /// Runs a call within the limits. Meanwhile the plugin can look up `names`.
    fn call_with(
        &mut self,
        names: &mut Names,
        call: impl FnOnce(&mut Self) -> wasmtime::Result<Outcome>,
    ) -> Result<(), PluginFailure> {
        let state = self.store.data_mut();
        state.begin(None);
        let observer = state.observer.get_or_insert_default();
        observer.names = std::mem::take(names);
        self.store.set_epoch_deadline(1);
        let called = call(self);
        let state = self.store.data_mut();
        *names = std::mem::take(&mut state.observer.get_or_insert_default().names);
        let result = match called {
            Ok((Ok(()),)) => Ok(()),
            Ok((Err(text),)) => Err(PluginFailure::new(
                codes::H0316,
                format!("it returned an error: {text}"),
            )),
            Err(error) => {
                self.trapped = true;
                Err(explain(&error, state))
            }
        };
        self.store.data_mut().flush();
        result
    }
}
