//! The interface `probes`: hits, counts, spans and events.

use rewriter::MethodIndex;
use wasmtime::component::Resource;

use super::convert::{Answer, answer};
use crate::bindings::classhook::plugin::probes::{Capture, Host};
use crate::bindings::classhook::plugin::types::{EventValues, Tag};
use crate::handles::PlanHandle;
use crate::store_data::StoreData;

impl Host for StoreData {
    fn hit(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, tag: Tag) -> Answer<u32> {
        let probes = self.transformation()?.hit(&at, tag.into());
        answer(probes.map(|probes| probes.start))
    }

    fn count(&mut self, _: Resource<PlanHandle>, at: Vec<u64>, tag: Tag) -> Answer<u32> {
        let asked = self.transformation()?;
        let points = asked.points(&at);
        let probes = points.and_then(|points| asked.count(&points, tag.into()));
        answer(probes.map(|probes| probes.start))
    }

    fn span(
        &mut self,
        _: Resource<PlanHandle>,
        method: u16,
        capture: Capture,
        tag: Tag,
    ) -> Answer<u32> {
        let asked = self.transformation()?;
        answer(asked.span(MethodIndex(method), &capture.into(), tag.into()))
    }

    fn event(
        &mut self,
        _: Resource<PlanHandle>,
        at: Vec<u64>,
        values: EventValues,
        tag: Tag,
    ) -> Answer<u32> {
        let asked = self.transformation()?;
        let points = asked.points(&at);
        let events = points.and_then(|points| asked.event(&points, values.into(), tag.into()));
        answer(events.map(|(events, _)| events.start))
    }
}
