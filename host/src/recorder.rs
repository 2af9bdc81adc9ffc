//! The interfaces `probes` and `host`: what a plugin does.

use rewriter::MethodIndex;
use rewriter::span::{Arguments, Capture, MAX_LIMIT};
use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::host;
use crate::bindings::classhook::plugin::probes::{Host as ProbesHost, HostCapture, HostPlan};
use crate::bindings::classhook::plugin::types::{Failure, ProbeId, Site};
use crate::job::PlanHandle;
use crate::state::State;

impl ProbesHost for State {}

impl HostPlan for State {
    fn hit(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        tag: Vec<u8>,
    ) -> Result<std::result::Result<Vec<ProbeId>, Failure>> {
        let probes = self.job()?.hit(at.iter().map(|site| site.token), &tag);
        Ok(probes.map(|probes| probes.map(|value| ProbeId { value }).collect()))
    }

    fn count(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<Site>,
        tag: Vec<u8>,
    ) -> Result<std::result::Result<Vec<ProbeId>, Failure>> {
        let probes = self.job()?.count(at.iter().map(|site| site.token), &tag);
        Ok(probes.map(|probes| probes.map(|value| ProbeId { value }).collect()))
    }

    fn span(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        capture: Resource<Capture>,
        tag: Vec<u8>,
    ) -> Result<std::result::Result<ProbeId, Failure>> {
        let capture = self.resources.get(&capture)?.clone();
        let number = self.job()?.span(MethodIndex(method), capture, &tag);
        Ok(number.map(|value| ProbeId { value }))
    }

    fn note(&mut self, _: Resource<PlanHandle>, at: Site, text: String) -> Result<()> {
        self.job()?.note(at.token, text);
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

impl host::Host for State {
    fn log(&mut self, level: u8, message: String) -> Result<()> {
        self.log(level, message);
        Ok(())
    }

    fn log_enabled(&mut self, level: u8) -> Result<bool> {
        Ok(self.keeps(level))
    }
}
