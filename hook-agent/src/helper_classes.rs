//! Helper classes of plugins: each is defined once in a loader, before the first class is loaded whose edits use it.
//!
//! They stay when the plugin leaves, because the JVM unloads a class only with its loader. No class refers to them any
//! more then. Their names contain a checksum of their contents, so a class of the same name is the same class.

use crate::agent::Agent;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::ffi::define::Thrown;
use crate::ffi::jvmti::Jvmti;
use crate::messages;
use crate::names::display_name;
use host::HelperClass;
use host::HelperLoader;
use jvms::modified_utf8;
use std::ffi::CString;

/// The loader of the class that is being loaded or retransformed.
pub(crate) struct LoaderOfClass<'h> {
    pub agent: &'h Agent,
    pub load: &'h ClassFileLoad<'h>,
}

impl HelperLoader for LoaderOfClass<'_> {
    fn define(&self, helper: &HelperClass) -> Result<(), String> {
        let Self { agent, load } = self;
        let loader = load.loader.as_ref();
        let id = agent
            .classes
            .loaders
            .identify(agent.jvmti, load.local, loader);
        let id = id.ok_or("the JVM has no memory to note its loader")?;
        if agent.classes.helpers.has(id, &helper.name) {
            return Ok(());
        }
        let name = CString::new(modified_utf8::encode(&helper.name));
        let name = name.map_err(|_| "its name is invalid")?;
        if let Err(thrown) = load.local.define_class(&name, loader, &helper.bytes)
            && !is_there(agent.jvmti, &thrown)
        {
            return Err(describe(agent.jvmti, &thrown));
        }
        messages::debug(format_args!("{} defined", escape::line(&helper.name)));
        agent.classes.helpers.add(id, &helper.name);
        Ok(())
    }
}

/// Checks whether the loader has the class already: another thread was faster, or a class that was instrumented before
/// the run brought it.
fn is_there(jvmti: Jvmti, thrown: &Thrown<'_>) -> bool {
    let says_so = |text: &String| text.contains("duplicate class definition");
    class_of(jvmti, thrown) == "java/lang/LinkageError"
        && thrown.message.as_ref().is_some_and(says_so)
}

fn class_of(jvmti: Jvmti, thrown: &Thrown<'_>) -> String {
    let signature = thrown
        .class
        .as_ref()
        .and_then(|class| jvmti.class_signature(class).ok());
    signature.map_or_else(String::new, |signature| display_name(&signature))
}

fn describe(jvmti: Jvmti, thrown: &Thrown<'_>) -> String {
    let class = class_of(jvmti, thrown).replace('/', ".");
    match &thrown.message {
        Some(message) => format!("{class}: {message}"),
        None => class,
    }
}
