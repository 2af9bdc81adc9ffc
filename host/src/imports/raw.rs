//! The interface `raw`: whole class files.

use edits::Edit;
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::Answer;
use crate::bindings::classhook::plugin::raw::Host;
use crate::handles::{ClassHandle, PlanHandle};
use crate::store_data::StoreData;

impl Host for StoreData {
    fn bytes(&mut self, _: Resource<ClassHandle>) -> Result<Vec<u8>> {
        Ok(self.transformation()?.class().bytes().to_vec())
    }

    fn replace(&mut self, _: Resource<PlanHandle>, bytes: Vec<u8>) -> Answer {
        self.edit(Edit::ReplaceClass(bytes))
    }
}
