//! The interface `probes`: hits, counts and spans.

use rewriter::MethodIndex;
use rewriter::span::{Arguments, Capture, MAX_LIMIT};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, tokens};
use crate::bindings::classhook::plugin::probes::{Host, HostCapture, HostPlan};
use crate::bindings::classhook::plugin::types::{ProbeId, Site};
use crate::handles::PlanHandle;
use crate::state::State;

impl Host for State {}

fn probe_ids(numbers: std::ops::Range<u32>) -> Vec<ProbeId> {
    numbers.map(|value| ProbeId { value }).collect()
}

impl HostPlan for State {
    fn hit(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        tag: Vec<u8>,
    ) -> Answer<Vec<ProbeId>> {
        let probes = self.transformation()?.hit(tokens(&at), &tag);
        answer(probes.map(probe_ids))
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
        let capture = self.resources.get(&capture)?.clone();
        let method = MethodIndex(method);
        let number = self.transformation()?.span(method, capture, &tag);
        answer(number.map(|value| ProbeId { value }))
    }

    fn note(&mut self, _: Resource<PlanHandle>, at: Site, text: String) -> Result<()> {
        self.transformation()?.note(at.token, text);
        Ok(())
    }

    fn drop(&mut self, _: Resource<PlanHandle>) -> Result<()> {
        Ok(())
    }
}

impl HostCapture for State {
    fn new(&mut self) -> Result<Resource<Capture>> {
        Ok(self.resources.push(Capture::default())?)
    }

    fn argument(&mut self, of: Resource<Capture>, index: u8) -> Result<()> {
        self.resources.get_mut(&of)?.argument(index);
        Ok(())
    }

    fn arguments(&mut self, of: Resource<Capture>) -> Result<()> {
        self.resources.get_mut(&of)?.arguments = Arguments::All;
        Ok(())
    }

    fn return_value(&mut self, of: Resource<Capture>) -> Result<()> {
        self.resources.get_mut(&of)?.returned = true;
        Ok(())
    }

    fn thrown_class(&mut self, of: Resource<Capture>) -> Result<()> {
        self.resources.get_mut(&of)?.thrown = true;
        Ok(())
    }

    fn limit(&mut self, of: Resource<Capture>, bytes: u32) -> Result<()> {
        self.resources.get_mut(&of)?.limit = bytes.min(MAX_LIMIT);
        Ok(())
    }

    fn sum_up(&mut self, of: Resource<Capture>) -> Result<()> {
        self.resources.get_mut(&of)?.sum_up = true;
        Ok(())
    }

    fn drop(&mut self, of: Resource<Capture>) -> Result<()> {
        self.resources.delete(of)?;
        Ok(())
    }
}
