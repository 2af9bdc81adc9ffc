//! The interfaces `probes` and `host`: what a plugin does.

use wasmtime::Result;
use wasmtime::component::Resource;

use crate::bindings::classhook::plugin::host;
use crate::bindings::classhook::plugin::probes::{Host as ProbesHost, HostPlan};
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

    fn note(&mut self, _: Resource<PlanHandle>, at: Site, text: String) -> Result<()> {
        self.job()?.note(at.token, text);
        Ok(())
    }

    fn drop(&mut self, _: Resource<PlanHandle>) -> Result<()> {
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
