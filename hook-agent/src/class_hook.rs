//! One class on its way through the class-file load hook.

use crate::agent::Agent;
use crate::changed::Edits;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::live::decode;
use crate::messages::{self, Code};
use crate::plugins::Generation;
use crate::{retransform, this_class};
use host::{ClassRequest, Loader, Outcome};

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
    let Some(generation) = agent.plugins.current() else {
        return;
    };
    let loader = agent.loader(load.local, load.loader.as_ref());
    let edits = wanted(agent, load, name, &loader, &generation);
    if edits.is_some() || load.class_being_redefined.is_some() {
        agent.plugins.changed.note(name, &loader, edits);
    }
}

/// The edits that the class holds from now on, if anybody wants any.
fn wanted(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    loader: &Loader,
    generation: &Generation,
) -> Option<Edits> {
    // The location costs two field reads, so it is fetched only for a class that may matter.
    if !generation.wants(name, loader, true) {
        return None;
    }
    let has_location = agent.has_location(load.local, load.protection_domain.as_ref());
    if !has_location && !generation.wants(name, loader, false) {
        return None;
    }
    agent.signal.await_room(agent.table);
    retransform::with_original(agent, load, name, |original| {
        let request = ClassRequest {
            name,
            loader,
            has_location,
            bytes: load.class_data,
            original,
            retransforming: load.class_being_redefined.is_some(),
        };
        transform(agent, load, &request, generation)
    })
}

fn transform(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    request: &ClassRequest<'_>,
    generation: &Generation,
) -> Option<Edits> {
    let mut out = Vec::new();
    let (outcome, plugins) = generation
        .pipeline
        .transform_by(request, agent.table, &mut out);
    let handed_over = match outcome {
        Outcome::Unchanged => false,
        Outcome::Changed => hand_over(load, request.name, &out),
        Outcome::Failed(failure) => {
            agent.class_failed(&failure);
            false
        }
    };
    if agent.table.wants_arrays() {
        agent.signal.wake();
    }
    handed_over.then_some(Edits {
        generation: generation.number,
        plugins,
    })
}

fn hand_over(load: &ClassFileLoad<'_>, name: &[u8], bytes: &[u8]) -> bool {
    messages::debug(format_args!("{} changed", decode(name)));
    let handed_over = load.set_new_class_data(bytes);
    if let Err(error) = &handed_over {
        messages::warning(
            Code::Refused,
            format_args!("no memory of the JVM for {}: {error}", decode(name)),
        );
    }
    handed_over.is_ok()
}
