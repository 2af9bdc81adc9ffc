//! The class-file load hook for one class.

use crate::agent::Agent;
use crate::agent::instrumented::Edits;
use crate::agent::plugins::PluginSet;
use crate::collected_loaders;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::helper_classes::LoaderOfClass;
use crate::messages::{self, Code};
use crate::names::{decode, name_in};
use crate::originals;
use crate::patch::in_force::PatchCandidate;
use crate::patch::{dry_run, in_force};
use class_versions::restore_parameter_names;
use host::exclusions::is_excluded;
use host::{ClassRequest, CodeSource, Loader};
use rewriter::ClassFile;

/// The `ClassFileLoadHook` event: returns early if no plugin wants the class, then runs the plugins.
///
/// Runs on the loading thread, concurrently and for classes of any loader. A pending Java exception stays pending.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    if dry_run::intercept(load) {
        return;
    }
    if load.class_being_redefined.is_none() {
        agent.count_seen();
    }
    let Some(name) = load.name.or_else(|| name_in(load.class_data)) else {
        return;
    };
    if is_excluded(name) {
        return;
    }
    load.local.keeping_exception(|| consider(agent, load, name));
}

fn consider(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) {
    let considered = PatchCandidate {
        loader: load.loader.as_ref(),
        name,
        class_data: load.class_data,
        is_load: load.class_being_redefined.is_none(),
    };
    let patched = in_force::find(agent, load.local, considered);
    let plugins = agent.plugins.current();
    if patched.is_none() && plugins.is_none() {
        return restore(agent, load, name);
    }
    let loader = agent
        .loaders
        .kind(agent.jvmti, load.local, load.loader.as_ref());
    let files = patched
        .as_ref()
        .map(|(class, bytes)| (class.bytes.as_slice(), bytes.as_slice()));
    let mut edits = plugins
        .as_deref()
        .and_then(|plugins| instrument(agent, load, name, &loader, files, plugins));
    let handed_over = edits.is_some();
    if let Some((class, bytes)) = &patched {
        // The plugins' result includes the patch, and the JVM has it already.
        if handed_over || hand_over(load, name, bytes) {
            let revision = plugins.as_deref().map_or(0, |plugins| plugins.revision);
            let edits = edits.get_or_insert(Edits {
                revision,
                plugins: Vec::new(),
                followers: Vec::new(),
                hits_call: false,
            });
            edits.plugins.insert(0, in_force::label(class));
        }
    } else if !handed_over {
        restore(agent, load, name);
    }
    let changes = !dry_run::is_under_way();
    if changes && (edits.is_some() || load.class_being_redefined.is_some()) {
        note(agent, load, name, edits);
    }
}

/// Notes the edits that the class holds from now on.
fn note(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8], edits: Option<Edits>) {
    let loader = load.loader.as_ref();
    match agent.loaders.identify(agent.jvmti, load.local, loader) {
        Some(loader) => agent.instrumented.note(name, loader, edits),
        None => messages::warning(
            Code::Refused,
            format_args!(
                "the JVM has no memory to note the edits of {}; `off` does not restore it",
                decode(name)
            ),
        ),
    }
    if agent.loaders.are_many() {
        collected_loaders::remove(agent, load.local);
    }
}

/// Runs the plugins on a class and returns its edits, if there are any. `patched` is the class file of a patch, and the
/// same with prefixed native methods.
fn instrument(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    name: &[u8],
    loader: &Loader,
    patched: Option<(&[u8], &[u8])>,
    plugins: &PluginSet,
) -> Option<Edits> {
    // The location costs field reads, so it is fetched only for a class that a plugin may want.
    if !plugins.wants(name, loader, CodeSource::Unread) {
        return None;
    }
    let domain = load.protection_domain.as_ref();
    let asked = plugins.pipeline.needs_location();
    let found = agent.code_sources.find(load.local, domain, asked);
    let location = found.for_selectors();
    if location != CodeSource::Unread && !plugins.wants(name, loader, location) {
        return None;
    }
    agent.upkeep.await_room(agent.table);
    let request = ClassRequest {
        name,
        loader: &agent.recorded_loader(load.local, load.loader.as_ref(), loader),
        location,
        bytes: patched.map_or(load.class_data, |(_, prefixed)| prefixed),
        original: patched.map(|(file, _)| file),
        retransforming: load.class_being_redefined.is_some(),
    };
    if patched.is_some() {
        return transform(agent, load, &request, plugins);
    }
    originals::with_original(&agent.reconstituted, load, name, |original| {
        let restored = original.and_then(|file| restored(load.class_data, file));
        let request = ClassRequest {
            bytes: restored.as_deref().unwrap_or(load.class_data),
            original,
            ..request
        };
        transform(agent, load, &request, plugins)
    })
}

/// Restores the parameter names that the JVM drops when it retransforms a class without edits.
fn restore(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) {
    if load.class_being_redefined.is_none() {
        return;
    }
    originals::with_original(&agent.reconstituted, load, name, |file| {
        if let Some(bytes) = file.and_then(|file| restored(load.class_data, file)) {
            hand_over(load, name, &bytes);
        }
    });
}

/// Returns the class with the parameter names of its class file, or `None` if the class has them. A class file without
/// such names is not parsed.
fn restored(class_data: &[u8], file: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(file, b"MethodParameters")?;
    let class = ClassFile::read(class_data).ok()?;
    restore_parameter_names(&class, &ClassFile::read(file).ok()?)
}

fn transform(
    agent: &Agent,
    load: &ClassFileLoad<'_>,
    request: &ClassRequest<'_>,
    set: &PluginSet,
) -> Option<Edits> {
    let mut out = Vec::new();
    let helpers = LoaderOfClass { agent, load };
    let (outcome, requested) = set
        .pipeline
        .transform_by(request, agent.table, &helpers, &mut out);
    if set.pipeline.has_huge_methods() {
        agent.huge_methods.crossed();
    }
    count(agent, load, request.name, outcome.is_changed());
    let failures = outcome.failures().iter();
    failures.for_each(|failure| agent.failures.class_failed(failure));
    for method in &requested.left_alone {
        let class = decode(request.name);
        agent
            .failures
            .left_alone(&class, method, &requested.plugins);
    }
    let handed_over = outcome.is_changed() && hand_over(load, request.name, &out);
    if agent.table.wants_arrays() {
        agent.upkeep.wake();
        agent.signal.wake(); // it rests long while no array is in use
    }
    handed_over.then_some(Edits {
        revision: set.revision,
        plugins: requested.plugins,
        followers: requested.followers,
        hits_call: requested.hits_call,
    })
}

/// Counts a class that plugins have seen: once, however often it is retransformed or redefined.
fn count(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8], is_changed: bool) {
    let loader = load.loader.as_ref();
    let Some(loader) = agent.loaders.identify(agent.jvmti, load.local, loader) else {
        return; // no memory; noting the edits reports it
    };
    let is_load = load.class_being_redefined.is_none();
    let before = agent
        .instrumented
        .count_selected(name, loader, is_load, is_changed);
    if before.selected {
        agent.count_again(before.changed && is_changed);
    } else if !is_load {
        agent.count_seen(); // loaded before the agent, or before a plugin selected it
    }
}

fn hand_over(load: &ClassFileLoad<'_>, name: &[u8], bytes: &[u8]) -> bool {
    messages::debug(format_args!("{} changed", decode(name)));
    let handed_over = load.set_new_class_data(bytes);
    if let Err(error) = &handed_over {
        messages::warning(
            Code::Refused,
            format_args!("the JVM has no memory for {}: {error}", decode(name)),
        );
    }
    handed_over.is_ok()
}
