//! The interface `jvm-events`: subscriptions to events, and the names behind the numbers of events.

use jvm_events::EventKind;
use jvm_events::event_subscription::Filter as Wanted;
use plan_rules::RefusedRequest;
use wasmtime::component::Linker;
use wasmtime::{Result, StoreContextMut};

use super::convert::{Answer, answer};
use crate::bindings::observer::classhook::plugin::jvm_events::{Filter, MethodInfo};
use crate::store_data::StoreData;

/// The name of the interface in components.
const INTERFACE: &str = "classhook:plugin/jvm-events@0.1.0";

/// The caller's store, which each function gets.
type Store<'a> = StoreContextMut<'a, StoreData>;

/// Links the functions. The generated code would repeat the same steps for each subscription, and
/// be ten times as large.
pub fn link(linker: &mut Linker<StoreData>) -> Result<()> {
    let mut interface = linker.instance(INTERFACE)?;
    for kind in EventKind::ALL {
        interface.func_wrap(
            kind.name(),
            move |mut store: Store<'_>, (of,): (Filter,)| {
                Ok((store.data_mut().subscribe(kind, of)?,))
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

impl StoreData {
    fn subscribe(&mut self, kind: EventKind, of: Filter) -> Answer<()> {
        let filter = Wanted {
            classes: of.classes,
            threads: of.threads,
            at_least: of.at_least,
            every: of.every,
            frames: of.frames,
        };
        let added = self.observer()?.subscribe(kind, &filter)?;
        answer(added.map_err(|cause| RefusedRequest::unsuitable(None, &cause)))
    }
}
