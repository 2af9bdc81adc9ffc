//! The configuration of an observing plugin, and its instances. Each instance subscribes when it is
//! created.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use observations::Wish;
use observations::batch::Names;
use observations::request::Request;
use observations::tables::Table;
use plan_rules::ComputedTables;
use wasmtime::Store;
use wasmtime::component::{ComponentExportIndex, Instance};

use crate::abilities;
use crate::bindings::TransformPluginPre;
use crate::instance::{Fault, explain, new_store};
use crate::observer_call::ObserverCall;
use crate::recorded::{NothingRecorded, ReportCall};
use crate::state::{State, StoreSettings};

/// The result of an observer's function.
type Outcome = (Result<(), String>,);
/// An instance with its functions `on-events` and `on-results`, or the text of the plugin's error.
type Configured = Result<(Instance, [ComponentExportIndex; 2]), String>;

/// The configuration of an observing plugin, shared by all its instances.
pub(crate) struct Observing {
    /// A number that is unique in the process.
    number: u64,
    pre: TransformPluginPre<State>,
    interface: String,
    config: String,
    settings: StoreSettings,
    wishes: Vec<Wish>,
    /// `true` if it imports requests to the JVM, and the request for owners of monitors.
    may_ask: bool,
    asks_for_owners: bool,
    /// The reason why the plugin was switched off, if it was.
    retired: Mutex<Option<String>>,
}

impl Observing {
    /// Configures a first instance, so that errors are reported when the plugin is loaded.
    pub fn new(
        (pre, interface): (&TransformPluginPre<State>, String),
        config: &str,
        settings: &StoreSettings,
    ) -> Result<Self, Fault> {
        static NUMBERS: AtomicU64 = AtomicU64::new(1);
        let component = pre.instance_pre().component();
        let mut observing = Self {
            may_ask: abilities::asks(component, pre.engine()),
            asks_for_owners: abilities::asks_for_owners(component, pre.engine()),
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            pre: pre.clone(),
            interface,
            config: config.to_owned(),
            settings: settings.clone(),
            wishes: Vec::new(),
            retired: Mutex::default(),
        };
        observing.wishes = Live::new(&observing)?.1;
        Ok(observing)
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
    pub fn wishes(&self) -> &[Wish] {
        &self.wishes
    }

    /// Returns whether the plugin imports requests to the JVM.
    pub fn may_ask(&self) -> bool {
        self.may_ask
    }

    /// Returns whether the plugin imports the request for owners of monitors.
    pub fn asks_for_owners(&self) -> bool {
        self.asks_for_owners
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

/// A running instance.
pub(crate) struct Live {
    store: Store<State>,
    instance: Instance,
    on_events: ComponentExportIndex,
    on_results: ComponentExportIndex,
    trapped: bool,
}

impl Live {
    /// Creates and configures an instance. Also returns its subscriptions.
    pub fn new(observing: &Observing) -> Result<(Self, Vec<Wish>), Fault> {
        let mut store = new_store(observing.pre.engine(), &observing.settings);
        store.data_mut().observer = Some(ObserverCall {
            configures: true,
            ..ObserverCall::default()
        });
        let made = Self::configured(&mut store, observing);
        let state = store.data_mut();
        let (instance, [on_events, on_results]) = match made {
            Err(error) => return Err(explain(&error, state)),
            Ok(Err(text)) => return Err(Fault::new("H0111", text)),
            Ok(Ok(made)) => made,
        };
        state.flush();
        let observer = state.observer.get_or_insert_default();
        observer.configures = false;
        let wishes = std::mem::take(&mut observer.wishes);
        let live = Self {
            store,
            instance,
            on_events,
            on_results,
            trapped: false,
        };
        Ok((live, wishes))
    }

    /// Creates and configures an instance, and finds its functions. Returns the text of the
    /// plugin's error if it rejects its configuration.
    fn configured(store: &mut Store<State>, observing: &Observing) -> wasmtime::Result<Configured> {
        let instance = observing.pre.instance_pre().instantiate(&mut *store)?;
        let interface = &observing.interface;
        let mut function = |name| {
            let exported = instance.get_export_index(&mut *store, None, interface);
            let found = instance.get_export_index(&mut *store, exported.as_ref(), name);
            let missing = || format!("it exports {interface} without `{name}`");
            found.ok_or_else(|| wasmtime::Error::msg(missing()))
        };
        let configure = function("configure")?;
        let functions = [function("on-events")?, function("on-results")?];
        let configure = instance.get_typed_func::<(&str,), Outcome>(&mut *store, configure)?;
        let (answer,) = configure.call(&mut *store, (&observing.config,))?;
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
    pub fn asked(&mut self) -> (Vec<Request>, u64) {
        let observer = self.store.data_mut().observer.get_or_insert_default();
        observer.asked.take()
    }

    /// Passes events to the plugin.
    pub fn on_events(&mut self, names: &mut Names, events: &[u64], lost: u64) -> Result<(), Fault> {
        let generation = names.generation;
        self.call_with(names, |live| {
            let (store, instance) = (&mut live.store, live.instance);
            let function = instance
                .get_typed_func::<(u32, &[u64], u64), Outcome>(&mut *store, live.on_events)?;
            function.call(store, (generation, events, lost))
        })
    }

    /// Requests the plugin's current tables.
    pub fn on_results(&mut self, names: &mut Names, is_end: bool) -> Result<Vec<Table>, Fault> {
        self.store.data_mut().report = Some(ReportCall {
            recorded: Arc::new(NothingRecorded),
            computed: ComputedTables::default(),
        });
        let outcome = self.call_with(names, |live| {
            let (store, instance) = (&mut live.store, live.instance);
            let reason = if is_end { "end" } else { "interval" };
            let function =
                instance.get_typed_func::<(&str,), Outcome>(&mut *store, live.on_results)?;
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
    ) -> Result<(), Fault> {
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
            Ok((Err(text),)) => Err(Fault::new("H0316", format!("it returned an error: {text}"))),
            Err(error) => {
                self.trapped = true;
                Err(explain(&error, state))
            }
        };
        self.store.data_mut().flush();
        result
    }
}
