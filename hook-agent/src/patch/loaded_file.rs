//! The class file of a class that is loaded.
//!
//! The JVM reconstitutes it from its own structures. Before JDK 22 it does so for a class that another thread is just
//! linking from instructions that are half in its own form, so a class is linked before it is read. The order of the
//! methods is that of addresses, so the same class differs from load to load.

use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::GlobalRef;
use crate::messages;
use crate::names::decode;
use crate::patch::dry_run;
use rewriter::{ClassFile, content};

/// Local references that reading one class takes.
const CAPACITY: i32 = 16;

/// The class file that a class was loaded from, if its loader still finds that; else the reconstituted one, in a form
/// that depends on nothing but its content.
///
/// # Errors
///
/// Why the JVM does not hand it over.
pub(super) fn read(jvm: Jvm<'_>, name: &[u8], class: &GlobalRef) -> Result<Vec<u8>, JvmtiError> {
    link(jvm, class);
    let reconstituted = dry_run::class_file(jvm, class)?;
    let file = jvm.with_frame(CAPACITY, |jvm| resource(jvm, name, class));
    let Ok(loaded) = ClassFile::read(&reconstituted) else {
        return Ok(reconstituted);
    };
    if let Some(file) = file.flatten()
        && let Ok(found) = ClassFile::read(&file)
        && content::is_reconstituted(&loaded, &found)
    {
        return Ok(file);
    }
    Ok(content::in_order(&loaded))
}

/// Has the JVM link a class that is not linked yet.
pub(super) fn link(jvm: Jvm<'_>, class: &GlobalRef) {
    if jvm.jvmti.is_unprepared(&jvm.local.of_global(class)) {
        dry_run::link(jvm, class);
    }
}

fn resource(jvm: Jvm<'_>, name: &[u8], class: &GlobalRef) -> Option<Vec<u8>> {
    let class = jvm.local.of_global(class);
    let loader = jvm.jvmti.class_loader(jvm.local, &class).ok()?;
    live::class_resource(jvm, loader.as_ref(), name).unwrap_or_else(|cause| {
        messages::debug(format_args!("no file of {}: {cause}", decode(name)));
        None
    })
}
