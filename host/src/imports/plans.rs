//! The interface `plans`: the plan that collects a plugin's edits of one class.

use rewriter::InsertionPoint;
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::plans::{Host, HostPlan};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

impl Host for StoreData {}

impl HostPlan for StoreData {
    fn note(&mut self, _: Resource<PlanHandle>, at: u64, text: String) -> Result<()> {
        if let Some(point) = InsertionPoint::unpacked(at) {
            self.transformation()?.note(point, text);
        }
        Ok(())
    }

    fn drop(&mut self, _: Resource<PlanHandle>) -> Result<()> {
        Ok(())
    }
}
