//! What classes keep: methods in front of native ones, so that these can be recorded as spans ([`host::natives`]), and
//! members, supertypes, annotations and names that plugins gave them.
//!
//! A JVM TI environment of its own lays it, one that cannot retransform: what such an environment makes of a class is
//! what every retransformation begins with, so it is there for all agents, and when this one has left. The environment
//! holds the prefix of native methods too, without which the JVM does not find them; so it is never disposed of.

use crate::agent::Agent;
use crate::exclusions::is_excluded;
use crate::ffi::callbacks::{ClassFileLoad, foundation_callbacks};
use crate::ffi::error::JvmtiError;
use crate::ffi::jvmti::Jvmti;
use crate::ffi::live::decode;
use crate::ffi::phases::Live;
use crate::ffi::refs::Local;
use crate::ffi::table::{CAN_SET_NATIVE_METHOD_PREFIX, Capabilities, Event, JVMTI_VERSION_11};
use crate::messages::{self, Code};
use crate::this_class;
use host::{ClassRequest, Foundation, Loader, natives};
use std::collections::BTreeMap;
use std::ffi::CString;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// The environment, once a plugin needed it.
static ENVIRONMENT: OnceLock<Jvmti> = OnceLock::new();
/// What was laid, by class and loader.
static LAID: Mutex<BTreeMap<Key, Foundation>> = Mutex::new(BTreeMap::new());

/// Internal name of a class, and what loader it has.
type Key = (Vec<u8>, String);

fn all() -> MutexGuard<'static, BTreeMap<Key, Foundation>> {
    LAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lays foundations of classes that are loaded from now on, if a plugin may ask for that.
pub(crate) fn prepare(agent: &Agent, phase: Live, local: Local<'_>) {
    let current = agent.plugins.current();
    if !current.is_some_and(|current| current.pipeline.lays_foundations()) {
        return end(phase);
    }
    let hook = Event::CLASS_FILE_LOAD_HOOK;
    let ready = environment(phase, local).and_then(|jvmti| jvmti.set_event(phase, hook, true));
    if let Err(error) = ready {
        messages::warning(
            Code::Refused,
            format_args!(
                "the JVM does not let native methods be wrapped ({error}): they are not recorded, and `off` takes no member out of a class"
            ),
        );
    }
}

/// Lays none from now on. What is laid stays; the wrappers of native methods do nothing by themselves.
pub(crate) fn end(phase: Live) {
    if let Some(jvmti) = ENVIRONMENT.get() {
        let _ = jvmti.set_event(phase, Event::CLASS_FILE_LOAD_HOOK, false);
    }
}

fn environment(phase: Live, local: Local<'_>) -> Result<Jvmti, JvmtiError> {
    if let Some(there) = ENVIRONMENT.get() {
        return Ok(*there);
    }
    let jvmti = local.vm().and_then(|vm| vm.jvmti(JVMTI_VERSION_11).ok());
    let jvmti = jvmti.ok_or(JvmtiError::NOT_AVAILABLE)?;
    let prefix = CString::new(natives::PREFIX).map_err(|_| JvmtiError::NOT_AVAILABLE)?;
    jvmti
        .add_capabilities(phase, Capabilities::only(CAN_SET_NATIVE_METHOD_PREFIX))
        .and_then(|()| jvmti.set_native_method_prefix(phase, &prefix))
        .and_then(|()| jvmti.set_event_callbacks(phase, &foundation_callbacks()))
        .inspect_err(|_| jvmti.dispose())?;
    Ok(*ENVIRONMENT.get_or_init(|| jvmti))
}

/// The `ClassFileLoadHook` event of the environment: before those of the environments that can retransform, and only
/// when a class is loaded or redefined.
pub(crate) fn class_file_load_hook(agent: &Agent, load: &ClassFileLoad<'_>) {
    let name = load
        .name
        .or_else(|| this_class::internal_name(load.class_data));
    if let Some(name) = name.filter(|name| !is_excluded(name)) {
        load.local.keeping_exception(|| consider(agent, load, name));
    }
}

fn consider(agent: &Agent, load: &ClassFileLoad<'_>, name: &[u8]) {
    let Some(generation) = agent.plugins.current() else {
        return;
    };
    let loader = agent.loader(load.local, load.loader.as_ref());
    let foundation = match load.class_being_redefined {
        Some(_) => of_class(name, &loader).unwrap_or_default(),
        None if !generation.wants(name, &loader, true) => return,
        None => {
            let request = ClassRequest {
                name,
                loader: &loader,
                has_location: agent.has_location(load.local, load.protection_domain.as_ref()),
                bytes: load.class_data,
                original: None,
                retransforming: false,
            };
            generation.pipeline.foundation(&request, agent.table)
        }
    };
    if foundation.is_empty() {
        return;
    }
    let Some(bytes) = generation.pipeline.lay(&foundation, load.class_data) else {
        return;
    };
    if let Err(error) = load.set_new_class_data(&bytes) {
        return messages::warning(
            Code::Refused,
            format_args!("no memory of the JVM for {}: {error}", decode(name)),
        );
    }
    agent.rebuilt.keep(name, &bytes, load.class_data);
    all().insert(key(name, &loader), foundation);
}

fn key(name: &[u8], loader: &Loader) -> (Vec<u8>, String) {
    (name.to_vec(), loader.as_str().to_owned())
}

fn of_class(name: &[u8], loader: &Loader) -> Option<Foundation> {
    all().get(&key(name, loader)).cloned()
}

/// Whether plugins changed what the class is.
pub(crate) fn has_structure(name: &[u8], loader: &Loader) -> bool {
    let all = all();
    let found = all.get(&key(name, loader));
    found.is_some_and(Foundation::has_structure)
}

/// Whether some class of this name has a foundation.
pub(crate) fn knows(name: &[u8]) -> bool {
    let from = (name.to_vec(), String::new());
    all()
        .range(from..)
        .next()
        .is_some_and(|((first, _), _)| first == name)
}

/// Every wrapped method, for people.
pub(crate) fn natives() -> Vec<String> {
    let all = all();
    let lines = all.iter().flat_map(|((class, _), foundation)| {
        let class = decode(class).replace('/', ".");
        let methods = foundation.natives().iter();
        methods.map(move |method| format!("{class}.{method}"))
    });
    lines.collect()
}

/// Every class that plugins gave members, supertypes, annotations or names, for people.
pub(crate) fn structures() -> Vec<String> {
    let all = all();
    let changed = all
        .iter()
        .filter(|(_, foundation)| foundation.has_structure());
    let names = changed.map(|((class, _), _)| decode(class).replace('/', "."));
    names.collect()
}
