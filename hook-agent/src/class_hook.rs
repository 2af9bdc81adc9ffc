//! One class on its way through the class-file load hook.

use crate::agent::Agent;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::live::decode;
use crate::messages::{self, Code};
use crate::{retransform, this_class};
use host::{ClassRequest, Outcome};

/// The `ClassFileLoadHook` event: rejects what nobody wants, then asks the plugins.
///
/// Runs on the loading thread, concurrently and for classes of any loader. A Java exception that is
/// pending stays pending.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    agent.count_seen();
    let Some(name) = load
        .name
        .or_else(|| this_class::internal_name(load.class_data))
    else {
        return;
    };
    if is_excluded(name) {
        return;
    }
    load.local.keeping_exception(|| consider(agent, load, name));
}

fn consider(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) {
    let loader = agent.loader(load.local, load.loader.as_ref());
    // The location costs two field reads, so it is fetched only for a class that may matter.
    if !agent.pipeline.wants(name, &loader, true) {
        return;
    }
    let has_location = agent.has_location(load.local, load.protection_domain.as_ref());
    if !has_location && !agent.pipeline.wants(name, &loader, false) {
        return;
    }
    agent.signal.await_room(&agent.table);
    retransform::with_original(agent, load, name, |original| {
        let request = ClassRequest {
            name,
            loader: &loader,
            has_location,
            bytes: load.class_data,
            original,
            retransforming: load.class_being_redefined.is_some(),
        };
        transform(agent, load, &request);
    });
}

fn transform(agent: &Agent, load: &ClassFileLoad<'_>, request: &ClassRequest<'_>) {
    let mut out = Vec::new();
    match agent.pipeline.transform(request, &agent.table, &mut out) {
        Outcome::Unchanged => {}
        Outcome::Changed => {
            messages::debug(format_args!("{} changed", decode(request.name)));
            if let Err(error) = load.set_new_class_data(&out) {
                messages::warning(
                    Code::Refused,
                    format_args!("no memory of the JVM for {}: {error}", decode(request.name)),
                );
            }
        }
        Outcome::Failed(failure) => agent.class_failed(&failure),
    }
    if agent.table.wants_arrays() {
        agent.signal.wake();
    }
}
