//! Structural edits: wrappers of native methods, so that these can be recorded as spans ([`host::natives`]), and
//! members, supertypes, annotations and names that plugins give to a class.
//!
//! They are applied by the hook of a second JVM TI environment, which cannot retransform. Every retransformation begins
//! with the result of such an environment, so all agents see the edits, and they remain when this agent has left. The
//! environment also holds the prefix of native methods, without which the JVM does not find them. So it is never
//! disposed of.

use crate::agent::Agent;
use crate::agent::loaders::{BOOT, LoaderId};
use crate::ffi::callbacks::class_file_load_hook_callback;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::phases::Live;
use crate::ffi::table::{CAN_SET_NATIVE_METHOD_PREFIX, Capabilities, Event};
use crate::ffi::vm::Vm;
use crate::helper_classes::LoaderOfClass;
use crate::messages::{self, Code};
use crate::names::{decode, dotted};
use crate::selection;
use host::exclusions::is_excluded;
use host::{ClassRequest, StructuralEdits, natives};
use std::collections::{BTreeMap, HashSet};
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The environment, once a plugin has needed it.
static ENVIRONMENT: OnceLock<Jvmti> = OnceLock::new();
/// The applied edits, by class and loader.
static APPLIED: Mutex<BTreeMap<Key, StructuralEdits>> = Mutex::new(BTreeMap::new());

/// The internal name of a class, and its loader.
type Key = (Vec<u8>, LoaderId);

fn applied() -> MutexGuard<'static, BTreeMap<Key, StructuralEdits>> {
    APPLIED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Applies structural edits to classes that are loaded from now on, if a plugin may request some.
pub(crate) fn prepare(agent: &Agent, jvm: Jvm<'_>) {
    let current = agent.plugins.current();
    if !current.is_some_and(|current| current.pipeline.may_edit_structure()) {
        return end(jvm.live);
    }
    let hook = Event::CLASS_FILE_LOAD_HOOK;
    let ready = environment(jvm).and_then(|jvmti| jvmti.set_event(jvm.live, hook, true));
    if let Err(error) = ready {
        messages::warning(
            Code::Refused,
            format_args!(
                "the JVM refuses a prefix for native methods ({error}): they are not recorded, and `off` removes no member of a class"
            ),
        );
    }
}

/// Stops applying structural edits. Classes keep theirs; wrappers of native methods have no effect by themselves.
pub(crate) fn end(live: Live) {
    if let Some(jvmti) = ENVIRONMENT.get() {
        let _ = jvmti.set_event(live, Event::CLASS_FILE_LOAD_HOOK, false);
    }
}

fn environment(jvm: Jvm<'_>) -> Result<Jvmti, JvmtiError> {
    if let Some(there) = ENVIRONMENT.get() {
        return Ok(*there);
    }
    let live = jvm.live;
    let jvmti = Vm::of(jvm.local).and_then(|vm| vm.jvmti());
    let jvmti = jvmti.ok_or(JvmtiError::NOT_AVAILABLE)?;
    let prefix = CString::new(natives::PREFIX).map_err(|_| JvmtiError::NOT_AVAILABLE)?;
    jvmti
        .add_capabilities(live, Capabilities::only(CAN_SET_NATIVE_METHOD_PREFIX))
        .and_then(|()| jvmti.set_native_method_prefix(live, &prefix))
        .and_then(|()| jvmti.set_event_callbacks(live, &class_file_load_hook_callback()))
        .inspect_err(|_| jvmti.dispose())?;
    Ok(*ENVIRONMENT.get_or_init(|| jvmti))
}

/// The `ClassFileLoadHook` event of the environment. The JVM sends it before those of the environments that can
/// retransform, and only when a class is loaded or redefined.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    if let Some(name) = load.name.filter(|name| !is_excluded(name)) {
        load.local.keeping_exception(|| apply(agent, load, name));
    }
}

fn apply(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) {
    let Some(plugins) = agent.plugins.current() else {
        return;
    };
    let edited = match load.class_being_redefined {
        Some(_) => of_class(agent, load, name).and_then(|edits| {
            let bytes = plugins
                .pipeline
                .apply_structural_edits(&edits, load.class_data)?;
            Some((edits, bytes))
        }),
        None => selection::select(agent, load, name, &plugins).and_then(|selected| {
            let request = ClassRequest {
                name,
                loader: &selected.loader,
                location: selected.location.for_selectors(),
                bytes: load.class_data,
                original: None,
                retransforming: false,
            };
            let helpers = LoaderOfClass { agent, load };
            plugins
                .pipeline
                .prepare(&request, agent.results.table, &helpers)
        }),
    };
    let Some((edits, bytes)) = edited else {
        return;
    };
    if let Err(error) = load.set_new_class_data(&bytes) {
        return messages::warning(
            Code::Refused,
            format_args!("the JVM has no memory for {}: {error}", decode(name)),
        );
    }
    agent
        .classes
        .reconstituted
        .keep(name, &bytes, load.class_data);
    let loader = load.loader.as_ref();
    if let Some(loader) = agent
        .classes
        .loaders
        .identify(agent.jvmti, load.local, loader)
    {
        applied().insert((name.to_vec(), loader), edits);
    }
}

fn of_class(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) -> Option<StructuralEdits> {
    let loader = load.loader.as_ref();
    let loader = agent
        .classes
        .loaders
        .find(agent.jvmti, load.local, loader)?;
    applied().get(&(name.to_vec(), loader)).cloned()
}

/// Removes the classes of loaders.
pub(crate) fn remove_loaders(gone: impl Fn(LoaderId) -> bool) {
    applied().retain(|(_, loader), _| !gone(*loader));
}

/// Checks whether a class of this name has structural edits.
pub(crate) fn knows(name: &[u8]) -> bool {
    let from = (name.to_vec(), BOOT);
    applied()
        .range(from..)
        .next()
        .is_some_and(|((first, _), _)| first == name)
}

/// Every prefixed native method, in display form.
pub(crate) fn natives() -> Vec<String> {
    let applied = applied();
    let lines = applied.iter().flat_map(|((class, _), edits)| {
        let class = dotted(class);
        let methods = edits.natives().iter();
        methods.map(move |method| format!("{class}.{method}"))
    });
    each_once(lines)
}

/// Every class to which plugins gave members, supertypes, annotations or names, in display form.
pub(crate) fn structures() -> Vec<String> {
    let applied = applied();
    let changed = applied.iter().filter(|(_, edits)| edits.change_the_class());
    each_once(changed.map(|((class, _), _)| dotted(class)))
}

/// Removes duplicates: several loaders may have a class of one name.
fn each_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    lines.filter(|line| seen.insert(line.clone())).collect()
}
