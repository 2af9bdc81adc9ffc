//! The class files of a request, fitted to the loaded classes.

use crate::agent::patches::{Scope, Stack};
use crate::ffi::jvm::Jvm;
use crate::patch::class_path::LoaderPath;
use crate::patch::new_class::{NewClass, digest};
use crate::patch::schema;
use crate::patch::target::Target;
use class_versions::content;
use class_versions::fitting::{self, Pair};
use control::patch::BrokenRule;
use host::structural_edits::with_prefixed_natives;
use rewriter::ClassFile;
use std::borrow::Cow;

/// Makes new class files fit the loaded classes: numbers that the compiler assigned agree, and members that the JVM
/// cannot add move to companions. If several loaders have a class, the first decides.
pub(super) fn fit(jvm: Jvm<'_>, new: &mut [NewClass], targets: &[Target], stack: &Stack) {
    prefix_natives(new, targets);
    let fitted = {
        let pairs: Vec<Pair<'_>> = new
            .iter()
            .map(|class| {
                let mut named = targets.iter().filter(|target| target.name == class.name);
                let first = named.clone().next();
                let loaded = named.find(|target| target.loaded.is_some());
                let target = loaded.or(first);
                Pair {
                    new: &class.bytes,
                    old: loaded.and_then(|target| target.file_now(stack)),
                    original: target.and_then(|it| it.file().or(it.findable.as_deref())),
                    is_new: target.is_some_and(|target| target.is_new),
                }
            })
            .collect();
        fitting::fit(&pairs, &LoaderPath::new(jvm, targets))
    };
    for (class, fitted) in new.iter_mut().zip(fitted) {
        if class.bytes != fitted.bytes {
            class.digest = digest(&fitted.bytes);
            class.bytes = fitted.bytes;
        }
        class.remarks = fitted.remarks;
        class.confused = fitted.confused;
        class.companions = fitted.companions;
        class.refused = fitted.refused;
        class.needs = fitted.needs;
    }
}

/// Gives new class files the wrappers of native methods that the loaded classes have. A native method would otherwise
/// differ from its wrapper.
fn prefix_natives(new: &mut [NewClass], targets: &[Target]) {
    for class in new {
        let mut named = targets.iter().filter(|it| it.name == class.name);
        let loaded = named.find(|target| target.loaded.is_some());
        let Some(old) = loaded.and_then(Target::file) else {
            continue;
        };
        if let Cow::Owned(bytes) = with_prefixed_natives(&class.bytes, old) {
            class.bytes = bytes;
        }
    }
}

/// Checks whether a class has the content of the new class file already.
pub(super) fn is_same(now: &[u8], new: &NewClass) -> bool {
    match (ClassFile::read(now), ClassFile::read(&new.bytes)) {
        (Ok(now), Ok(new)) => content::is_same(&now, &new),
        _ => now == new.bytes,
    }
}

/// The parts of the new class file that have no effect in a loaded class.
pub(super) fn without_effect(target: &Target, new: &NewClass, stack: &Stack) -> Vec<BrokenRule> {
    let mut found: Vec<String> = new.confused.clone();
    let is_confused = !found.is_empty();
    // The static initialiser that ran is that of a patch only if the patch was in force when the class was loaded.
    let patched = target.patch_in(stack);
    let patched = patched.filter(|class| matches!(class.scope, Scope::Later(_)));
    let ran = patched.map(|class| class.bytes.as_slice());
    let ran = ran.or_else(|| target.file());
    if let Some(Ok(old)) = ran.map(ClassFile::read)
        && let Ok(new) = ClassFile::read(&new.bytes)
    {
        found.extend(fitting::ineffective(
            &old,
            &new,
            target.is_initialized(),
            is_confused,
        ));
    }
    found.into_iter().map(schema::without_effect).collect()
}
