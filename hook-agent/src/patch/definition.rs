//! The definition of companions and of new classes in the loaders of patched classes.

use crate::agent::loaders::LoaderId;
use crate::ffi::jvm::Jvm;
use crate::ffi::refs::{GlobalRef, Local, LocalRef};
use crate::patch::new_class::NewClass;
use crate::patch::schema;
use crate::patch::target::Target;
use class_versions::fitting::Companion;
use control::patch::BrokenRule;
use jvms::modified_utf8;
use jvms::names::binary;
use rewriter::ClassFile;
use std::collections::HashSet;
use std::ffi::CString;

/// Local references for defining one class.
const CAPACITY: i32 = 16;

/// The class that links the accessors of companions.
const LINKER: &str = "java/lang/$ClasshookCompanions";
const LINKER_FILE: &[u8] =
    include_bytes!("../../companions/classes/java/lang/$ClasshookCompanions.class");

/// A class to define, and the loaders that get it.
struct Definition<'n> {
    name: String,
    bytes: &'n [u8],
    /// Indices of targets, one for each loader.
    beside: Vec<usize>,
}

/// Defines the additional classes of the new code in every loader whose classes change.
///
/// # Errors
///
/// The broken rule, with the index in `targets` of the class whose loader cannot define one.
pub(super) fn define_all(
    jvm: Jvm<'_>,
    targets: &[Target],
    new: &[NewClass],
) -> Result<(), (usize, BrokenRule)> {
    // A class that stays as it is may have a companion for the others.
    let is_refused = |name: &[u8]| {
        let mut named = targets.iter().filter(|it| it.name == name);
        named.all(Target::is_refused)
    };
    let mut wanted: Vec<Definition<'_>> = Vec::new();
    for class in new.iter().filter(|class| !is_refused(&class.name)) {
        let beside = loaders(targets, &class.name);
        let companions = class.companions.iter();
        wanted.extend(companions.map(|companion| Definition {
            name: companion.name.clone(),
            bytes: &companion.bytes,
            beside: beside.clone(),
        }));
    }
    let is_new = |name: &[u8]| {
        targets
            .iter()
            .any(|it| it.name == name && it.is_new && it.is_in())
    };
    let added: Vec<&NewClass> = new.iter().filter(|class| is_new(&class.name)).collect();
    for class in supertypes_first(&added) {
        wanted.push(Definition {
            name: modified_utf8::decode(&class.name).unwrap_or_default(),
            bytes: &class.bytes,
            beside: loaders(targets, &class.name),
        });
    }
    let Some(first) = wanted
        .first()
        .and_then(|wanted| wanted.beside.first().copied())
    else {
        return Ok(());
    };
    let failed = |index: usize, name: &str, cause: &str| {
        let text = format!(
            "the class {} cannot be defined for it: {cause}",
            binary(name)
        );
        (index, schema::own_rule(&text))
    };
    let linker = jvm.with_frame(CAPACITY, |jvm| define(jvm.local, None, LINKER, LINKER_FILE));
    if let Some(Err(cause)) = linker {
        return Err(failed(first, LINKER, &cause));
    }
    for class in &wanted {
        for index in &class.beside {
            let loaded = targets
                .get(*index)
                .and_then(|target| target.loaded.as_ref());
            let Some(loaded) = loaded else { continue };
            let defined = jvm.with_frame(CAPACITY, |jvm| {
                define_beside(jvm, &loaded.class, &class.name, class.bytes)
            });
            if let Some(Err(cause)) = defined {
                return Err(failed(*index, &class.name, &cause));
            }
        }
    }
    Ok(())
}

/// The indices of one loaded class of each loader that gets the additional classes of `name`: the loaders that have the
/// class, else those with changed classes of its package, else all with changed classes.
fn loaders(targets: &[Target], name: &[u8]) -> Vec<usize> {
    let package = |name: &[u8]| {
        let end = name.iter().rposition(|byte| *byte == b'/');
        end.and_then(|end| name.get(..end))
            .unwrap_or_default()
            .to_vec()
    };
    let own = package(name);
    let rules: [&dyn Fn(&Target) -> bool; 3] = [
        &|target| target.name == name,
        &|target| package(&target.name) == own,
        &|_| true,
    ];
    for rule in rules {
        let mut seen: HashSet<LoaderId> = HashSet::new();
        let loaded = (0..).zip(targets).filter(|(_, it)| it.is_in() && rule(it));
        let firsts = loaded.filter_map(|(index, target)| {
            let loader = target.loaded.as_ref()?.loader;
            seen.insert(loader).then_some(index)
        });
        let found: Vec<usize> = firsts.collect();
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Puts a class after its supertypes, because the JVM loads these when it defines the class.
fn supertypes_first<'n>(classes: &[&'n NewClass]) -> Vec<&'n NewClass> {
    let mut ordered: Vec<&NewClass> = Vec::new();
    let mut open: Vec<&NewClass> = classes.to_vec();
    while !open.is_empty() {
        let waits = |class: &&NewClass| {
            let Ok(file) = ClassFile::read(&class.bytes) else {
                return false;
            };
            let mut supertypes = file.super_class().into_iter().chain(file.interfaces());
            supertypes.any(|name| {
                let mut others = open.iter().filter(|other| other.name != class.name);
                others.any(|other| other.name == name.as_bytes())
            })
        };
        let (later, now): (Vec<&NewClass>, Vec<&NewClass>) = open.iter().partition(|it| waits(it));
        // Classes in a circle are left to the JVM.
        let is_stuck = now.is_empty();
        ordered.extend(if is_stuck { later.clone() } else { now });
        open = if is_stuck { Vec::new() } else { later };
    }
    ordered
}

/// Defines the companions of a class that is being loaded.
///
/// # Errors
///
/// The reason of the JVM.
pub(super) fn define_at_load(
    local: Local<'_>,
    loader: Option<&LocalRef<'_>>,
    companions: &[Companion],
) -> Result<(), String> {
    if companions.is_empty() {
        return Ok(());
    }
    define(local, None, LINKER, LINKER_FILE)?;
    companions
        .iter()
        .try_for_each(|companion| define(local, loader, &companion.name, &companion.bytes))
}

fn define_beside(jvm: Jvm<'_>, class: &GlobalRef, name: &str, bytes: &[u8]) -> Result<(), String> {
    let class = jvm.local.of_global(class);
    let loader = jvm.jvmti.class_loader(jvm.local, &class);
    let loader = loader.map_err(|error| error.to_string())?;
    define(jvm.local, loader.as_ref(), name, bytes)
}

/// Defines a class in a loader. Names of companions contain a checksum of the patch, so an existing class of the same
/// name is the same.
fn define(
    local: Local<'_>,
    loader: Option<&LocalRef<'_>>,
    name: &str,
    bytes: &[u8],
) -> Result<(), String> {
    let name = CString::new(modified_utf8::encode(name)).map_err(|error| error.to_string())?;
    match local.define_class(&name, loader, bytes) {
        Ok(()) => Ok(()),
        Err(thrown) => match thrown.message {
            Some(message) if message.contains("duplicate") => Ok(()),
            message => Err(message.unwrap_or_else(|| "the JVM gives no reason".to_owned())),
        },
    }
}
