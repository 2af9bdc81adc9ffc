//! The class files of classes outside a patch, as the loaders of the patched classes find them.

use crate::ffi::jvm::Jvm;
use crate::ffi::live;
use crate::ffi::refs::GlobalRef;
use crate::patch::target::Target;
use class_versions::ClassPath;

/// Local references for reading one class.
const CAPACITY: i32 = 16;

/// The loaders of the loaded classes of a patch.
pub(super) struct LoaderPath<'a> {
    jvm: Jvm<'a>,
    /// A class of each loader.
    classes: Vec<&'a GlobalRef>,
}

impl<'a> LoaderPath<'a> {
    pub(super) fn new(jvm: Jvm<'a>, targets: &'a [Target]) -> Self {
        let mut seen = Vec::new();
        let loaded = targets.iter().filter_map(|target| target.loaded.as_ref());
        let firsts = loaded.filter(|loaded| {
            let is_new = !seen.contains(&loaded.loader);
            seen.push(loaded.loader);
            is_new
        });
        Self {
            jvm,
            classes: firsts.map(|loaded| &loaded.class).collect(),
        }
    }
}

impl ClassPath for LoaderPath<'_> {
    fn class_file(&self, name: &[u8]) -> Option<Vec<u8>> {
        let of_loader = |class: &&GlobalRef| {
            self.jvm.with_frame(CAPACITY, |jvm| {
                let class = jvm.local.of_global(class);
                let loader = jvm.jvmti.class_loader(jvm.local, &class).ok()?;
                live::class_resource(jvm, loader.as_ref(), name).ok()?
            })
        };
        let mut found = self.classes.iter().filter_map(of_loader).flatten();
        found.next().or_else(|| {
            let found = self
                .jvm
                .with_frame(CAPACITY, |jvm| live::class_resource(jvm, None, name));
            found?.ok()?
        })
    }
}
