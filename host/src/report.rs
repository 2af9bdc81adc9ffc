//! Runs plugins that compute tables for a report, outside of any JVM.

use std::sync::Arc;
use std::time::Duration;

use plan_rules::{ComputedTable, ComputedTables};
use wasmtime::Store;
use wasmtime::component::Instance;

use crate::bindings::{TransformPlugin, TransformPluginPre};
use crate::compilation::Compilation;
use crate::compiler::Compiler;
use crate::config::{LogLevel, PluginConfig};
use crate::instance::{expect_configured, explain, new_store};
use crate::plugin_failure::PluginFailure;
use crate::recorded::{Recorded, ReportCall};
use crate::store_data::{StoreData, StoreSettings};
use crate::{capabilities, component, engine};
use errors::{Error, codes};

/// Limit of the CPU time for a report: this constant …
pub const DEADLINE: Duration = Duration::from_secs(5);
/// … plus this time for each recorded row.
const DEADLINE_PER_ROW: Duration = Duration::from_micros(5);

/// Returns the CPU time that a report on this data may take.
#[must_use]
pub fn deadline(recorded: &dyn Recorded) -> Duration {
    let rows: usize = recorded.tables().iter().map(|table| table.rows).sum();
    DEADLINE + DEADLINE_PER_ROW * u32::try_from(rows).unwrap_or(u32::MAX)
}

/// The result of a plugin's report.
#[derive(Debug)]
pub enum Reported {
    /// The plugin has no function `report`.
    Nothing,
    /// The tables of the plugin.
    Tables(Vec<ComputedTable>),
    /// The cause of a failure, and advice, if any.
    Failed(String, Option<String>),
}

/// Runs a plugin's report within this CPU time and the other limits of plugins.
///
/// # Errors
/// If the plugin does not load (`H01xx`).
pub fn report(
    config: &PluginConfig,
    compiler: &dyn Compiler,
    recorded: Arc<dyn Recorded>,
    deadline: Duration,
) -> Result<Reported, Error> {
    let (engine, ticker) = engine::start()?;
    let _running = ticker.run().map_err(|error| engine::broken(&error))?;
    let compilation = Compilation::new(None, compiler);
    let component = component::read(config, &engine, &compilation)?.component;
    let Some(interface) = capabilities::reporter(&component, &engine) else {
        return Ok(Reported::Nothing);
    };
    let pre = component::prepare(config, &component, &engine)?;
    Ok(
        match computed(&pre, config, &interface, recorded, deadline) {
            Ok(tables) => Reported::Tables(tables),
            Err(failure) => Reported::Failed(failure.cause, failure.help),
        },
    )
}

fn computed(
    pre: &TransformPluginPre<StoreData>,
    config: &PluginConfig,
    interface: &str,
    recorded: Arc<dyn Recorded>,
    deadline: Duration,
) -> Result<Vec<ComputedTable>, PluginFailure> {
    let mut store = new_store(
        pre.engine(),
        &StoreSettings::new(&config.name, LogLevel::Warn),
    );
    let called = configured(&mut store, pre, &config.config.to_string());
    let instance = match called {
        Err(error) => return Err(explain(&error, store.data_mut())),
        Ok(Err(failure)) => return Err(failure),
        Ok(Ok(instance)) => instance,
    };
    let state = store.data_mut();
    state.flush();
    state.begin(None);
    state.deadline = deadline;
    state.report = Some(ReportCall {
        recorded,
        computed: ComputedTables::default(),
    });
    store.set_epoch_deadline(1);
    let called = call(&mut store, instance, interface);
    let state = store.data_mut();
    let result = match called {
        Ok(Ok(())) => Ok(()),
        Ok(Err(text)) => Err(PluginFailure::new(
            codes::H0316,
            format!("it returned an error: {text}"),
        )),
        Err(error) => Err(explain(&error, state)),
    };
    state.flush();
    let report = state.report.take();
    result.map(|()| report.map_or_else(Vec::new, |report| report.computed.into_tables()))
}

/// Creates and configures an instance.
fn configured(
    store: &mut Store<StoreData>,
    pre: &TransformPluginPre<StoreData>,
    config: &str,
) -> wasmtime::Result<Result<Instance, PluginFailure>> {
    let instance = pre.instance_pre().instantiate(&mut *store)?;
    let plugin = TransformPlugin::new(&mut *store, &instance)?;
    let transformer = plugin.classhook_plugin_transformer();
    let selectors = transformer.call_configure(&mut *store, config)?;
    Ok(expect_configured(selectors).map(|_| instance))
}

fn call(
    store: &mut Store<StoreData>,
    instance: Instance,
    interface: &str,
) -> wasmtime::Result<Result<(), String>> {
    let missing = || wasmtime::Error::msg(format!("it exports {interface} without `report`"));
    let exported = instance.get_export_index(&mut *store, None, interface);
    let exported = exported.ok_or_else(missing)?;
    let function = instance.get_export_index(&mut *store, Some(&exported), "report");
    let function = function.ok_or_else(missing)?;
    let function = instance.get_typed_func::<(), (Result<(), String>,)>(&mut *store, function)?;
    let (result,) = function.call(&mut *store, ())?;
    Ok(result)
}
