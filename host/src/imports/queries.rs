//! The interface `queries`: instructions by their operands.

use plan_rules::queries::{self, DynamicMatch, InstructionMatch};
use wasmtime::component::Resource;

use super::convert::{Answer, answer, packed};
use crate::bindings::classhook::plugin::queries::{DynamicFound, Found, Host};
use crate::bindings::classhook::plugin::types::InstructionKind;
use crate::handles::ClassHandle;
use crate::store_data::StoreData;

fn place(found: InstructionMatch) -> Found {
    Found {
        at: found.at().into(),
        line: found.line,
        opcode: found.opcode,
        target: found.target.into(),
    }
}

fn dynamic(found: DynamicMatch) -> DynamicFound {
    DynamicFound {
        at: place(found.at),
        name: found.name,
        descriptor: found.descriptor,
        implementation: found.implementation.map(Into::into),
    }
}

impl Host for StoreData {
    fn find(
        &mut self,
        _: Resource<ClassHandle>,
        kind: InstructionKind,
        method: Option<u16>,
        pattern: String,
    ) -> Answer<Vec<Found>> {
        let found = queries::find(self.transformation()?, kind.into(), method, &pattern);
        answer(found.map(|found| found.into_iter().map(place).collect()))
    }

    fn dynamic_calls(
        &mut self,
        _: Resource<ClassHandle>,
        method: Option<u16>,
        pattern: String,
    ) -> Answer<Vec<DynamicFound>> {
        let found = queries::dynamic_calls(self.transformation()?, method, &pattern);
        answer(found.map(|found| found.into_iter().map(dynamic).collect()))
    }

    fn loops(&mut self, _: Resource<ClassHandle>, method: u16) -> Answer<Vec<u64>> {
        let found = queries::loops(self.transformation()?, method);
        answer(found.map(packed))
    }
}
