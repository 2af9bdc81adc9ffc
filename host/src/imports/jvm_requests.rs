//! The interface `jvm-requests`: requests to the JVM from an observing plugin.

use jvm_events::request::{Request, requests};
use plan_rules::RefusedRequest;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

use super::convert::{Answer, answer};
use crate::store_data::StoreData;

/// The name of the interface in components.
const INTERFACE: &str = "classhook:plugin/jvm-requests@0.1.0";

/// The caller's store, which each function gets.
type Store<'a> = StoreContextMut<'a, StoreData>;

/// Links the functions, as those of `jvm-events`.
pub fn link(linker: &mut Linker<StoreData>) -> Result<()> {
    let mut interface = linker.instance(INTERFACE)?;
    interface.func_wrap(
        requests::THREADS.name,
        |mut store: Store<'_>, (frames,): (u32,)| {
            Ok((store.data_mut().ask(Request::Threads { frames })?,))
        },
    )?;
    interface.func_wrap(requests::CPU_TIMES.name, |mut store: Store<'_>, (): ()| {
        Ok((store.data_mut().ask(Request::CpuTimes)?,))
    })?;
    interface.func_wrap(
        requests::HISTOGRAM.name,
        |mut store: Store<'_>, (live, most): (bool, u32)| {
            Ok((store.data_mut().ask(Request::Histogram { live, most })?,))
        },
    )?;
    interface.func_wrap(requests::PROPERTIES.name, |mut store: Store<'_>, (): ()| {
        Ok((store.data_mut().ask(Request::Properties)?,))
    })?;
    interface.func_wrap(
        requests::STACK.name,
        |mut store: Store<'_>, (thread, frames): (String, u32)| {
            Ok((store.data_mut().ask(Request::Stack { thread, frames })?,))
        },
    )?;
    interface.func_wrap(requests::MONITORS.name, |mut store: Store<'_>, (): ()| {
        Ok((store.data_mut().ask(Request::Monitors)?,))
    })?;
    interface.func_wrap(
        requests::PATHS.name,
        |mut store: Store<'_>, (class,): (String,)| {
            Ok((store.data_mut().ask(Request::Paths { class })?,))
        },
    )?;
    interface.func_wrap(
        requests::MONITOR_USAGE.name,
        |mut store: Store<'_>, (class,): (String,)| {
            Ok((store.data_mut().ask(Request::MonitorUsage { class })?,))
        },
    )
}

impl StoreData {
    fn ask(&mut self, request: Request) -> Answer<()> {
        let asked = self.observer()?.ask(request)?;
        answer(asked.map_err(|cause| RefusedRequest::unsuitable(None, &cause)))
    }
}
