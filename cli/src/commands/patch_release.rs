//! Two releases of a library, whose differences are a patch.

use std::collections::{HashMap, HashSet};

use class_versions::{content, fitting};
use control::patch::ClassBytes;
use errors::{Error, codes};
use rewriter::ClassFile;

/// Checks whether two places hold versions of the same classes.
pub(super) fn are_versions(old: &[ClassBytes], new: &[ClassBytes]) -> bool {
    let names: HashSet<Vec<u8>> = old.iter().filter_map(name).collect();
    new.iter()
        .filter_map(name)
        .any(|name| names.contains(&name))
}

/// Returns the classes of the new release that behave differently. The added classes that they use come with them, and the
/// classes with the numbers of their switches.
///
/// # Errors
/// If the releases do not differ in a class (`H0727`).
pub(super) fn differences(
    old: &[ClassBytes],
    new: &[ClassBytes],
) -> Result<Vec<ClassBytes>, Error> {
    let known: HashMap<Vec<u8>, &ClassBytes> =
        old.iter().filter_map(|it| Some((name(it)?, it))).collect();
    let mut changed: Vec<ClassBytes> = Vec::new();
    let mut added: Vec<ClassBytes> = Vec::new();
    for class in new {
        match name(class).and_then(|name| known.get(&name)) {
            None => added.push(class.clone()),
            // The agent compares the numbers of the switches in changed classes.
            Some(before) if behaves_same(before, class) && has_switch_map(class) => {
                added.push(class.clone())
            }
            Some(before) if behaves_same(before, class) => {}
            Some(_) => changed.push(class.clone()),
        }
    }
    if changed.is_empty() {
        let problem = Error::mistake(codes::H0727, "the two releases have the same code");
        return Err(problem.with(
            "help",
            "name the release that the JVM runs first, then the new one",
        ));
    }
    loop {
        let used: HashSet<Vec<u8>> = changed.iter().flat_map(used).collect();
        let is_used = |class: &mut ClassBytes| name(class).is_some_and(|name| used.contains(&name));
        let more: Vec<ClassBytes> = added.extract_if(.., is_used).collect();
        if more.is_empty() {
            return Ok(changed);
        }
        changed.extend(more);
    }
}

fn behaves_same(old: &ClassBytes, new: &ClassBytes) -> bool {
    match (ClassFile::read(&old.0), ClassFile::read(&new.0)) {
        (Ok(old), Ok(new)) => content::behaves_same(&old, &new),
        _ => old == new,
    }
}

fn has_switch_map(class: &ClassBytes) -> bool {
    ClassFile::read(&class.0).is_ok_and(|file| fitting::has_switch_map(&file))
}

fn name(class: &ClassBytes) -> Option<Vec<u8>> {
    let file = ClassFile::read(&class.0).ok()?;
    Some(file.this_class().as_bytes().to_vec())
}

/// Returns the names of the classes that a class refers to.
fn used(class: &ClassBytes) -> Vec<Vec<u8>> {
    let Ok(file) = ClassFile::read(&class.0) else {
        return Vec::new();
    };
    let names = file.pool().class_names();
    names.map(|name| name.as_bytes().to_vec()).collect()
}
