//! The interface `probes`: hits, counts and spans.

use rewriter::MethodIndex;
use rewriter::span::{Arguments, Capture, MAX_LIMIT};
use wasmtime::Result;
use wasmtime::component::Resource;

use super::convert::{Answer, answer, tokens};
use crate::bindings::classhook::plugin::probes::{Host, HostCapture};
use crate::bindings::classhook::plugin::types::{ProbeId, Site};
use crate::handles::PlanHandle;
use crate::state::State;

fn probe_ids(numbers: std::ops::Range<u32>) -> Vec<ProbeId> {
    numbers.map(|value| ProbeId { value }).collect()
}

impl Host for State {
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
        let capture = self.kept(&capture)?.clone();
        let method = MethodIndex(method);
        let number = self.transformation()?.span(method, capture, &tag);
        answer(number.map(|value| ProbeId { value }))
    }
}

impl HostCapture for State {
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
