//! The interface `helpers`: classes that plugins add to a loader.

use wasmtime::component::Resource;

use super::convert::{Answer, answer};
use crate::bindings::classhook::plugin::helpers::Host;
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

impl Host for StoreData {
    fn define(&mut self, _: Resource<PlanHandle>, files: Vec<Vec<u8>>) -> Answer<Vec<String>> {
        answer(self.transformation()?.define_helpers(&files))
    }
}
