//! The interface `jvm-events`: subscriptions to events, and the names behind the numbers of events.

use observations::Group;
use observations::wish::Filter as Wanted;
use plan_rules::RefusedRequest;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

use super::convert::{Answer, answer};
use crate::bindings::observing::classhook::plugin::jvm_events::{Filter, MethodInfo};
use crate::state::State;

/// The name of the interface in components.
const INTERFACE: &str = "classhook:plugin/jvm-events@0.1.0";

/// The caller's store, which each function gets.
type Store<'a> = StoreContextMut<'a, State>;

/// Links the functions. The generated code would repeat the same steps for each subscription, and
/// be ten times as large.
pub fn link(linker: &mut Linker<State>) -> Result<()> {
    let mut interface = linker.instance(INTERFACE)?;
    for group in Group::ALL {
        interface.func_wrap(
            group.name(),
            move |mut store: Store<'_>, (of,): (Filter,)| {
                Ok((store.data_mut().subscribe(group, of)?,))
            },
        )?;
    }
    interface.func_wrap("name", |mut store: Store<'_>, (id,): (u32,)| {
        let names = &store.data_mut().observer()?.names;
        Ok((names.find_text(id).map(str::to_owned),))
    })?;
    interface.func_wrap("frames", |mut store: Store<'_>, (stack,): (u32,)| {
        Ok((store.data_mut().observer()?.names.find_frames(stack),))
    })?;
    interface.func_wrap("method", |mut store: Store<'_>, (id,): (u32,)| {
        let found = store.data_mut().observer()?.names.find_method(id).cloned();
        let method = found.map(|method| MethodInfo {
            class: method.class,
            name: method.name,
            descriptor: method.descriptor,
            source_file: method.file,
        });
        Ok((method,))
    })
}

impl State {
    fn subscribe(&mut self, group: Group, of: Filter) -> Answer<()> {
        let filter = Wanted {
            classes: of.classes,
            threads: of.threads,
            at_least: of.at_least,
            every: of.every,
            frames: of.frames,
        };
        let added = self.observer()?.subscribe(group, &filter)?;
        answer(added.map_err(|cause| RefusedRequest::unsuitable(None, &cause)))
    }
}
