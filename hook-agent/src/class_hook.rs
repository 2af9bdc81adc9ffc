//! One class on its way through the class-file load hook.

use crate::agent::Agent;
use crate::changed::Edits;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::ClassFileLoad;
use crate::ffi::live::decode;
use crate::messages::{self, Code};
use crate::plugins::Generation;
use crate::{foundation, patch, retransform, this_class};
use host::foundation::as_wrapped;
use host::{ClassRequest, Loader, Outcome};

/// The `ClassFileLoadHook` event: rejects what nobody wants, then asks the plugins.
///
/// Runs on the loading thread, concurrently and for classes of any loader. A Java exception that is
/// pending stays pending.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    if patch::answered(load) {
        return;
    }
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
    let patched = patch::patched(agent, load, name);
    let generation = agent.plugins.current();
    if patched.is_none() && generation.is_none() {
        return;
    }
    let loader = agent.loader(load.local, load.loader.as_ref());
    let file = patched.as_deref().map(|class| class.bytes.as_slice());
    let bytes = file.map(|file| as_wrapped(file, load.class_data));
    let patch = file.zip(bytes.as_deref());
    let mut edits = generation
        .as_deref()
        .and_then(|generation| wanted(agent, load, name, &loader, patch, generation));
    if let Some((class, bytes)) = patched.as_deref().zip(bytes.as_deref()) {
        // What the plugins made of it is handed over already.
        if edits.is_some() || hand_over(load, name, bytes) {
            let generation = generation.as_deref().map_or(0, |now| now.number);
            let edits = edits.get_or_insert(Edits {
                generation,
                plugins: Vec::new(),
            });
            edits.plugins.insert(0, patch::label(class));
        }
    }
    if edits.is_some() || load.class_being_redefined.is_some() {
        agent.plugins.changed.note(name, &loader, edits);
    }
}

/// The edits that the class holds from now on, if anybody wants any; `patched` is the file that stands in
/// for it, and the same with native methods wrapped.
fn wanted(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    loader: &Loader,
    patched: Option<(&[u8], &[u8])>,
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
    let request = ClassRequest {
        name,
        loader,
        has_location,
        bytes: patched.map_or(load.class_data, |(_, wrapped)| wrapped),
        original: patched.map(|(file, _)| file),
        retransforming: load.class_being_redefined.is_some(),
    };
    if patched.is_some() {
        return transform(agent, load, &request, generation);
    }
    retransform::with_original(agent, load, name, |original| {
        // Plugins that change what a class is do so with the file: what was laid of it is in there again.
        let file = original.filter(|_| !request.retransforming);
        let file = file.filter(|_| foundation::has_structure(name, loader));
        let bytes = file.map(|file| as_wrapped(file, load.class_data));
        let request = ClassRequest {
            original,
            bytes: bytes.as_deref().unwrap_or(request.bytes),
            ..request
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
