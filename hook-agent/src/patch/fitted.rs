//! The class files of a request, fitted to the loaded classes.

use crate::agent::loaders::LoaderId;
use crate::agent::patches::{Scope, Stack};
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::GlobalRef;
use crate::patch::new_class::{NewClass, digest};
use crate::patch::schema;
use crate::patch::target::Target;
use class_versions::content;
use class_versions::fitting::{self, Companion, Pair};
use control::patch::BrokenRule;
use jvms::names::binary;
use rewriter::ClassFile;
use std::collections::HashSet;
use std::ffi::CString;

/// Local references for defining one class.
const CAPACITY: i32 = 16;

/// Makes the numbers that the compiler assigned in new class files agree with those of the loaded classes. If several
/// loaders have a class, the first decides.
pub(super) fn fit(new: &mut [NewClass], targets: &[Target], stack: &Stack) {
    let fitted = {
        let pairs: Vec<Pair<'_>> = new
            .iter()
            .map(|class| {
                let named = |target: &&Target| target.name == class.name && target.loaded.is_some();
                let target = targets.iter().find(named);
                Pair {
                    new: &class.bytes,
                    old: target.and_then(|target| target.file_now(stack)),
                }
            })
            .collect();
        fitting::fit(&pairs)
    };
    for (class, fitted) in new.iter_mut().zip(fitted) {
        if class.bytes != fitted.bytes {
            class.digest = digest(&fitted.bytes);
            class.bytes = fitted.bytes;
        }
        class.remarks = fitted.remarks;
        class.confused = fitted.confused;
        class.companion = fitted.companion;
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

/// Defines the additional classes of the new code in every loader whose classes change.
///
/// # Errors
///
/// The broken rule, with the index in `targets` of the class whose loader cannot define one.
pub(super) fn define_companions(
    jvm: Jvm<'_>,
    targets: &[Target],
    new: &[NewClass],
) -> Result<(), (usize, BrokenRule)> {
    let companions: Vec<&Companion> = new.iter().filter_map(|it| it.companion.as_ref()).collect();
    let mut done: HashSet<LoaderId> = HashSet::new();
    for (index, target) in targets.iter().enumerate() {
        let Some(loaded) = target.loaded.as_ref().filter(|_| target.is_in()) else {
            continue;
        };
        if !done.insert(loaded.loader) {
            continue;
        }
        for companion in &companions {
            let defined = jvm.with_frame(CAPACITY, |jvm| define(jvm, &loaded.class, companion));
            if let Some(Err(cause)) = defined {
                let name = binary(&companion.name);
                let text = format!("the class {name} cannot be defined for it: {cause}");
                return Err((index, schema::own_rule(&text)));
            }
        }
    }
    Ok(())
}

/// Defines a class in the loader of another one. Its name contains a checksum of its content, so an existing class of
/// the same name is the same.
fn define(jvm: Jvm<'_>, beside: &GlobalRef, companion: &Companion) -> Result<(), String> {
    let class = jvm.local.of_global(beside);
    let loader = jvm.jvmti.class_loader(jvm.local, &class);
    let loader = loader.map_err(|error| error.to_string())?;
    let name = CString::new(companion.name.as_str()).map_err(|error| error.to_string())?;
    let defined = jvm
        .local
        .define_class(&name, loader.as_ref(), &companion.bytes);
    match defined {
        Ok(()) => Ok(()),
        Err(thrown) => match thrown.message {
            Some(message) if message.contains("duplicate") => Ok(()),
            message => Err(message.unwrap_or_else(|| "the JVM gives no reason".to_owned())),
        },
    }
}
