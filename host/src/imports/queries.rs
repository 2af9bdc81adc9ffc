//! The interface `queries`: instructions by their operands.

use plan_rules::queries::{self, DynamicMatch, InstructionMatch, MemberReference};
use wasmtime::component::Resource;

use super::convert::{Answer, answer};
use crate::bindings::classhook::plugin::class_file::{Jump, MemberRef};
use crate::bindings::classhook::plugin::queries::{DynamicFound, Found, Host};
use crate::handles::ClassHandle;
use crate::store_data::StoreData;

fn named(found: MemberReference) -> MemberRef {
    MemberRef {
        owner: found.owner,
        name: found.name,
        descriptor: found.descriptor,
    }
}

fn place(found: InstructionMatch) -> Found {
    Found {
        method: found.method.0,
        bci: found.bci.0,
        line: found.line,
        opcode: found.opcode,
        target: named(found.target),
    }
}

fn dynamic(found: DynamicMatch) -> DynamicFound {
    DynamicFound {
        at: place(found.at),
        name: found.name,
        descriptor: found.descriptor,
        implementation: found.implementation.map(named),
    }
}

impl Host for StoreData {
    fn find(
        &mut self,
        _: Resource<ClassHandle>,
        kind: String,
        method: Option<u16>,
        pattern: String,
    ) -> Answer<Vec<Found>> {
        let found = queries::find(self.transformation()?, &kind, method, &pattern);
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

    fn loops(&mut self, _: Resource<ClassHandle>, method: u16) -> Answer<Vec<Jump>> {
        let found = queries::loops(self.transformation()?, method);
        let jump = |(source, target): (rewriter::Bci, rewriter::Bci)| Jump {
            source: source.0,
            target: target.0,
        };
        answer(found.map(|found| found.into_iter().map(jump).collect()))
    }
}
