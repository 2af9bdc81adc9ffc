//! The interface `helpers`: classes that plugins add to a loader.

use wasmtime::component::Resource;

use super::convert::{Answer, answer};
use crate::bindings::classhook::plugin::helpers::Host;
use crate::handles::PlanHandle;
use crate::state::State;

impl Host for State {
    fn define(&mut self, _: Resource<PlanHandle>, files: Vec<Vec<u8>>) -> Answer<Vec<String>> {
        answer(self.transformation()?.define_helpers(&files))
    }
}
