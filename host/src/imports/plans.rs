//! The interface `plans`: the plan that collects a plugin's edits of one class.

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::plans::{Host, HostPlan};
use crate::bindings::classhook::plugin::types::Site;
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

impl Host for StoreData {}

impl HostPlan for StoreData {
    fn note(&mut self, _: Resource<PlanHandle>, at: Site, text: String) -> Result<()> {
        self.transformation()?.note(at.token, text);
        Ok(())
    }

    fn drop(&mut self, _: Resource<PlanHandle>) -> Result<()> {
        Ok(())
    }
}
