//! The class file of a loaded class.
//!
//! The JVM reconstitutes it from its own structures. Before JDK 22, if another thread is linking the class, the
//! instructions are half in the JVM's internal form. So a class is linked before it is read. The methods are in the
//! order of their addresses, so the same class differs from load to load.

use crate::ffi::error::JvmtiError;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::GlobalRef;
use crate::messages;
use crate::names::decode;
use crate::patch::dry_run;
use class_versions::content;
use rewriter::ClassFile;

/// Local references for reading one class.
const CAPACITY: i32 = 16;

/// The class file from which a class was loaded, if its loader still finds it; else the reconstituted one, in an order
/// that depends on its content alone.
///
/// # Errors
///
/// The reason why the JVM does not pass it.
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

/// Makes the JVM link a class that is not linked yet.
pub(super) fn link(jvm: Jvm<'_>, class: &GlobalRef) {
    if jvm.jvmti.is_unprepared(&jvm.local.of_global(class)) {
        dry_run::link(jvm, class);
    }
}

fn resource(jvm: Jvm<'_>, name: &[u8], class: &GlobalRef) -> Option<Vec<u8>> {
    let class = jvm.local.of_global(class);
    let loader = jvm.jvmti.class_loader(jvm.local, &class).ok()?;
    live::class_resource(jvm, loader.as_ref(), name).unwrap_or_else(|cause| {
        messages::debug(format_args!("no class file of {}: {cause}", decode(name)));
        None
    })
}
