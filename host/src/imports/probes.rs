//! The interface `probes`: hits, counts, spans and events.

use std::sync::Arc;

use plan_rules::span::{Arguments, Capture, MAX_LIMIT};
use plan_rules::{EventValue, EventValues};
use rewriter::MethodIndex;
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, constant, tokens};
use crate::bindings::classhook::plugin::probes::{Host, HostCapture, HostEventValues};
use crate::bindings::classhook::plugin::types::{Constant, ProbeId, Site};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

fn probe_ids(numbers: std::ops::Range<u32>) -> Vec<ProbeId> {
    numbers.map(|value| ProbeId { value }).collect()
}

impl Host for StoreData {
    fn hit(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        tag: Vec<u8>,
    ) -> Answer<Vec<ProbeId>> {
        let probes = self.transformation()?.hit(tokens(&at), &tag);
        answer(probes.map(probe_ids))
    }

    fn hit_places(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<u64>,
        tag: Vec<u8>,
    ) -> Answer<ProbeId> {
        let probes = self.transformation()?.hit_places(&at, &tag);
        answer(probes.map(|probes| ProbeId {
            value: probes.start,
        }))
    }

    fn count(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        tag: Vec<u8>,
    ) -> Answer<Vec<ProbeId>> {
        let probes = self.transformation()?.count(tokens(&at), &tag);
        answer(probes.map(probe_ids))
    }

    fn span(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        capture: Resource<Capture>,
        tag: Vec<u8>,
    ) -> Answer<ProbeId> {
        let capture = self.kept(&capture)?.clone();
        let method = MethodIndex(method);
        let number = self.transformation()?.span(method, capture, &tag);
        answer(number.map(|value| ProbeId { value }))
    }

    fn event(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        values: Resource<EventValues>,
        tag: Vec<u8>,
    ) -> Answer<Vec<ProbeId>> {
        let values = Arc::new(self.kept(&values)?.clone());
        let events = self.transformation()?.event(tokens(&at), &values, &tag);
        answer(events.map(probe_ids))
    }
}

impl StoreData {
    fn add_value(
        &mut self,
        of: &Resource<EventValues>,
        name: String,
        value: EventValue,
    ) -> Result<()> {
        self.change(of, |values| values.add(name, value))
    }
}

impl HostEventValues for StoreData {
    fn new(&mut self) -> Result<Resource<EventValues>> {
        self.keep(EventValues::default())
    }

    fn this(&mut self, of: Resource<EventValues>, name: String) -> Result<()> {
        self.add_value(&of, name, EventValue::This)
    }

    fn argument(&mut self, of: Resource<EventValues>, name: String, index: u8) -> Result<()> {
        self.add_value(&of, name, EventValue::Argument(index))
    }

    fn operand(&mut self, of: Resource<EventValues>, name: String, index: u8) -> Result<()> {
        self.add_value(&of, name, EventValue::Operand(index))
    }

    fn stack(&mut self, of: Resource<EventValues>, name: String) -> Result<()> {
        self.add_value(&of, name, EventValue::Stack)
    }

    fn variable(
        &mut self,
        of: Resource<EventValues>,
        name: String,
        variable: String,
    ) -> Result<()> {
        self.add_value(&of, name, EventValue::Variable(variable))
    }

    fn slot(
        &mut self,
        of: Resource<EventValues>,
        name: String,
        index: u16,
        kind: String,
    ) -> Result<()> {
        self.add_value(&of, name, EventValue::Slot(index, kind))
    }

    fn constant(&mut self, of: Resource<EventValues>, name: String, value: Constant) -> Result<()> {
        self.add_value(&of, name, EventValue::Constant(constant(value)))
    }

    fn limit(&mut self, of: Resource<EventValues>, bytes: u32) -> Result<()> {
        self.change(&of, |values| values.set_limit(bytes))
    }

    fn per_second(&mut self, of: Resource<EventValues>, most: u32) -> Result<()> {
        self.change(&of, |values| values.set_per_second(most))
    }

    fn drop(&mut self, of: Resource<EventValues>) -> Result<()> {
        self.forget(of)
    }
}

impl HostCapture for StoreData {
    fn new(&mut self) -> Result<Resource<Capture>> {
        self.keep(Capture::default())
    }

    fn argument(&mut self, of: Resource<Capture>, index: u8) -> Result<()> {
        self.change(&of, |capture| capture.argument(index))
    }

    fn arguments(&mut self, of: Resource<Capture>) -> Result<()> {
        self.change(&of, |capture| capture.arguments = Arguments::All)
    }

    fn return_value(&mut self, of: Resource<Capture>) -> Result<()> {
        self.change(&of, |capture| capture.returned = true)
    }

    fn thrown_class(&mut self, of: Resource<Capture>) -> Result<()> {
        self.change(&of, |capture| capture.thrown = true)
    }

    fn limit(&mut self, of: Resource<Capture>, bytes: u32) -> Result<()> {
        self.change(&of, |capture| capture.limit = bytes.min(MAX_LIMIT))
    }

    fn sum_up(&mut self, of: Resource<Capture>) -> Result<()> {
        self.change(&of, |capture| capture.sum_up = true)
    }

    fn drop(&mut self, of: Resource<Capture>) -> Result<()> {
        self.forget(of)
    }
}
