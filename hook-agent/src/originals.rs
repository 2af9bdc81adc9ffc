//! The class files of classes that this thread is retransforming.
//!
//! On a retransformation the JVM reconstitutes the class from its own structures and does not pass the class file
//! (measured: other order of pool and methods). So the class file is fetched from the class's loader first, and the
//! pipeline gets it beside the reconstituted bytes.

use crate::agent::reconstituted::Reconstituted;
use crate::ffi::class_file_load::ClassFileLoad;
use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::GlobalRef;
use crate::loaded_classes::LoadedClass;
use crate::messages;
use crate::names::decode;
use crate::structural_edits;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// The class file of a class that this thread is retransforming.
struct Original {
    class: GlobalRef,
    bytes: Rc<Vec<u8>>,
}

thread_local! {
    /// By internal name; several loaders may have a class of the same name.
    static ORIGINALS: RefCell<HashMap<Vec<u8>, Vec<Original>>> = RefCell::default();
}

/// The class files that were fetched.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Files {
    /// Their number.
    pub count: usize,
    /// Their total size, in bytes.
    pub bytes: usize,
}

/// Fetches the class file of each class from its loader.
pub(crate) fn fetch<'c>(jvm: Jvm<'_>, classes: impl Iterator<Item = &'c LoadedClass<'c>>) -> Files {
    let mut files = Files::default();
    for class in classes {
        let Some(original) = original(jvm, class) else {
            continue;
        };
        files.count += 1;
        files.bytes += original.bytes.len();
        let name = class.name.clone();
        ORIGINALS.with_borrow_mut(|originals| originals.entry(name).or_default().push(original));
    }
    files
}

fn original(jvm: Jvm<'_>, class: &LoadedClass<'_>) -> Option<Original> {
    let loader = jvm.jvmti.class_loader(jvm.local, &class.class).ok()?;
    let found = live::class_resource(jvm, loader.as_ref(), &class.name);
    let bytes = found.unwrap_or_else(|cause| {
        messages::debug(format_args!(
            "no class file of {}: {cause}",
            decode(&class.name)
        ));
        None
    })?;
    Some(Original {
        class: jvm.local.globalize(&class.class)?,
        bytes: Rc::new(bytes),
    })
}

/// Drops the fetched class files.
pub(crate) fn clear(jvm: Jvm<'_>) {
    let originals = ORIGINALS.with_borrow_mut(std::mem::take);
    for original in originals.into_values().flatten() {
        jvm.local.release(original.class);
    }
}

/// Finds the class file of a class in the hook, if the JVM passed other bytes and the class file is known: fetched by
/// this thread just now, or kept from an earlier retransformation.
pub(crate) fn find(
    reconstituted: &Reconstituted,
    load: &ClassFileLoad<'_>,
    name: &[u8],
) -> Option<Rc<Vec<u8>>> {
    let fetched = match &load.class_being_redefined {
        None if !structural_edits::knows(name) => return None,
        None => None,
        Some(class) => ORIGINALS.with_borrow(|originals| {
            let mut of_name = originals.get(name)?.iter();
            let same = |original: &&Original| load.local.is_same(class, &original.class);
            of_name.find(same).map(|found| Rc::clone(&found.bytes))
        }),
    };
    match fetched {
        Some(file) => {
            reconstituted.keep(name, load.class_data, &file);
            Some(file)
        }
        None => reconstituted.find(name, load.class_data).map(Rc::new),
    }
}
