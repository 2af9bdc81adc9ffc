//! The loaded classes.

use crate::agent::loaders::{LoaderId, Loaders};
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::LocalRef;
use crate::messages::{self, Code};
use crate::names::internal_name;
use host::Loader;
use host::exclusions::is_excluded;

/// Local references to reserve while all classes of the JVM are listed; the JVM's own limit.
pub(crate) const CAPACITY: i32 = 65_536;

/// A loaded class.
pub(crate) struct LoadedClass<'a> {
    /// The class itself.
    pub class: LocalRef<'a>,
    /// Its internal name.
    pub name: Vec<u8>,
    /// The type of the loader that defined it.
    pub loader: Loader,
    /// The id of this loader.
    pub loader_id: LoaderId,
}

/// Lists every loaded class except arrays, hidden classes and excluded classes. It is lazy: the names of all classes at
/// once would take some megabytes, which the C library keeps for the thread.
pub(crate) fn list<'a>(
    loaders: &'a Loaders,
    jvm: Jvm<'a>,
) -> impl Iterator<Item = LoadedClass<'a>> {
    let classes = jvm.jvmti.loaded_classes(jvm.live, jvm.local);
    let classes = classes.unwrap_or_else(|error| {
        messages::warning(
            Code::Retransform,
            format_args!("the JVM does not list its classes: {error}"),
        );
        Vec::new()
    });
    let known = move |class| loaded(loaders, jvm, class);
    classes.into_iter().filter_map(known)
}

fn loaded<'a>(loaders: &Loaders, jvm: Jvm<'a>, class: LocalRef<'a>) -> Option<LoadedClass<'a>> {
    let signature = jvm.jvmti.class_signature(&class).ok()?;
    let name = internal_name(&signature)?.to_vec();
    if is_excluded(&name) {
        return None;
    }
    let loader = jvm.jvmti.class_loader(jvm.local, &class).ok()?;
    Some(LoadedClass {
        class,
        name,
        loader: loaders.kind(jvm.jvmti, jvm.local, loader.as_ref()),
        loader_id: loaders.identify(jvm.jvmti, jvm.local, loader.as_ref())?,
    })
}
